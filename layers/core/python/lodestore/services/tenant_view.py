"""A tenant as one moment shows it: the index, and over it the tail that the index does not show yet.

Owns: round trips 1 and 2 of design section 5. Guarantees: every write that was answered before the call is in the view,
indexed or not (P-READ-YOUR-WRITES): what the listing of markers no longer has, a manifest in place for MARKER_LAG
shows, and a manifest and a listing further apart than half of that are read again. Of index and tail the highest
revision of an id counts.
Gives up: a tail longer than the caller's limit; the newest of it are read, and the view says that it is cut.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from lodestore.domain.manifest import Manifest
from lodestore.domain.memory import Memory
from lodestore.errors import Unavailable
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectTooLarge, StoreUnavailable
from lodestore.retrieval.hashing import Hashes, hashes64
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_search import Mask
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.due import Due
from lodestore.services.founded import founded
from lodestore.services.held import Held, HeldRecords
from lodestore.services.index_view import EMPTY, IndexView, ListedSegment, Shown, resolve, rows_of
from lodestore.services.indexing import MARKER_LAG
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.pending import Pending, PendingList
from lodestore.services.rows import UNUSED, row_of, segment_of, use_of
from lodestore.services.segments import Segments
from lodestore.services.truth import Read, Truth

_TRIES = 3
# Each holds its segments in memory.
_TENANTS_RESOLVED = 8


@dataclass(frozen=True, slots=True, eq=False)
class ViewPart:
    """A segment, listed by `name` or made of the tail, and which of its rows stand for their ids.

    holding    which values of `supersedes` hold; None: all (services/founded)
    unfounded  rows of merged memories that do not hold, and so do not count
    """

    segment: Segment
    counts: Mask
    name: str | None = None
    holding: Mask | None = None
    unfounded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TenantView:
    """Rows of all that a tenant has; of every id one row.

    tail        id to record, where the tail has a newer one than the index; their rows are in the last part
    pending     ids that the index does not show as they are
    read_now    ids of the tail whose truth was read for this very view; the others were read before
    degraded    a listed segment or the manifest could not be read or is lost, or the index is of another tokenizer
    """

    parts: tuple[ViewPart, ...]
    tail: Mapping[str, Held]
    manifest: Manifest | None
    pending: frozenset[str]
    degraded: bool = False
    tail_truncated: bool = False
    invalid: int = 0
    hidden: frozenset[str] = field(default_factory=frozenset)
    read_now: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, eq=False)
class _Overlay:
    """The tail as read: what replaces rows of the index, and what only hides them."""

    replaced: dict[str, Held]
    hidden: frozenset[str]
    pending: frozenset[str]
    invalid: int
    truncated: bool
    read_now: frozenset[str]
    use: Mapping[str, Mapping[str, float]]


def unseen(_: Manifest | None) -> None:
    """A manifest that nobody else goes by."""


@dataclass(frozen=True, slots=True, eq=False)
class _HeldParts:
    """The parts as last made, and what they were made of."""

    index: IndexView
    tail: Segment | None
    covered: frozenset[str]
    parts: tuple[ViewPart, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _HeldTail:
    """The tail as last made into a segment, and what it was made of."""

    records: tuple[Held, ...]
    use: Mapping[str, Mapping[str, float]]
    segment: Segment

    def is_of(self, records: tuple[Held, ...], use: Mapping[str, Mapping[str, float]]) -> bool:
        same = len(self.records) == len(records) and all(map(operator.is_, self.records, records))
        return same and self.use == use


class TenantViews:
    """Views of all tenants. Thread-safe."""

    def __init__(
        self,
        manifests: Manifests,
        segments: Segments,
        pending: Pending,
        truth: Truth,
        held: HeldRecords,
        due: Due,
        *,
        workers: Executor,
        meter: Meter,
        model: str | None,
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._pending = pending
        self._truth = truth
        self._held = held
        self._due = due
        self._workers = workers
        self._meter = meter
        self._model = model
        self._resolved: dict[str, tuple[Manifest, IndexView]] = {}
        self._tails: dict[str, _HeldTail] = {}
        self._parts: dict[str, _HeldParts] = {}
        self._lock = threading.Lock()

    def load(
        self, tenant: str, *, tail_limit: int | None = None, seen: Callable[[Manifest | None], None] = unseen
    ) -> TenantView:
        """The view of this moment. Raises Unavailable: half a view is no answer.

        seen   called once with the manifest, before the segments and the tail are read: what else goes by it
        """
        try:
            return self._load(tenant, tail_limit, seen)
        except (StoreUnavailable, ObjectTooLarge):
            raise Unavailable("The store did not answer a read.") from None

    def _load(
        self, tenant: str, tail_limit: int | None, seen: Callable[[Manifest | None], None]
    ) -> TenantView:
        loaded, pending = self._first_trip(tenant)
        seen(loaded.manifest)
        index = self._index_view(tenant, loaded.manifest)
        if index.missing:
            # A merge may have retired it since; a second look at the manifest settles that.
            loaded, pending = self._first_trip(tenant)
            index = self._index_view(tenant, loaded.manifest)
        degraded = bool(index.missing) or self._is_damaged(tenant, loaded, pending)
        if degraded:
            self._meter.count("index_degraded")
            # An hour that is over: the next scheduled run finds that the index has to be rebuilt.
            self._due.note(tenant, loaded.at - timedelta(hours=1))
        overlay = self._overlay(tenant, index, pending, tail_limit)
        return TenantView(
            parts=self._parts_of(tenant, index, overlay),
            tail=overlay.replaced,
            manifest=loaded.manifest,
            pending=overlay.pending,
            degraded=degraded,
            tail_truncated=overlay.truncated,
            invalid=overlay.invalid,
            hidden=overlay.hidden,
            read_now=overlay.read_now,
        )

    def _is_damaged(self, tenant: str, loaded: LoadedManifest, pending: PendingList) -> bool:
        """Whether the manifest can't be read, is of another tokenizer, or is lost: none, where memories are."""
        if loaded.manifest is not None:
            return loaded.manifest.tokenizer != TOKENIZER_VERSION
        return loaded.invalid or (not pending.markers and next(self._truth.ids(tenant), None) is not None)

    def _first_trip(self, tenant: str) -> tuple[LoadedManifest, PendingList]:
        for _ in range(_TRIES):
            listing = self._workers.submit(self._pending.list, tenant)
            loaded, pending = self._manifests.load(tenant), listing.result()
            if abs(pending.at - loaded.at) <= MARKER_LAG / 2:
                return loaded, pending
        raise StoreUnavailable("manifest and listing were too far apart")

    def _index_view(self, tenant: str, manifest: Manifest | None) -> IndexView:
        if manifest is None:
            return EMPTY
        with self._lock:
            last = self._resolved.get(tenant)
        # The very same manifest came again: its segments are immutable, and so is what they show.
        if last is not None and last[0] is manifest:
            return last[1]
        view = resolve(manifest, self._segments.load(tenant, manifest.names))
        if not view.missing:
            with self._lock:
                self._resolved.pop(tenant, None)
                self._resolved[tenant] = (manifest, view)
                while len(self._resolved) > _TENANTS_RESOLVED:
                    self._resolved.pop(next(iter(self._resolved)))
        return view

    def _overlay(self, tenant: str, index: IndexView, pending: PendingList, limit: int | None) -> _Overlay:
        highest = pending.highest()
        shown = index.shown(highest)
        wanted = sorted(
            (m for m, revision in highest.items() if (s := shown.get(m)) is None or s.revision < revision),
            key=lambda memory_id: highest[memory_id],
            reverse=True,
        )
        read, read_now = self._read_tail(
            tenant, {memory_id: highest[memory_id] for memory_id in wanted[:limit]}
        )
        replaced = {m: held for m, held in read.items() if _replaces(held, shown.get(m))}
        hidden = frozenset(
            m for m, held in read.items() if held.record is None and not _is_stub(shown.get(m))
        )
        invalid = sum(held.record is None and held.etag != "" for held in read.values())
        truncated = limit is not None and len(wanted) > limit
        # An update goes on with the levels of use of the row that it will replace.
        use = {
            m: use_of(shown[m].listed.segment, shown[m].row)
            for m in replaced
            if m in shown and not shown[m].stub
        }
        return _Overlay(replaced, hidden, frozenset(wanted), invalid, truncated, read_now, use)

    def _read_tail(self, tenant: str, wanted: Mapping[str, str]) -> tuple[dict[str, Held], frozenset[str]]:
        """The truth of each id, and which of them were read now.

        One that was read before serves where it is at or above the marker's revision.
        """
        known = self._held.some(tenant, wanted)
        fresh = {
            m: held
            for m, held in known.items()
            if held.record is not None and held.record.revision >= wanted[m]
        }
        read_now = frozenset(wanted) - frozenset(fresh)
        for memory_id, read in self._truth.read_many(tenant, read_now).items():
            fresh[memory_id] = _held(read)
            self._held.put(tenant, memory_id, fresh[memory_id])
        return fresh, read_now

    def _parts_of(self, tenant: str, index: IndexView, overlay: _Overlay) -> tuple[ViewPart, ...]:
        """The parts of the view; the very same as last time, where nothing changed: others hold what they show."""
        covered = frozenset(overlay.replaced) | overlay.hidden
        tail = self._tail(tenant, overlay.replaced, overlay.use)
        with self._lock:
            last = self._parts.get(tenant)
        if last is not None and last.index is index and last.tail is tail and last.covered == covered:
            return last.parts
        parts = _made_parts(index, tail, covered)
        with self._lock:
            self._parts.pop(tenant, None)
            self._parts[tenant] = _HeldParts(index, tail, covered, parts)
            while len(self._parts) > _TENANTS_RESOLVED:
                self._parts.pop(next(iter(self._parts)))
        return parts

    def _tail(
        self, tenant: str, replaced: Mapping[str, Held], use: Mapping[str, Mapping[str, float]]
    ) -> Segment | None:
        """The tail as a segment; where its records are the very same as last time, so is the segment."""
        records = tuple(held for held in replaced.values() if held.record is not None)
        if not records:
            return None
        with self._lock:
            last = self._tails.get(tenant)
        if last is not None and last.is_of(records, use):
            return last.segment
        rows = [
            row_of(
                held.record,
                held.etag,
                model=self._model,
                terms=held.terms,
                use=use.get(held.record.id, UNUSED),
                passing=True,
            )
            for held in records
            if held.record is not None
        ]
        tail = segment_of(rows, model=self._model)
        with self._lock:
            self._tails.pop(tenant, None)
            self._tails[tenant] = _HeldTail(records, use, tail)
            while len(self._tails) > _TENANTS_RESOLVED:
                self._tails.pop(next(iter(self._tails)))
        return tail


def _made_parts(index: IndexView, tail: Segment | None, covered: frozenset[str]) -> tuple[ViewPart, ...]:
    hashes = hashes64(covered)
    names: list[str | None] = [listed.entry.name for listed in index.listed]
    parts = [(listed.segment, _covered(listed, covered, hashes)) for listed in index.listed]
    if tail is not None:
        names.append(None)
        parts.append((tail, np.ones(len(tail), np.bool_)))
    return tuple(
        ViewPart(
            segment,
            found.counts,
            name,
            found.holding,
            () if found.counts is counts else tuple(np.flatnonzero(counts > found.counts).tolist()),
        )
        for name, (segment, counts), found in zip(names, parts, founded(parts), strict=True)
    )


def _held(read: Read) -> Held:
    return Held.of(read.etag or "", read.record)


def _replaces(held: Held, shown: Shown | None) -> bool:
    if held.record is None:
        return False
    if shown is None:
        return True
    if shown.stub and isinstance(held.record, Memory):
        return held.record.revision > shown.revision
    return held.record.revision >= shown.revision and held.etag != shown.etag


def _is_stub(shown: Shown | None) -> bool:
    return shown is not None and shown.stub


def _covered(listed: ListedSegment, memory_ids: Collection[str], hashes: Hashes) -> Mask:
    """The rows of the listed segment that count, without those that the tail replaces or hides."""
    counts = listed.counts
    covered = rows_of(listed.segment, counts, memory_ids, hashes)
    if covered:
        counts = counts.copy()
        counts[list(covered.values())] = False
    return counts
