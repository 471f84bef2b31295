"""Fusion: the evidence of keywords and of vectors, each by itself, and one relevance from both.

Owns: what a cosine of a model is worth, and the weighted sum. Guarantees: every value in [0, 1] and absolute, so that a
faint match stays faint where nothing better is found; monotone in each leg; a vector of a query in a language that the
model was not made for counts for less. Gives up: knowing one model's cosines from another's; `Anchors` hold what is
known of each.

    relevance = 0.65 keyword + 0.35 vector
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KEYWORD_WEIGHT = 0.65


@dataclass(frozen=True, slots=True)
class Anchors:
    """Cosines of a model: at or below `unrelated` two texts have nothing in common, at `same` they say the same.

    languages   that it was made for, by the names of `languages`; None: all
    abroad      in [0, 1], what its evidence is worth for a query in another
    """

    unrelated: float
    same: float
    languages: frozenset[str] | None = None
    abroad: float = 1.0

    def trust(self, language: str | None) -> float:
        """What the model's evidence is worth for a query in this language; None: not known, taken as its own."""
        own = language is None or self.languages is None or language in self.languages
        return 1.0 if own else self.abroad


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """One value a row: `relevance`, and the evidence of each leg by itself in [0, 1]."""

    relevance: Floats
    keyword: Floats
    vector: Floats


def fuse(keyword: Floats, cosine: Floats | None, anchors: Anchors, language: str | None = None) -> Fused:
    """Relevance of rows.

    keyword    BM25 as a share of the ideal, in [0, 1]
    cosine     in [-1, 1], NaN where a row has no vector; None: keywords alone
    language   of the query
    """
    evidence = np.zeros_like(keyword) if cosine is None else _evidence(cosine, anchors)
    vector = anchors.trust(language) * evidence
    return Fused(KEYWORD_WEIGHT * keyword + (1 - KEYWORD_WEIGHT) * vector, keyword, vector)


def _evidence(cosine: Floats, anchors: Anchors) -> Floats:
    # Of NaN and -1 the greater is -1.
    known = np.fmax(cosine, -1.0)
    known -= anchors.unrelated
    known /= anchors.same - anchors.unrelated
    return np.clip(known, 0.0, 1.0, out=known)
