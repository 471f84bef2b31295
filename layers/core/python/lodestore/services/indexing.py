"""Indexing: dirty ids in, one new segment and one swapped manifest out.

Owns: design section 4's run of the indexer for one tenant. Guarantees: the manifest is loaded before markers are
listed, and both before the truth is read; a lost swap starts again at the load and reads truth again; a marker is
deleted only
when what it says is shown by a manifest that every reader of the last minute has seen, or is settled for an hour
(P-READ-YOUR-WRITES, P-IDEMPOTENT). An event is a hint: nothing of it but the id is used.
Gives up: order of events, and speed under contention; runs of one tenant at once all converge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from lodestore.domain.manifest import Killed, Manifest, SegmentEntry, next_manifest
from lodestore.domain.memory import Memory, Record, Stub
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import StoreUnavailable
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.index_view import EMPTY, IndexView, Shown, resolve
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.pending import Pending, PendingList, SeenMarker
from lodestore.services.rows import row_of, segment_of
from lodestore.services.segments import Segments
from lodestore.services.truth import Read, Truth

MARKER_LAG = timedelta(seconds=60)
MARKER_GRACE = timedelta(hours=1)
# One segment's worth of rows; more is left to the next run.
RUN_IDS = 10_000
_TRIES = 10
_PAUSE_SECONDS = 0.05


class Contended(Exception):
    """Other runs won every swap; the ids stay pending and another run takes them."""


class NeedsRebuild(Exception):
    """The index can't be added to: its manifest or a segment can't be read, or it is of another tokenizer."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What one run did. `rows` were added, `killed` stopped counting, `invalid` ids are no records.

    left   ids that are dirty and were not looked at; another run takes them
    """

    rows: int = 0
    killed: int = 0
    invalid: int = 0
    markers_deleted: int = 0
    generation: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class _Loaded:
    manifest: LoadedManifest
    view: IndexView
    pending: PendingList


class Indexing:
    """The indexer of all tenants. Safe beside writers, readers and other runs of itself."""

    def __init__(
        self,
        manifests: Manifests,
        segments: Segments,
        pending: Pending,
        truth: Truth,
        *,
        clock: Clock,
        entropy: Entropy,
        meter: Meter,
        model: str | None,
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._pending = pending
        self._truth = truth
        self._clock = clock
        self._entropy = entropy
        self._meter = meter
        self._model = model

    def run(self, tenant: str, named: Iterable[str] = ()) -> Indexed:
        """Index the ids that events named and those with markers. Raises StoreUnavailable, Contended, NeedsRebuild."""
        ids = frozenset(named)
        for attempt in range(_TRIES):
            loaded = self._load(tenant)
            dirty = _dirty(loaded, ids)
            truth = self._truth.read_many(tenant, dirty[:RUN_IDS])
            indexed = self._write(tenant, loaded, truth)
            if indexed is not None:
                deleted = self._delete_markers(tenant, loaded, truth)
                return Indexed(
                    rows=indexed.rows,
                    killed=indexed.killed,
                    invalid=sum(read.invalid for read in truth.values()),
                    markers_deleted=deleted,
                    generation=indexed.generation,
                    left=max(0, len(dirty) - RUN_IDS),
                )
            self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
        raise Contended

    def _load(self, tenant: str) -> _Loaded:
        manifest = self._manifests.load(tenant)
        if manifest.invalid:
            raise NeedsRebuild
        view = EMPTY
        if manifest.manifest is not None:
            if manifest.manifest.tokenizer != TOKENIZER_VERSION:
                raise NeedsRebuild
            view = resolve(manifest.manifest, self._segments.load(tenant, manifest.manifest.names))
            if view.missing:
                raise NeedsRebuild
        return _Loaded(manifest, view, self._pending.list(tenant))

    def _write(self, tenant: str, loaded: _Loaded, truth: Mapping[str, Read]) -> Indexed | None:
        """Add what differs from what is shown; None: another run swapped the manifest first."""
        changes = {
            memory_id: _change(loaded.view.shown(memory_id), read) for memory_id, read in truth.items()
        }
        records = {m: truth[m] for m, change in changes.items() if change.add}
        killed = _killed(loaded.view, [change.kill for change in changes.values() if change.kill is not None])
        base = loaded.manifest.manifest or Manifest(
            tenant=tenant,
            generation=0,
            updated_at=self._clock.now(),
            tokenizer=TOKENIZER_VERSION,
            model=self._model,
        )
        if not records and not killed:
            return Indexed(generation=base.generation)
        added = [self._add(tenant, records)] if records else []
        manifest = next_manifest(
            base, stored_at=loaded.manifest.stored_at, now=self._clock.now(), added=added, killed=killed
        )
        if not self._manifests.swap(loaded.manifest, manifest):
            return None
        return Indexed(
            len(records), sum(len(k.rows) for k in killed.values()), generation=manifest.generation
        )

    def _add(self, tenant: str, records: Mapping[str, Read]) -> SegmentEntry:
        rows = [
            row_of(read.record, read.etag, model=self._model)
            for read in records.values()
            if read.record is not None and read.etag is not None
        ]
        segment = segment_of(rows, model=self._model)
        name, size = self._segments.write(tenant, segment)
        return SegmentEntry(
            name=name,
            rows=len(segment),
            documents=len(segment) - int(segment["stub"].sum()),
            length=int(segment["length"].sum()),
            size=size,
            vectors=segment.vectors,
        )

    def _delete_markers(self, tenant: str, loaded: _Loaded, truth: Mapping[str, Read]) -> int:
        """Delete the markers that no reader needs any more; what fails is left to the next run."""
        due = [marker for marker in loaded.pending.markers if _is_due(marker, loaded, truth)]
        deleted = 0
        for marker in due:
            try:
                self._pending.delete(tenant, marker)
            except StoreUnavailable:
                self._meter.count("marker_left_behind")
            else:
                deleted += 1
        return deleted


@dataclass(frozen=True, slots=True)
class _Change:
    """What the index has to do for one id: add the record's row, kill the row that shows it now."""

    add: bool
    kill: Shown | None


def _change(shown: Shown | None, read: Read) -> _Change:
    if read.record is None:
        # Gone, or no record: nothing may be found by it. A stub's row stays, for it still hides what it superseded.
        return _Change(add=False, kill=None if shown is None or shown.stub else shown)
    if shown is None:
        return _Change(add=True, kill=None)
    if shown.etag == read.etag:
        return _Change(add=False, kill=None)
    if shown.stub and isinstance(read.record, Memory) and read.record.revision <= shown.revision:
        # An old object put back by hand; upkeep turns it into the stub again (P-FORGOTTEN).
        return _Change(add=False, kill=None)
    return _Change(add=True, kill=shown)


def _killed(view: IndexView, shown: Iterable[Shown]) -> dict[str, Killed]:
    rows: defaultdict[str, list[Shown]] = defaultdict(list)
    for one in shown:
        rows[one.entry.name].append(one)
    segments = {listed.entry.name: listed.segment for listed in view.listed}
    return {
        name: Killed(
            rows=tuple(sorted(one.row for one in ones)),
            documents=sum(not one.stub for one in ones),
            length=sum(int(segments[name]["length"][one.row]) for one in ones),
        )
        for name, ones in rows.items()
    }


def _dirty(loaded: _Loaded, named: frozenset[str]) -> list[str]:
    """The ids to look at: named ones first, then those with a marker that is not shown, oldest change first."""
    marked = sorted((revision, memory_id) for memory_id, revision in loaded.pending.highest().items())
    unshown = [memory_id for revision, memory_id in marked if not _shows(loaded, memory_id, revision)]
    return list(dict.fromkeys([*sorted(named), *unshown]))


def _shows(loaded: _Loaded, memory_id: str, revision: str) -> bool:
    shown = loaded.view.shown(memory_id)
    return shown is not None and shown.revision >= revision


def _is_due(marker: SeenMarker, loaded: _Loaded, truth: Mapping[str, Read]) -> bool:
    """Design, section 4: (a) shown for MARKER_LAG, or (b) older than MARKER_GRACE and the truth is what is shown."""
    shown = loaded.view.shown(marker.id)
    since = shown.entry.listed_at if shown is not None else None
    since = since if since is not None else loaded.manifest.stored_at
    if since is not None and loaded.pending.at - since < MARKER_LAG:
        return False
    if shown is not None and shown.revision >= marker.revision:
        return True
    old = loaded.pending.at - marker.stored_at > MARKER_GRACE
    return old and marker.id in truth and _is_exactly(shown, truth[marker.id])


def _is_exactly(shown: Shown | None, read: Read) -> bool:
    if shown is None or read.record is None:
        return shown is None and read.record is None and not read.invalid
    record: Record = read.record
    return (
        shown.revision == record.revision
        and shown.etag == read.etag
        and shown.stub is isinstance(record, Stub)
    )
