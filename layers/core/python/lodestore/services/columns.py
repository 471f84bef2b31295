"""Masks and orders over a view's columns: who sees what, what holds, what a filter admits.

Owns: the reading of columns as rules. Guarantees: the same answers as `visible_to`, `Lineage` and `Filters.admits`
give for the records themselves (tested against them), for any number of rows without reading one.
Gives up: exactness beyond 64-bit hashes of names; whatever is shown is checked again on the memory itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.moments import milliseconds
from lodestore.retrieval.hashing import hash64, hashes64
from lodestore.retrieval.segment import NO_TIME, TYPES, Array, Segment
from lodestore.retrieval.segment_search import Mask
from lodestore.services.founded import row_of_values
from lodestore.services.index_view import rows_of
from lodestore.services.tenant_view import TenantView, ViewPart

Masks = tuple[Mask, ...]
_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a view: which part, which row."""

    part: int
    row: int


def visible(view: TenantView, caller: Caller) -> Masks:
    """Rows of memories that the caller may see, expired and superseded ones included."""
    own = 0 if caller.conversation is None else hash64(caller.conversation)
    return tuple(_visible(part, np.uint64(own)) for part in view.parts)


def memories(view: TenantView) -> Masks:
    """Rows that stand for a memory, whoever may see it."""
    return tuple(part.counts & (part.segment["stub"] == 0) for part in view.parts)


def expired(view: TenantView, at: datetime) -> Masks:
    """Rows whose own expiry has passed at that time."""
    moment = milliseconds(at)
    return tuple(part.segment["expires"] <= moment for part in view.parts)


def superseded(view: TenantView, at: datetime | None = None) -> Masks:
    """Rows that another row, or they themselves, name as superseded; with `at` only by what held then.

    What supersedes a member of a merged memory supersedes the merged one too: both say the same.
    """
    named = _named_as_superseded(view.parts, at)
    masks = tuple(_superseded(part.segment, named, noted=at is None) for part in view.parts)
    if not any(len(part.segment["members"]) for part in view.parts):
        return masks
    others = _superseded_by_others(view.parts, at)
    return tuple(
        mask | _having_any(part.segment, "members", others)
        for part, mask in zip(view.parts, masks, strict=True)
    )


def merged_away(view: TenantView) -> Masks:
    """Rows of memories that a merged memory, which holds, is made of."""
    members = [
        part.segment["members"][part.counts[row_of_values(part.segment, "members")]] for part in view.parts
    ]
    wanted = np.unique(np.concatenate([np.zeros(0, np.uint64), *members]))
    return tuple(np.isin(part.segment["id_hash"], wanted) for part in view.parts)


def admitted(view: TenantView, filters: Filters) -> Masks:
    """Rows that pass the filters."""
    return tuple(_admitted(part.segment, filters) for part in view.parts)


def without_vectors(view: TenantView, model: str) -> Masks:
    """Rows of memories that have no vectors of the model."""
    return tuple(_without_vectors(part, model) for part in view.parts)


def held_from(view: TenantView, at: datetime) -> Masks:
    """Rows that were true by that time: `valid_from`, else `created_at`."""
    moment = milliseconds(at)
    return tuple(holds_from(part.segment) <= moment for part in view.parts)


def holds_from(segment: Segment, rows: Array | slice = slice(None)) -> Array:
    """Milliseconds since when each of the rows is true."""
    valid = segment["valid_from"][rows]
    return np.where(valid == NO_TIME, segment["created"][rows], valid)


def both(first: Masks, second: Masks) -> Masks:
    """Rows in both."""
    return tuple(one & other for one, other in zip(first, second, strict=True))


def but(first: Masks, second: Masks) -> Masks:
    """Rows in the first and not in the second."""
    # Of two truths the first is greater only where it holds and the second does not: one step where `& ~` takes two.
    return tuple(one > other for one, other in zip(first, second, strict=True))


def count(masks: Masks) -> int:
    """How many rows."""
    return sum(int(mask.sum()) for mask in masks)


def successors(view: TenantView, place: Place) -> list[Place]:
    """The rows that name this one, or a member of it, in `supersedes`, lowest revision first."""
    segment = view.parts[place.part].segment
    wanted = np.append(segment.values("members", place.row), segment["id_hash"][place.row])
    found = {
        Place(number, int(row))
        for number, part in enumerate(view.parts)
        for row in _rows_naming(part, wanted)
        if part.counts[row]
    } - {place}
    return sorted(found, key=lambda one: view.parts[one.part].segment.revision(one.row))


def places(masks: Masks) -> list[Place]:
    """The rows of the masks, part by part."""
    return [Place(number, int(row)) for number, mask in enumerate(masks) for row in np.flatnonzero(mask)]


def id_of(view: TenantView, place: Place) -> str:
    """The id of a row."""
    return view.parts[place.part].segment.text("id", place.row)


def place_of(view: TenantView, memory_id: str) -> Place | None:
    """The row that stands for an id; None where none does."""
    hashes = hashes64((memory_id,))
    for number, part in enumerate(view.parts):
        for row in rows_of(part.segment, part.counts, (memory_id,), hashes).values():
            return Place(number, row)
    return None


def ids_among(view: TenantView, masks: Masks, memory_ids: Collection[str]) -> frozenset[str]:
    """Those of the ids that have a row in the masks."""
    hashes = hashes64(memory_ids)
    parts = zip(view.parts, masks, strict=True)
    return frozenset().union(*(rows_of(part.segment, mask, memory_ids, hashes) for part, mask in parts))


def _visible(part: ViewPart, own: np.uint64) -> Mask:
    segment = part.segment
    open_to_all: Mask = segment["scoped"] == 0
    seen = open_to_all | (segment["conversation"] == own) if own else open_to_all
    mask: Mask = part.counts & (segment["stub"] == 0) & seen
    return mask


def _without_vectors(part: ViewPart, model: str) -> Mask:
    segment = part.segment
    having = np.zeros(len(segment), np.bool_)
    if segment.model == model:
        having[segment["vector_row"]] = True
    mask: Mask = part.counts & (segment["stub"] == 0) & ~having
    return mask


def _named_as_superseded(parts: Sequence[ViewPart], at: datetime | None) -> Array:
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *(_named_in(part, at) for part in parts)]))


def _named_in(part: ViewPart, at: datetime | None, among: Mask | None = None) -> Array:
    segment = part.segment
    named = segment["supersedes"]
    if not len(named):
        return named
    naming = part.counts
    if at is not None:
        # A stub has no time of its own; what it superseded stays superseded.
        naming = naming & ((segment["stub"] != 0) | (holds_from(segment) <= milliseconds(at)))
    holding = naming[_rows_of_values(segment, "supersedes", np.arange(len(named)))]
    for chosen in (part.holding, among):
        holding = holding if chosen is None else holding & chosen
    return named[holding]


def _superseded_by_others(parts: Sequence[ViewPart], at: datetime | None) -> Array:
    """Hashes of ids that something else supersedes than a memory that was merged from them."""
    found = [np.zeros(0, np.uint64)]
    for part in parts:
        segment = part.segment
        own = set(zip(row_of_values(segment, "members").tolist(), segment["members"].tolist(), strict=True))
        naming = _rows_of_values(segment, "supersedes", np.arange(len(segment["supersedes"]))).tolist()
        pairs = zip(naming, segment["supersedes"].tolist(), strict=True)
        foreign = np.array([pair not in own for pair in pairs], np.bool_)
        found.append(_named_in(part, at, foreign))
        if at is None:
            found.append(segment["id_hash"][part.counts & (_lengths(segment, "superseded_by") > 0)])
    return np.unique(np.concatenate(found))


def _having_any(segment: Segment, column: str, values: Array) -> Mask:
    mask = np.zeros(len(segment), np.bool_)
    mask[_rows_of_values(segment, column, np.flatnonzero(np.isin(segment[column], values)))] = True
    return mask


def _superseded(segment: Segment, named: Array, *, noted: bool) -> Mask:
    mask = np.zeros(len(segment), np.bool_)
    if len(named) and len(segment):
        mask[_rows_of(segment, named)] = True
    if noted and len(segment["superseded_by"]):
        mask |= _lengths(segment, "superseded_by") > 0
    return mask


def _rows_of(segment: Segment, hashes: Array) -> NDArray[np.int64]:
    """The rows whose id has one of these hashes: none, one, or more where ids share it."""
    column = segment["id_hash"]
    first = column.searchsorted(hashes)
    there = column.take(first, mode="clip") == hashes
    if not there.any():
        return _NO_ROWS
    first = first[there]
    counts = column.searchsorted(hashes[there], "right") - first
    rows: NDArray[np.int64] = (first + counts - counts.cumsum()).repeat(counts) + np.arange(counts.sum())
    return rows


def _lengths(segment: Segment, column: str) -> Array:
    offsets = segment[f"{column}_at"]
    return offsets[1:] - offsets[:-1]


def _rows_naming(part: ViewPart, wanted: Array) -> Array:
    named = np.isin(part.segment["supersedes"], wanted)
    named = named if part.holding is None else named & part.holding
    return _rows_of_values(part.segment, "supersedes", np.flatnonzero(named))


def _rows_of_values(segment: Segment, column: str, positions: Array) -> Array:
    """The rows that the values at these positions of a ragged column belong to."""
    offsets = segment[f"{column}_at"]
    # Of one type, or all offsets are converted first.
    return offsets.searchsorted(positions.astype(offsets.dtype), "right") - 1


def _admitted(segment: Segment, filters: Filters) -> Mask:
    mask = np.ones(len(segment), np.bool_)
    if filters.types is not None:
        mask &= np.isin(segment["type"], [TYPES.index(kind) for kind in filters.types])
    if filters.category is not None:
        mask &= segment["category"] == np.uint64(hash64(filters.category))
    for tag in hashes64(filters.tags) if filters.tags else ():
        mask &= _having(segment, "tags", tag)
    if filters.since is not None:
        mask &= segment["created"] >= milliseconds(filters.since)
    if filters.until is not None:
        mask &= segment["created"] < milliseconds(filters.until)
    return mask


def _having(segment: Segment, column: str, value: Array) -> Mask:
    mask = np.zeros(len(segment), np.bool_)
    mask[_rows_of_values(segment, column, np.flatnonzero(segment[column] == value))] = True
    return mask
