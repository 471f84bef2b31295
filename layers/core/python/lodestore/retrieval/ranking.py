"""Ranking: from what is known of a memory to one score.

Owns: the formula. Guarantees: a score in [0, 1], monotone in relevance; each part can be shown; the best hit's score is
how well the best match answers in itself, so that it can be compared with a floor; age and importance only break
near-ties, since neither was found to help more (notes on LoCoMo and REALTALK). Use and feedback move a score by 2 % up
and 3 % either way at most, and no floor or confidence at all: what nobody asked for in years is found as ever.
Gives up: calibration. The score is a share of the best possible match, not yet a probability.

    sum      = keywords + vectors + window + neighbours + session + named + dated - short - question, each by its weight
    standing = (0.90 + 0.05 importance + 0.05 recency) × the assistant factor, where an assistant said it,
               × (1 + 0.02 use + 0.03 feedback)
    score    = greatest own score × (sum × standing) / (greatest sum × standing)
    own      = relevance × (0.90 + 0.05 importance + 0.05 recency): what the memory's words alone say
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.conversation import ConversationFeatures
from lodestore.retrieval.fusion import Fused
from lodestore.retrieval.ranking_weights import WEIGHTS, Weights
from lodestore.retrieval.use import Use

Floats = NDArray[np.float64]

RELEVANCE_WEIGHT = 0.90
IMPORTANCE_WEIGHT = 0.05
RECENCY_WEIGHT = 0.05
# A text of usual length that holds every word of the query once reaches 0.53 of the best possible.
HIGH_FROM = 0.5
MEDIUM_FROM = 0.25
USE_WEIGHT = 0.02
FEEDBACK_WEIGHT = 0.03
PENALTIES = ("short", "question")


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """One value for each row that counts, whether or not it may be shown.

    fused          of the row's own words and vectors
    importance     in [0, 1], as stored
    age_days       against the newest row, so that no clock is asked
    half_life      in days; infinite where age means nothing
    use            None: nothing is known of use
    """

    fused: Fused
    conversation: ConversationFeatures
    importance: Floats
    age_days: Floats
    half_life: Floats
    use: Use | None = None

    def recency(self) -> Floats:
        """0.5 ** (age / half-life): 1 for the newest, and for what does not age."""
        recency: Floats = np.exp2(-np.maximum(self.age_days, 0) / self.half_life)
        return recency

    def features(self) -> Mapping[str, Floats]:
        """What the sum is made of, each in [0, 1], by the names of the weights."""
        given = self.conversation
        return {
            "keywords": _by_best(self.fused.keyword),
            "vectors": _by_best(self.fused.vector),
            "window": given.window,
            "neighbours": given.neighbours,
            "session": given.session,
            "named": given.named,
            "dated": given.dated,
            "short": given.short,
            "question": given.question,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """`score` orders the rows, `own` says how well each answers by its own words; both in [0, 1], 0 without a match.

    parts    what each feature adds to or takes off the sum
    """

    score: Floats
    own: Floats
    parts: Mapping[str, Floats]


def score(signals: Signals, weights: Weights = WEIGHTS) -> Scored:
    """The scores of all rows. A row whose own words do not match at all scores 0, whatever stands around it."""
    parts = {name: _signed(name, weights) * values for name, values in signals.features().items()}
    near_ties = RELEVANCE_WEIGHT + IMPORTANCE_WEIGHT * signals.importance + RECENCY_WEIGHT * signals.recency()
    own = np.clip(signals.fused.relevance * near_ties, 0.0, 1.0)
    in_use = 1.0 if signals.use is None else _in_use(signals.use)
    standing = near_ties * in_use * np.where(signals.conversation.assistant, weights.assistant, 1.0)
    total = np.clip(sum(parts.values(), np.zeros_like(own)), 0.0, None) * standing
    total = np.where(own > 0, total, 0.0)
    return Scored(own.max(initial=0) * _by_best(total), own, parts)


def confidence(own: float) -> str:
    """HIGH, MEDIUM or LOW, by how well the memory answers in itself."""
    if own >= HIGH_FROM:
        return "HIGH"
    return "MEDIUM" if own >= MEDIUM_FROM else "LOW"


def _in_use(use: Use) -> Floats:
    factor: Floats = 1.0 + USE_WEIGHT * use.use + FEEDBACK_WEIGHT * use.feedback
    return factor


def _signed(name: str, weights: Weights) -> float:
    weight = float(getattr(weights, name))
    return -weight if name in PENALTIES else weight


def _by_best(values: Floats) -> Floats:
    return values / (values.max(initial=0) or 1.0)
