"""Calibration: from evidence to probabilities.

Owns: the two logistic curves, the numbers of each embedding model, and the labels. Guarantees: every value in [0, 1];
monotone in the evidence; a model that is not listed has the numbers of the listed one that they were learned with, but
trusts its vectors in every language. Gives up: certainty; a lexical score and a sentence vector cannot see that the one
thing asked for is missing from a memory about the same subject (docs/quality.md has the curve).

    known    sigmoid(a0 + a · (reach, vector, unknown)): that anything stored is about what is asked
    first    sigmoid(b0 + b · (keyword, vector, lead)): that the hit that ranks first answers
    score    first × (sum / greatest sum) ** FALL: that any hit answers

    keyword   the best BM25 of a hit, as a share of the ideal; vector: the best of its vectors, between the anchors
    reach     the best share of the query's words in one memory
    unknown   the share of the query's words that no memory has, less where there are few
    lead      how far the first is ahead of the second, as a share of the first, at most MOST_LEAD
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Final

from lodestore.retrieval.fusion import Anchors

# Above every curve's factor for `lead`, or a better second could lower its own score with the first's.
FALL: Final = 10
MOST_LEAD: Final = 0.4
# What is stored alone leads nobody.
NO_RIVAL: Final = 0.15
# From here on no question of the tune half that nothing answers was answered, and every answer was right.
HIGH_FROM: Final = 0.9
MEDIUM_FROM: Final = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the answer as a whole, each in [0, 1]; see the module. The best of each kind, wherever it is."""

    keyword: float
    vector: float
    lead: float
    reach: float
    unknown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A logistic curve: `base` and a factor for each kind of evidence, by its name."""

    base: float
    of: Mapping[str, float]

    def at(self, evidence: Evidence) -> float:
        """In (0, 1)."""
        sum_ = self.base + sum(factor * getattr(evidence, name) for name, factor in self.of.items())
        return 1 / (1 + exp(-sum_))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of one embedding model."""

    anchors: Anchors
    known: Curve
    first: Curve


_MINILM: Final = Calibration(
    Anchors(unrelated=0.0, same=0.85, languages=frozenset({"english"}), abroad=0.4),
    known=Curve(base=0.83, of={"reach": 2.59, "vector": 6.9, "unknown": -4.4}),
    first=Curve(base=-3.8, of={"keyword": 2.01, "vector": 3.11, "lead": 9.53}),
)
KEYWORDS_ALONE: Final = Calibration(
    Anchors(unrelated=0.0, same=1.0),
    known=Curve(base=3.99, of={"reach": 1.19, "unknown": -3.9}),
    first=Curve(base=-2.36, of={"keyword": 5.01, "lead": 5.77}),
)
# The cosines of e5 lie close together. Fitted on the tune half of our own set alone.
_E5: Final = Calibration(
    Anchors(unrelated=0.78, same=0.92),
    known=Curve(base=2.11, of={"reach": 1.95, "vector": 6.52, "unknown": -4.84}),
    first=Curve(base=-3.2, of={"keyword": 3.78, "vector": 3.27, "lead": 5.19}),
)
_CALIBRATIONS: Final[Mapping[str, Calibration]] = {"all-MiniLM-L6-v2": _MINILM, "multilingual-e5": _E5}
_OTHER: Final = Calibration(Anchors(unrelated=0.0, same=0.85), _MINILM.known, _MINILM.first)


def calibration_of(model: str) -> Calibration:
    """Of the model whose name has one of the listed names in it."""
    return next((found for name, found in _CALIBRATIONS.items() if name in model), _OTHER)


def lead(first: float, second: float) -> float:
    """How far the greatest sum is ahead of the next; 0 for the next: there is none."""
    return min((first - second) / first, MOST_LEAD) if first > 0 and second > 0 else NO_RIVAL


def confidence(score: float, *, whole: bool) -> str:
    """HIGH, MEDIUM or LOW. `whole`: the memory has every identifier and rare word asked for, and knows all words."""
    if score >= HIGH_FROM and whole:
        return "HIGH"
    return "MEDIUM" if score >= MEDIUM_FROM else "LOW"
