"""What a tenant's index shows, id by id: what the steps of maintenance compare the truth with.

Owns: one reading of the manifest and its segments for them. Guarantees: an index that can't be read whole is no
reading (NeedsRebuild), so nothing is taken for absent that is only unreadable.
Gives up: the tail; what has a marker is indexed before or after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lodestore.domain.manifest import SegmentEntry
from lodestore.domain.revision import revision_time
from lodestore.retrieval.hashing import hash64
from lodestore.retrieval.segment import NO_EXPIRY, Segment
from lodestore.services.index_view import ListedSegment, resolve
from lodestore.services.indexing import NeedsRebuild, usable
from lodestore.services.manifests import Manifests
from lodestore.services.segments import Segments


@dataclass(frozen=True, slots=True)
class ShownRow:
    """How the index shows one id."""

    etag: str
    stub: bool
    revision: str


@dataclass(frozen=True, slots=True, eq=False)
class IndexRows:
    """An index that was read whole."""

    listed: tuple[ListedSegment, ...]

    def rows(self) -> dict[str, ShownRow]:
        """Every id that is shown."""
        return {
            segment.text("id", row): ShownRow(
                segment.text("etag", row), bool(segment["stub"][row]), segment.revision(row)
            )
            for segment, row in self._counted()
        }

    def stubs(self) -> dict[str, int]:
        """Every forgotten id, with the time part of its stub's revision in milliseconds."""
        return {
            segment.text("id", row): revision_time(segment.revision(row))
            for listed in self.listed
            for segment in (listed.segment,)
            for row in np.flatnonzero(listed.counts & (segment["stub"] != 0)).tolist()
        }

    def unnoted(self) -> list[tuple[str, str]]:
        """(superseded id, successor's id) where the one does not note the other yet."""
        place = self._places()
        missing: list[tuple[str, str]] = []
        for segment, row in self._counted():
            successor = segment.text("id", row)
            for target in segment.values("supersedes", row).tolist():
                at = place.get(target)
                if at is None or at[0]["stub"][at[1]]:
                    continue
                # A merged memory's members stay as they were read, byte by byte.
                if target in segment.values("members", row):
                    continue
                if hash64(successor) not in at[0].values("superseded_by", at[1]).tolist():
                    missing.append((at[0].text("id", at[1]), successor))
        return missing

    def next_expiry(self) -> int | None:
        """The earliest time at which a memory expires, in milliseconds since 1970."""
        earliest = [
            int(listed.segment["expires"][mask].min())
            for listed in self.listed
            if (
                mask := listed.counts
                & (listed.segment["stub"] == 0)
                & (listed.segment["expires"] != NO_EXPIRY)
            ).any()
        ]
        return min(earliest, default=None)

    def holding_dead(self, ids: Mapping[str, object]) -> list[SegmentEntry]:
        """The segments in which a dead row still holds what one of these ids, or what was merged from it, once was."""
        found: list[SegmentEntry] = []
        hashes = np.array([hash64(memory_id) for memory_id in ids], np.uint64)
        for listed in self.listed:
            segment = listed.segment
            dead = [row for row in listed.entry.dead if not segment["stub"][row]]
            if any(
                segment.text("id", row) in ids or np.isin(segment.values("members", row), hashes).any()
                for row in dead
            ):
                found.append(listed.entry)
        return found

    def _counted(self) -> Iterator[tuple[Segment, int]]:
        for listed in self.listed:
            for row in np.flatnonzero(listed.counts).tolist():
                yield listed.segment, row

    def _places(self) -> dict[int, tuple[Segment, int]]:
        """Hash of an id that something supersedes to its row."""
        wanted = np.unique(
            np.concatenate(
                [np.zeros(0, np.uint64), *(listed.segment["supersedes"] for listed in self.listed)]
            )
        )
        found: dict[int, tuple[Segment, int]] = {}
        for listed in self.listed:
            segment = listed.segment
            mask = listed.counts & np.isin(segment["id_hash"], wanted)
            found |= {int(segment["id_hash"][row]): (segment, row) for row in np.flatnonzero(mask).tolist()}
        return found


def read_index(tenant: str, manifests: Manifests, segments: Segments) -> IndexRows:
    """The index as it stands. Raises StoreUnavailable; NeedsRebuild where there is none or it can't be read whole."""
    manifest = usable(manifests.load(tenant))
    view = resolve(manifest, segments.load(tenant, manifest.names))
    if view.missing:
        raise NeedsRebuild
    return IndexRows(view.listed)
