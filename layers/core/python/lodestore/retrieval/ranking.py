"""Ranking: from what is known of a memory to one score.

Owns: the formula. Guarantees: scores in [0, 1], monotone in relevance; each part can be shown; a score is the
probability that the memory answers, as `calibration` learned it, so that it can be compared with a floor; age,
importance, use and feedback only break near-ties, since none was found to help more (notes on LoCoMo and REALTALK).
Gives up: knowing that nothing answers, where the words of another subject are stored; `known` says how likely that is.

    sum      = keywords + vectors + window + neighbours + session + named + dated + intended + quoted - short
               - question, each by its weight, times the assistant factor where an assistant said it
    score    = first × (sum / greatest sum) ** FALL × standing
    standing = (1 + 0.03 (importance - 0.5) - 0.03 (1 - recency) + 0.01 pinned) × (1 + 0.02 use + 0.03 feedback)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.calibration import FALL, KEYWORDS_ALONE, Calibration, Evidence, lead
from lodestore.retrieval.conversation import ConversationFeatures
from lodestore.retrieval.fusion import Fused
from lodestore.retrieval.ranking_weights import WEIGHTS, Weights
from lodestore.retrieval.use import Use

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# What is neither relevance nor context moves a score by at most so much, whatever is known of it.
IMPORTANCE_WEIGHT = 0.03
RECENCY_WEIGHT = 0.03
PINNED_WEIGHT = 0.01
USE_WEIGHT = 0.02
FEEDBACK_WEIGHT = 0.03
# More than all else together: whoever quotes wants those words. Not learned, no set has quotes.
QUOTED_WEIGHT = 10.0
PENALTIES = ("short", "question")
# A match stays a match, however much is taken off.
LEAST_SUM = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What no query changes: one value for each row that counts.

    importance   in [0, 1], as stored
    recency      0.5 ** (age / half-life): 1 for the newest, and for what does not age
    use          None: nothing is known of use
    factor       about 1: more for what is important, pinned or in use, less for what is old or was found useless
    """

    importance: Floats
    recency: Floats
    use: Use | None
    factor: Floats


def standing(
    importance: Floats, age_days: Floats, half_life: Floats, pinned: Floats, use: Use | None = None
) -> Standing:
    """The standing of rows.

    age_days    against the newest row, so that no clock is asked
    half_life   in days; infinite where age means nothing
    pinned      0 or 1
    """
    recency: Floats = np.exp2(-np.maximum(age_days, 0) / half_life)
    factor = 1 + IMPORTANCE_WEIGHT * (importance - 0.5) - RECENCY_WEIGHT * (1 - recency)
    factor += PINNED_WEIGHT * pinned
    if use is not None:
        factor *= 1.0 + USE_WEIGHT * use.use + FEEDBACK_WEIGHT * use.feedback
    return Standing(importance, recency, use, factor)


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """One value for each row that counts, whether or not it may be shown.

    fused          of the row's own words and vectors
    quoted         the share of the query's phrases in quotes of which it has every word; None: 0 for all
    whole          whether it has all identifiers and rare words of the query; None: all have
    reach          the best share of the query's words that a row has
    unknown        the share of the query's words that no row has
    """

    fused: Fused
    conversation: ConversationFeatures
    standing: Standing
    reach: float
    unknown: float
    quoted: Floats | None = None
    whole: Mask | None = None

    def is_whole(self, row: int) -> bool:
        """Whether the row has what `whole` says, and no word of the query is one that nobody stored."""
        return self.unknown == 0 and (self.whole is None or bool(self.whole[row]))

    def features(self) -> Mapping[str, Floats]:
        """What the sum is made of, each in [0, 1], by the names of the weights."""
        nothing = np.zeros(len(self.fused.relevance))
        return {name: nothing if values is None else values for name, values in self.known_features().items()}

    def known_features(self) -> Mapping[str, Floats | None]:
        """As `features`, None where a feature is 0 for all rows."""
        given = self.conversation
        return {
            "keywords": self.fused.keyword,
            "vectors": self.fused.vector,
            "window": given.window,
            "neighbours": given.neighbours,
            "session": given.session,
            "named": given.named,
            "dated": given.dated,
            "intended": given.intended,
            "short": given.short,
            "question": given.question,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """`score` orders the rows, in [0, 1]; 0 without a match.

    matching   whether each row answers by its own words or vector at all
    known      in [0, 1]: that anything here is about what is asked
    parts      what each feature adds to or takes off the sum; those that do neither anywhere are not there
    evidence   what the probabilities were made of; None where nothing matches
    """

    score: Floats
    matching: Mask
    known: float
    parts: Mapping[str, Floats]
    evidence: Evidence | None = None


def score(
    signals: Signals,
    calibration: Calibration = KEYWORDS_ALONE,
    weights: Weights = WEIGHTS,
    *,
    admitted: Mask | None = None,
) -> Scored:
    """The scores of all rows. A row whose own words do not match at all scores 0, whatever stands around it.

    admitted   rows that may be shown, None: all; others score 0 and rival nobody, but are there to be known of
    """
    parts = {
        name: _signed(name, weights) * values
        for name, values in signals.known_features().items()
        if values is not None
    }
    if signals.quoted is not None:
        parts["quoted"] = QUOTED_WEIGHT * signals.quoted
    matching = signals.fused.relevance > 0
    if admitted is not None:
        matching &= admitted
    total = np.zeros(len(matching))
    for values in parts.values():
        total += values
    np.maximum(total, LEAST_SUM, out=total)
    total *= matching
    if signals.conversation.assistant is not None:
        total *= np.where(signals.conversation.assistant, weights.assistant, 1.0)
    if not matching.any():
        return Scored(total, matching, 0.0, parts)
    evidence = _evidence(signals, total, matching)
    total /= total.max()
    found = _to_the_fall(total)
    found *= calibration.first.at(evidence)
    found *= signals.standing.factor
    np.minimum(found, 1.0, out=found)
    return Scored(found, matching, calibration.known.at(evidence), parts, evidence)


def _to_the_fall(shares: Floats) -> Floats:
    """Each to the power of FALL, by squaring: several times faster than `**`."""
    power, square, left = np.ones(len(shares)), shares, FALL
    while left:
        if left % 2:
            power *= square
        left //= 2
        if left:
            square = square * square
    return power


def _evidence(signals: Signals, total: Floats, matching: Mask) -> Evidence:
    """The best of each kind, wherever it is: were it that of the first, a better row could lower the score."""
    at = int(total.argmax())
    second = max(total[:at].max(initial=0.0), total[at + 1 :].max(initial=0.0))
    return Evidence(
        keyword=float((signals.fused.keyword * matching).max()),
        vector=float((signals.fused.vector * matching).max()),
        lead=lead(float(total[at]), float(second)),
        reach=signals.reach,
        unknown=signals.unknown,
    )


def _signed(name: str, weights: Weights) -> float:
    weight = float(getattr(weights, name))
    return -weight if name in PENALTIES else weight
