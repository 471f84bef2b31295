"""Cosines of the rows that a vector engine found, completed from the segments' own vectors.

Owns: which rows get a cosine where not all are scored. Guarantees: a part that the engine does not hold is scored
whole; of one that it holds, the rows it found have its cosines, and the rows that are asked for besides have their own.
Gives up: the cosine of every other row; it is below those found, and counts as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_search import Cosines, Mask, Part, vector_scores
from lodestore.retrieval.sessions import Sessions
from lodestore.retrieval.vectors import cosines, products, quantise, scaled


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """What the engine found: for each part one value a row, NaN where it found nothing; None: not a part of its."""

    parts: tuple[Cosines | None, ...]


def all_cosines(query: NDArray[np.float32], model: str, parts: Sequence[Part]) -> Cosines:
    """The cosine of each row, counted or not, part after part, NaN where it has no vector of the model."""
    if not all(_is_alike(part.segment, model, len(query)) for part in parts):
        return _joined(
            _none(part.segment) if one is None else one
            for part, one in zip(parts, vector_scores(query, model, parts), strict=True)
        )
    # The same at once, since most segments are small.
    asked, nothing = quantise(query[None, :]).values[0], np.zeros(0, np.float32)
    norms = np.concatenate([nothing, *(part.segment.norms for part in parts)])
    found = np.concatenate([nothing, *(products(asked, part.segment["vector"]) for part in parts)])
    return scaled(asked, found, norms)


def near_cosines(
    query: NDArray[np.float32], model: str, parts: Sequence[Part], near: Near, besides: Mask
) -> Cosines:
    """As `all_cosines`, of what is near and of the rows `besides` alone. `besides` has a value for every row."""
    found: list[Cosines] = []
    start = 0
    for part, cosines_found in zip(parts, near.parts, strict=True):
        asked = besides[start : start + len(part.segment)]
        start += len(part.segment)
        if cosines_found is None:
            found.append(all_cosines(query, model, [part]))
        else:
            found.append(_completed(query, model, part, cosines_found, asked))
    return _joined(found)


def found_rows(parts: Sequence[Part], near: Near) -> Mask:
    """The rows that the engine found, of all parts, one part after the other."""
    masks = (
        np.zeros(len(part.segment), np.bool_) if found is None else ~np.isnan(found)
        for part, found in zip(parts, near.parts, strict=True)
    )
    return np.concatenate([np.zeros(0, np.bool_), *masks])


def with_neighbours(mask: Mask, sessions: Sessions) -> Mask:
    """These rows, and those that were said right before and behind them."""
    chosen, linked = mask[sessions.positions], sessions.linked(1)
    wider = chosen.copy()
    wider[1:] |= linked & chosen[:-1]
    wider[:-1] |= linked & chosen[1:]
    every = mask.copy()
    every[sessions.positions] |= wider
    return every


def _completed(query: NDArray[np.float32], model: str, part: Part, found: Cosines, asked: Mask) -> Cosines:
    wanted = asked & part.counted & np.isnan(found)
    if part.segment.model != model or not wanted.any():
        return np.where(part.counted, found, np.float32(np.nan))
    at = part.segment["vector_row"]
    chosen = np.flatnonzero(wanted[at])
    if not len(chosen) or part.segment["vector"].shape[1] != len(query):
        return np.where(part.counted, found, np.float32(np.nan))
    best = np.where(part.counted, found, np.float32(np.nan))
    values = cosines(
        quantise(query[None, :]).values[0], part.segment["vector"][chosen], part.segment.norms[chosen]
    )
    np.fmax.at(best, at[chosen], values)
    return best


def _is_alike(segment: Segment, model: str, dim: int) -> bool:
    """Whether each of its rows has one vector like the query's."""
    return segment.model == model and segment.is_plain and segment["vector"].shape[1] == dim


def _none(segment: Segment) -> Cosines:
    return np.full(len(segment), np.nan, np.float32)


def _joined(found: Iterable[Cosines]) -> Cosines:
    return np.concatenate([np.zeros(0, np.float32), *found])
