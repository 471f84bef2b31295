"""Measures of a ranking, and how sure they are.

Owns: recall and hit at k, nDCG@10, reciprocal rank, their means with intervals. Guarantees: each in [0, 1]; an answer
that shows several items at one rank (near-duplicates) counts once there. Gives up: graded relevance; a gold item is
relevant, any other is not.

Sources: Järvelin and Kekäläinen 2002 (nDCG); Efron 1979 (percentile bootstrap).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

DEPTH = 10
RESAMPLES = 2_000
Ranks = Sequence[frozenset[str]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One question's measures at `DEPTH`, and at 1 and 5 where named."""

    recall_1: float
    recall_5: float
    recall_10: float
    hit_1: float
    hit_5: float
    hit_10: float
    ndcg_10: float
    reciprocal_rank: float


MEASURES = tuple(Measured.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over questions with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def measure(ranks: Ranks, gold: frozenset[str]) -> Measured:
    """One ranking against its gold items (at least one). `ranks`: what is shown at each rank, best first."""
    found: set[str] = set()
    gains: list[int] = []
    for shown in ranks[:DEPTH]:
        new = (shown & gold) - found
        found |= new
        gains.append(1 if new else 0)
    ideal = sum(1 / log2(rank + 2) for rank in range(min(len(gold), DEPTH)))
    gained = sum(gain / log2(rank + 2) for rank, gain in enumerate(gains))
    first = next((rank for rank, gain in enumerate(gains) if gain), None)
    recall_1, recall_5, recall_10 = (_share(ranks[:k], gold) for k in (1, 5, DEPTH))
    hit_1, hit_5, hit_10 = (float(any(gains[:k])) for k in (1, 5, DEPTH))
    return Measured(
        recall_1=recall_1,
        recall_5=recall_5,
        recall_10=recall_10,
        hit_1=hit_1,
        hit_5=hit_5,
        hit_10=hit_10,
        ndcg_10=gained / ideal,
        reciprocal_rank=0.0 if first is None else 1 / (first + 1),
    )


def mean(values: Sequence[float], *, seed: int) -> Mean:
    """The mean of at least one value; the interval is a percentile bootstrap over questions."""
    given = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(given), size=(RESAMPLES, len(given)))
    low, high = np.percentile(given[drawn].mean(axis=1), [2.5, 97.5])
    return Mean(float(given.mean()), float(low), float(high))


def _share(ranks: Ranks, gold: frozenset[str]) -> float:
    return len(gold & frozenset().union(*ranks)) / len(gold)
