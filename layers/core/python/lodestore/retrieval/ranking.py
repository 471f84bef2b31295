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
class Signals:
    """One value for each row that counts, whether or not it may be shown.

    fused          of the row's own words and vectors
    importance     in [0, 1], as stored
    age_days       against the newest row, so that no clock is asked
    half_life      in days; infinite where age means nothing
    pinned         0 or 1
    quoted         the share of the query's phrases in quotes of which it has every word
    whole          whether it has all identifiers that the query names
    covered        the share of the query's words that it has
    unknown        the share of the query's words that no row has
    use            None: nothing is known of use
    """

    fused: Fused
    conversation: ConversationFeatures
    importance: Floats
    age_days: Floats
    half_life: Floats
    pinned: Floats
    quoted: Floats
    whole: Mask
    covered: Floats
    unknown: float
    use: Use | None = None

    def recency(self) -> Floats:
        """0.5 ** (age / half-life): 1 for the newest, and for what does not age."""
        recency: Floats = np.exp2(-np.maximum(self.age_days, 0) / self.half_life)
        return recency

    def features(self) -> Mapping[str, Floats]:
        """What the sum is made of, each in [0, 1], by the names of the weights."""
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
    parts      what each feature adds to or takes off the sum
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
    parts = {name: _signed(name, weights) * values for name, values in signals.features().items()}
    parts["quoted"] = QUOTED_WEIGHT * signals.quoted
    matching = signals.fused.relevance > 0
    if admitted is not None:
        matching &= admitted
    total = sum(parts.values(), np.zeros(len(matching)))
    total = np.where(matching, np.clip(total, LEAST_SUM, None), 0.0)
    total *= np.where(signals.conversation.assistant, weights.assistant, 1.0)
    if not matching.any():
        return Scored(total, matching, 0.0, parts)
    evidence = _evidence(signals, total)
    found = calibration.first.at(evidence) * (total / total.max()) ** FALL * _standing(signals)
    return Scored(np.minimum(found, 1.0), matching, calibration.known.at(evidence), parts, evidence)


def _standing(signals: Signals) -> Floats:
    """About 1: more than 1 for what is important, pinned or in use, less for what is old or was found useless."""
    standing: Floats = (
        1
        + IMPORTANCE_WEIGHT * (signals.importance - 0.5)
        - RECENCY_WEIGHT * (1 - signals.recency())
        + PINNED_WEIGHT * signals.pinned
    )
    return standing if signals.use is None else standing * _in_use(signals.use)


def _evidence(signals: Signals, total: Floats) -> Evidence:
    """The best of each kind, wherever it is: were it that of the first, a better row could lower the score."""
    first, second = np.sort(np.append(np.partition(total, -min(2, len(total)))[-2:], 0.0))[:-3:-1].tolist()
    shown = total > 0
    return Evidence(
        keyword=float(signals.fused.keyword[shown].max()),
        vector=float(signals.fused.vector[shown].max()),
        lead=lead(first, second),
        reach=float(signals.covered.max()),
        unknown=signals.unknown,
    )


def _in_use(use: Use) -> Floats:
    factor: Floats = 1.0 + USE_WEIGHT * use.use + FEEDBACK_WEIGHT * use.feedback
    return factor


def _signed(name: str, weights: Weights) -> float:
    weight = float(getattr(weights, name))
    return -weight if name in PENALTIES else weight
