"""What a manifest shows: of every id one row, or none.

Owns: resolving segments and dead rows into rows that count. Guarantees: of several rows of one id, wherever they are
listed, the one of the highest revision counts (design, section 5); a dead row never does.
Gives up: freshness; the tail is `services/tail`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.manifest import Killed, Manifest, SegmentEntry
from lodestore.retrieval.hashing import Hashes, hash64, hashes64
from lodestore.retrieval.segment import Segment

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ListedSegment:
    """A segment of the manifest, and which of its rows count."""

    entry: SegmentEntry
    segment: Segment
    counts: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The row by which the index shows an id, and the listed segment that it is in."""

    listed: ListedSegment
    row: int
    revision: str
    etag: str
    stub: bool


@dataclass(frozen=True, slots=True, eq=False)
class IndexView:
    """A manifest resolved. `missing` names segments that are listed and could not be read."""

    listed: tuple[ListedSegment, ...]
    missing: tuple[str, ...]

    def shown(self, memory_ids: Collection[str]) -> dict[str, Shown]:
        """How the index shows the ids; those that it does not show are not in it."""
        hashes = hashes64(memory_ids)
        found: dict[str, Shown] = {}
        for listed in self.listed:
            segment = listed.segment
            for memory_id, row in rows_of(segment, listed.counts, memory_ids, hashes).items():
                found.setdefault(
                    memory_id,
                    Shown(
                        listed,
                        row,
                        segment.revision(row),
                        segment.text("etag", row),
                        bool(segment["stub"][row]),
                    ),
                )
        return found


EMPTY = IndexView((), ())


def resolve(manifest: Manifest, segments: Mapping[str, Segment | None]) -> IndexView:
    """The view that the manifest gives over these segments."""
    listed: list[ListedSegment] = []
    missing: list[str] = []
    for entry in manifest.segments:
        segment = segments.get(entry.name)
        if segment is None or len(segment) != entry.rows:
            missing.append(entry.name)
            continue
        listed.append(ListedSegment(entry, segment, live_rows(entry)))
    _keep_highest(listed)
    return IndexView(tuple(listed), tuple(missing))


def live_rows(entry: SegmentEntry) -> Mask:
    """The rows of the segment that are not dead."""
    live = np.ones(entry.rows, np.bool_)
    live[list(entry.dead)] = False
    return live


def rows_of(segment: Segment, counts: Mask, memory_ids: Collection[str], hashes: Hashes) -> dict[str, int]:
    """Id to its row that counts, of those ids that have one. `hashes` are those of the ids, in their order."""
    column = segment["id_hash"]
    if not len(column):
        return {}
    first = np.searchsorted(column, hashes)
    names = list(memory_ids)
    found: dict[str, int] = {}
    for at in np.flatnonzero(column[np.minimum(first, len(column) - 1)] == hashes).tolist():
        for row in segment.rows_of(int(hashes[at])):
            if counts[row] and segment.text("id", row) == names[at]:
                found.setdefault(names[at], row)
    return found


def counted_row(listed: ListedSegment, memory_id: str) -> int | None:
    """The row of the id in this segment that counts."""
    for row in listed.segment.rows_of(hash64(memory_id)):
        if listed.counts[row] and listed.segment.text("id", row) == memory_id:
            return row
    return None


def killed_rows(segment: Segment, rows: Sequence[int]) -> Killed:
    """These rows of the segment as rows that stop counting."""
    at = np.array(rows, np.int64)
    return Killed(
        rows=tuple(sorted(rows)),
        documents=int((segment["stub"][at] == 0).sum()),
        length=int(segment["length"][at].sum()),
    )


def _keep_highest(listed: Sequence[ListedSegment]) -> None:
    """Of rows of one id that all count, only the highest revision goes on counting."""
    if not listed:
        return
    # Each segment's hashes ascend already, and a stable sort only merges such runs.
    hashes = np.sort(np.concatenate([item.segment["id_hash"][item.counts] for item in listed]), kind="stable")
    for doubled in np.unique(hashes[1:][hashes[1:] == hashes[:-1]]).tolist():
        _keep_highest_of(listed, int(doubled))


def _keep_highest_of(listed: Sequence[ListedSegment], id_hash: int) -> None:
    rows = [
        (item.segment.text("id", row), item.segment.revision(row), number, row)
        for number, item in enumerate(listed)
        for row in item.segment.rows_of(id_hash)
        if item.counts[row]
    ]
    # Two ids may share a hash, so rows are compared by the id itself.
    best = {memory_id: (number, row) for memory_id, _, number, row in sorted(rows)}
    for memory_id, _, number, row in rows:
        if best[memory_id] != (number, row):
            listed[number].counts[row] = False
