"""The weights of ranking, and how they were learned.

Owns: the numbers. Guarantees: of one version; whoever changes a number raises it. Gives up: choosing them; `make
learn-ranking` does, and prints them.

Version 1: learned on LoCoMo's 1,536 answerable questions over ten conversations, MiniLM vectors, by coordinate search
for the mean of recall@10 and nDCG@10; with one conversation left out each time R@10 80.6, hit@10 86.9, nDCG 65.0, MRR
62.7 (docs/quality.md). `assistant` is not learned: LoCoMo has none; 0.6 is from the notes on BEAM.
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
    keywords=1.0,
    vectors=0.8,
    window=1.6,
    neighbours=1.0,
    session=0.5,
    named=1.3,
    dated=2.0,
    short=1.0,
    question=0.6,
    assistant=0.6,
)
