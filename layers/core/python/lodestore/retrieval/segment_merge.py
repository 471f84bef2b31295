"""Merging segments as arrays: no text is read and nothing is tokenised anew.

Owns: the way from rows of several segments to rows of one. Guarantees: the bytes are those of a segment that is built
from the same records at once; a row that is kept is found through its input's map, one that is not maps to GONE.
Gives up: choosing rows. Vectors of another model, or of another dimension than the first input that has any, are left
out: the memory keeps its own, and upkeep fills them in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.segment import (
    OFFSET_TYPE,
    RAGGED_COLUMNS,
    REVISION_LETTERS,
    ROW_COLUMNS,
    Array,
    Segment,
)
from lodestore.retrieval.segment_search import Mask

Rows = NDArray[np.int64]
GONE: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class MergeInput:
    """A segment and the rows of it that are kept."""

    segment: Segment
    kept: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The output, and for each input its rows' rows in it, GONE where a row was not kept."""

    segment: Segment
    rows: tuple[Rows, ...]


def merge_segments(inputs: Sequence[MergeInput], *, model: str | None, tokenizer: int) -> Merged:
    """One segment of all kept rows. Time is near linear in rows, postings and vectors."""
    chosen = [np.flatnonzero(one.kept) for one in inputs]
    order = _order(inputs, chosen)
    maps = _maps(inputs, chosen, order)
    arrays: dict[str, Array] = {name: _gathered(inputs, chosen, name)[order] for name in ROW_COLUMNS}
    arrays["revision"] = _gathered(inputs, chosen, "revision").reshape(-1, REVISION_LETTERS)[order]
    for name in RAGGED_COLUMNS:
        arrays[name], arrays[f"{name}_at"] = _ragged(inputs, chosen, order, name)
    arrays |= _postings(inputs, maps)
    arrays |= _vectors(inputs, maps, model)
    for name, kind in ROW_COLUMNS.items():
        arrays[name] = arrays[name].astype(kind, copy=False)
    return Merged(Segment(arrays, model, tokenizer), maps)


def _order(inputs: Sequence[MergeInput], chosen: Sequence[Rows]) -> Rows:
    """The kept rows, input after input, in the order of the output: by the id's hash, the id, the revision."""
    hashes = _gathered(inputs, chosen, "id_hash")
    order: Rows = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    # Rows of one hash are few: those of an id that is doubled, or of two ids that share a hash.
    tied = np.flatnonzero(ordered[1:] == ordered[:-1])
    if not len(tied):
        return order
    of_input = np.repeat(np.arange(len(inputs)), [len(rows) for rows in chosen])
    in_input = np.concatenate(chosen)
    starts = tied[np.r_[True, np.diff(tied) > 1]]
    for start in starts.tolist():
        end = int(np.searchsorted(ordered, ordered[start], "right"))

        def name(at: int) -> tuple[str, str]:
            segment, row = inputs[int(of_input[at])].segment, int(in_input[at])
            return segment.text("id", row), segment.revision(row)

        order[start:end] = sorted(order[start:end].tolist(), key=name)
    return order


def _maps(inputs: Sequence[MergeInput], chosen: Sequence[Rows], order: Rows) -> tuple[Rows, ...]:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    maps: list[Rows] = []
    begin = 0
    for one, rows in zip(inputs, chosen, strict=True):
        there = np.full(len(one.segment), GONE, np.int64)
        there[rows] = place[begin : begin + len(rows)]
        maps.append(there)
        begin += len(rows)
    return tuple(maps)


def _gathered(inputs: Sequence[MergeInput], chosen: Sequence[Rows], name: str) -> Array:
    pieces = [one.segment[name][rows] for one, rows in zip(inputs, chosen, strict=True)]
    return np.concatenate(pieces) if pieces else np.zeros(0, ROW_COLUMNS.get(name, "|u1"))


def _ragged(
    inputs: Sequence[MergeInput], chosen: Sequence[Rows], order: Rows, name: str
) -> tuple[Array, Array]:
    values = [one.segment[name] for one in inputs]
    kind = RAGGED_COLUMNS[name]
    whole = np.concatenate(values) if values else np.zeros(0, kind)
    begins = np.cumsum([0, *map(len, values)])
    starts: list[Rows] = [np.zeros(0, np.int64)]
    lengths: list[Rows] = [np.zeros(0, np.int64)]
    for one, rows, begin in zip(inputs, chosen, begins.tolist(), strict=False):
        starts.append(one.segment[f"{name}_at"][rows].astype(np.int64) + begin)
        lengths.append(_lengths(one.segment, name)[rows])
    taken = np.concatenate(starts)[order]
    counts = np.concatenate(lengths)[order]
    ends = np.cumsum(counts)
    within = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
    gathered: Array = whole[np.repeat(taken, counts) + within].astype(kind, copy=False)
    return gathered, _offsets(counts)


def _postings(inputs: Sequence[MergeInput], maps: Sequence[Rows]) -> dict[str, Array]:
    terms: list[Array] = [np.zeros(0, np.uint64)]
    rows: list[Rows] = [np.zeros(0, np.int64)]
    counts: list[Array] = [np.zeros(0, np.uint16)]
    for one, there in zip(inputs, maps, strict=True):
        segment = one.segment
        moved = there[segment["posting_row"]]
        kept = moved != GONE
        terms.append(np.repeat(segment["term"], _lengths(segment, "term"))[kept])
        rows.append(moved[kept])
        counts.append(segment["posting_count"][kept])
    all_terms, all_rows = np.concatenate(terms), np.concatenate(rows)
    distinct, numbers = np.unique(all_terms, return_inverse=True)
    # Each input's postings are in this order already, so that a stable sort has few runs to merge.
    order = np.argsort(
        (numbers.astype(np.uint64) << np.uint64(32)) | all_rows.astype(np.uint64), kind="stable"
    )
    return {
        "term": distinct,
        "term_at": _offsets(np.bincount(numbers, minlength=len(distinct))),
        "posting_row": all_rows[order].astype(np.uint32),
        "posting_count": np.concatenate(counts)[order],
    }


def _vectors(inputs: Sequence[MergeInput], maps: Sequence[Rows], model: str | None) -> dict[str, Array]:
    having = [
        (one.segment, there)
        for one, there in zip(inputs, maps, strict=True)
        if model is not None and one.segment.model == model and one.segment.vectors
    ]
    dim = having[0][0]["vector"].shape[1] if having else 0
    having = [(segment, there) for segment, there in having if segment["vector"].shape[1] == dim]
    kept = [there[segment["vector_row"]] != GONE for segment, there in having]
    if not any(mask.any() for mask in kept):
        return {
            "vector": np.zeros((0, 0), np.int8),
            "vector_scale": np.zeros(0, np.float32),
            "vector_row": np.zeros(0, np.uint32),
        }
    rows = np.concatenate(
        [there[segment["vector_row"]][mask] for (segment, there), mask in zip(having, kept, strict=True)]
    )
    order = np.argsort(rows, kind="stable")
    columns = {
        name: np.concatenate([segment[name][mask] for (segment, _), mask in zip(having, kept, strict=True)])
        for name in ("vector", "vector_scale")
    }
    return {
        "vector": columns["vector"][order],
        "vector_scale": columns["vector_scale"][order],
        "vector_row": rows[order].astype(np.uint32),
    }


def _lengths(segment: Segment, name: str) -> Rows:
    offsets = segment[f"{name}_at"].astype(np.int64)
    return offsets[1:] - offsets[:-1]


def _offsets(lengths: NDArray[np.int64]) -> Array:
    offsets = np.zeros(len(lengths) + 1, OFFSET_TYPE)
    offsets[1:] = np.cumsum(lengths)
    return offsets
