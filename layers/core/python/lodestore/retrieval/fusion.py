"""Fusion: one relevance from keywords and vectors.

Owns: the weighted sum. Guarantees: relevance in [0, 1]; the order is that of half BM25 by its best and half cosine by
its range (measured best without tuning, notes on retrieval, section 0.1); the best hit's value says how good the best
match is in itself, so that it can be compared with a floor. Monotone in either leg.
Gives up: knowing one model's cosines from another's; `Anchors` hold what is known of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KEYWORD_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Anchors:
    """Cosines of a model: at or below `unrelated` two texts have nothing in common, at `same` they say the same."""

    unrelated: float
    same: float


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """One value a row: `relevance`, and the evidence of each leg by itself in [0, 1]."""

    relevance: Floats
    keyword: Floats
    vector: Floats


def fuse(keyword: Floats, cosine: Floats | None, anchors: Anchors) -> Fused:
    """Relevance of rows.

    keyword   BM25 as a share of the ideal, in [0, 1]
    cosine    in [-1, 1], NaN where a row has no vector; None: keywords alone
    """
    if cosine is None or not len(keyword) or bool(np.all(np.isnan(cosine))):
        return Fused(keyword, keyword, np.zeros_like(keyword))
    vector = np.clip(
        (np.nan_to_num(cosine, nan=-1.0) - anchors.unrelated) / (anchors.same - anchors.unrelated), 0, 1
    )
    best = float(np.max(1 - (1 - keyword) * (1 - vector)))
    relative = KEYWORD_WEIGHT * _by_best(keyword) + (1 - KEYWORD_WEIGHT) * _by_best(vector)
    return Fused(best * relative, keyword, vector)


def _by_best(values: Floats) -> Floats:
    best = float(values.max(initial=0))
    return values / best if best > 0 else values
