"""Ranking: from relevance and what is known of a memory to one score.

Owns: the weights and the formula. Guarantees: a score in [0, 1], monotone in relevance; each part can be shown; age
and importance only break near-ties, since neither was found to help more (notes on LoCoMo and REALTALK).
Gives up: calibration. The score is a share of the best possible match, not yet a probability ("Ranking" brings it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RELEVANCE_WEIGHT = 0.90
IMPORTANCE_WEIGHT = 0.05
RECENCY_WEIGHT = 0.05
# A text of usual length that holds every word of the query once reaches 0.53 of the best possible.
HIGH_FROM = 0.5
MEDIUM_FROM = 0.25


@dataclass(frozen=True, slots=True)
class Signals:
    """One row for each candidate.

    relevance      in [0, 1]: BM25 as a share of what a document with every query term would get
    importance     in [0, 1], as stored
    age_days       against the newest candidate, so that no clock is asked
    half_life      in days; infinite where age means nothing
    """

    relevance: Floats
    importance: Floats
    age_days: Floats
    half_life: Floats

    def recency(self) -> Floats:
        """0.5 ** (age / half-life): 1 for the newest, and for what does not age."""
        recency: Floats = np.exp2(-np.maximum(self.age_days, 0) / self.half_life)
        return recency


def score(signals: Signals) -> Floats:
    """relevance × (0.90 + 0.05 importance + 0.05 recency): 0 where nothing matches, at most 1."""
    weight = RELEVANCE_WEIGHT + IMPORTANCE_WEIGHT * signals.importance + RECENCY_WEIGHT * signals.recency()
    return np.clip(signals.relevance * weight, 0.0, 1.0)


def confidence(score_: float) -> str:
    """HIGH, MEDIUM or LOW."""
    if score_ >= HIGH_FROM:
        return "HIGH"
    return "MEDIUM" if score_ >= MEDIUM_FROM else "LOW"
