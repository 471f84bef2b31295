"""The weights of ranking, and how they were learned.

Owns: the numbers. Guarantees: of one version; whoever changes a number raises it. Gives up: choosing them; `make
learn-ranking` does, and prints these lines.
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
    short: float
    question: float
    assistant: float


VERSION: Final = 1
WEIGHTS: Final = Weights(
    keywords=0.6,
    vectors=0.4,
    window=0.3,
    neighbours=0.1,
    session=0.1,
    named=0.3,
    dated=0.6,
    short=0.3,
    question=0.05,
    assistant=0.6,
)
