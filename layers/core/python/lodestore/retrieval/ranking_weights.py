"""The weights of ranking, and how they were learned.

Owns: the numbers. Guarantees: of one version; whoever changes a number raises it. Gives up: choosing them; `make
learn-ranking` does, and prints them.

Version 2: learned on LoCoMo's 1,536 answerable questions over ten conversations and on the tune half of our own set of
short facts together, MiniLM vectors, by maximum likelihood (docs/quality.md has what they reach where they were not
learned). `assistant` is not learned: neither set has one; 0.6 is from the notes on BEAM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Each at least 0; `short` and `question` are taken off, `assistant` is a factor in [0, 1]."""

    keywords: float
    vectors: float
    window: float
    neighbours: float
    session: float
    named: float
    dated: float
    intended: float
    short: float
    question: float
    assistant: float


VERSION: Final = 2
WEIGHTS: Final = Weights(
    keywords=1.0,
    vectors=1.38,
    window=1.54,
    neighbours=0.48,
    session=1.22,
    named=0.84,
    dated=1.48,
    intended=0.97,
    short=1.27,
    question=0.38,
    assistant=0.6,
)
