"""Fusion: one relevance from keywords and vectors.

Owns: the weighted sum. Guarantees: relevance in [0, 1]; the order is that of half BM25 by its best and half cosine by
its range (measured best without tuning, notes on retrieval, section 0.1); the best hit's value says how good the best
match is in itself, so that it can be compared with a floor; a leg that found nothing has no say. Monotone in each leg.
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
    vector = np.zeros_like(keyword) if cosine is None else _evidence(cosine, anchors)
    best = float(np.max(1 - (1 - keyword) * (1 - vector), initial=0))
    # A leg that found nothing at all has no say in the order.
    legs = [leg / leg.max() for leg in (keyword, vector) if leg.max(initial=0) > 0]
    if not legs:
        return Fused(np.zeros_like(keyword), keyword, vector)
    order = legs[0] if len(legs) == 1 else KEYWORD_WEIGHT * legs[0] + (1 - KEYWORD_WEIGHT) * legs[1]
    return Fused(best * order / order.max(), keyword, vector)


def _evidence(cosine: Floats, anchors: Anchors) -> Floats:
    known = np.nan_to_num(cosine, nan=-1.0)
    return np.clip((known - anchors.unrelated) / (anchors.same - anchors.unrelated), 0, 1)
