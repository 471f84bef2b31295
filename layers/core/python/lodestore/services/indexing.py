"""Indexing: dirty ids in, one new segment and one swapped manifest out.

Owns: design section 4's run of the indexer for one tenant. Guarantees: the manifest is loaded before markers are
listed, and both before the truth is read; a lost swap starts again at the load and reads truth again; a marker is
deleted only when what it says is shown by a manifest that every reader of the last minute has seen, or is settled for
an hour (P-READ-YOUR-WRITES, P-IDEMPOTENT). An event is a hint: nothing of it but the id is used.
Gives up: order of events, and speed under contention; runs of one tenant at once all converge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from lodestore.domain.manifest import Killed, Manifest, next_manifest
from lodestore.domain.memory import Memory, Record, Stub
from lodestore.format import keys
from lodestore.ports.clock import Clock, Entropy
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.events import key_digest
from lodestore.services.index_view import Shown, killed_rows, resolve
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.pending import Pending, PendingList, SeenMarker
from lodestore.services.rows import UNUSED, row_of, segment_of, use_of
from lodestore.services.segments import Segments, Written
from lodestore.services.truth import Read, Truth

MARKER_LAG = timedelta(seconds=60)
MARKER_GRACE = timedelta(hours=1)
# One segment's worth of rows; more is left to the next run.
RUN_IDS = 10_000
FLAWS_SHOWN = 20
_TRIES = 10
_PAUSE_SECONDS = 0.05


class Contended(Exception):
    """Other runs won every swap; the ids stay pending and another run takes them."""


class NeedsRebuild(Exception):
    """The index can't be added to: there is none, a part of it can't be read, or it is of another tokenizer."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """An object that is no record for its key: digest of the key, its ETag, why. Nothing of its content."""

    digest: str
    etag: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What one run did. `rows` were added, `killed` stopped counting.

    pending   markers that were there
    read      ids whose truth was read; `invalid` of them are no records, `flaws` shows the first 20 of these
    left      ids that are dirty and were not looked at; another run takes them
    """

    generation: int
    pending: int
    read: int
    rows: int = 0
    killed: int = 0
    invalid: int = 0
    flaws: tuple[Flaw, ...] = ()
    markers_deleted: int = 0
    left: int = 0


def usable(loaded: LoadedManifest) -> Manifest:
    """The manifest, where segments can be added to it or merged in it. Raises NeedsRebuild."""
    manifest = loaded.manifest
    if manifest is None or manifest.tokenizer != TOKENIZER_VERSION:
        raise NeedsRebuild
    return manifest


@dataclass(frozen=True, slots=True)
class _Loaded:
    standing: LoadedManifest
    manifest: Manifest
    shown: Mapping[str, Shown]
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
        model: str | None,
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._pending = pending
        self._truth = truth
        self._clock = clock
        self._entropy = entropy
        self._model = model

    def run(self, tenant: str, named: Iterable[str] = (), *, begin: bool = True) -> Indexed:
        """Index the ids that events named and those with markers. Raises StoreUnavailable, Contended, NeedsRebuild.

        begin   begin an index where there is none. False: NeedsRebuild, for the tenant may be old and its index lost
        """
        ids = frozenset(named)
        for attempt in range(_TRIES):
            loaded = self._load(tenant, ids, begin=begin)
            dirty = _dirty(loaded, ids)
            truth = self._truth.read_many(tenant, dirty[:RUN_IDS])
            swapped = self._write(tenant, loaded, truth)
            if swapped is not None:
                due = [marker for marker in loaded.pending.markers if _is_due(marker, loaded, truth)]
                flaws = _flaws(tenant, truth)
                return Indexed(
                    generation=swapped.generation,
                    pending=len(loaded.pending.markers),
                    read=len(truth),
                    rows=swapped.rows,
                    killed=swapped.killed,
                    invalid=len(flaws),
                    flaws=flaws[:FLAWS_SHOWN],
                    markers_deleted=self._pending.delete(tenant, due),
                    left=max(0, len(dirty) - RUN_IDS),
                )
            self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
        raise Contended

    def _load(self, tenant: str, named: frozenset[str], *, begin: bool) -> _Loaded:
        loaded = self._manifests.load(tenant)
        manifest = self._first(tenant) if begin and loaded.etag is None else usable(loaded)
        view = resolve(manifest, self._segments.load(tenant, manifest.names))
        if view.missing:
            raise NeedsRebuild
        pending = self._pending.list(tenant)
        shown = view.shown({*named, *(marker.id for marker in pending.markers)})
        return _Loaded(loaded, manifest, shown, pending)

    def _first(self, tenant: str) -> Manifest:
        return Manifest(
            tenant=tenant,
            generation=0,
            updated_at=self._clock.now(),
            tokenizer=TOKENIZER_VERSION,
            model=self._model,
        )

    def _write(self, tenant: str, loaded: _Loaded, truth: Mapping[str, Read]) -> _Swapped | None:
        """Add what differs from what is shown; None: another run swapped the manifest first."""
        changes = {memory_id: _change(loaded.shown.get(memory_id), read) for memory_id, read in truth.items()}
        records = {m: truth[m] for m, change in changes.items() if change.add}
        killed = _killed([change.kill for change in changes.values() if change.kill is not None])
        if not records and not killed:
            return _Swapped(loaded.manifest.generation)
        added = [self._add(tenant, records, changes).entry] if records else []
        manifest = next_manifest(
            loaded.manifest,
            stored_at=loaded.standing.stored_at,
            now=self._clock.now(),
            added=added,
            killed=killed,
        )
        if not self._manifests.swap(loaded.standing, manifest):
            return None
        return _Swapped(manifest.generation, len(records), sum(len(k.rows) for k in killed.values()))

    def _add(self, tenant: str, records: Mapping[str, Read], changes: Mapping[str, _Change]) -> Written:
        rows = [
            row_of(read.record, read.etag, model=self._model, use=_use_before(changes[memory_id].kill))
            for memory_id, read in records.items()
            if read.record is not None and read.etag is not None
        ]
        return self._segments.write(tenant, segment_of(rows, model=self._model))


@dataclass(frozen=True, slots=True)
class _Swapped:
    """The manifest's generation after a run, and what the run changed."""

    generation: int
    rows: int = 0
    killed: int = 0


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


def _use_before(shown: Shown | None) -> Mapping[str, float]:
    """An update goes on with the levels of the row that it replaces; what was forgotten takes its own with it."""
    return UNUSED if shown is None or shown.stub else use_of(shown.listed.segment, shown.row)


def _killed(shown: Iterable[Shown]) -> dict[str, Killed]:
    rows: defaultdict[str, list[Shown]] = defaultdict(list)
    for one in shown:
        rows[one.listed.entry.name].append(one)
    return {
        name: killed_rows(ones[0].listed.segment, [one.row for one in ones]) for name, ones in rows.items()
    }


def _flaws(tenant: str, truth: Mapping[str, Read]) -> tuple[Flaw, ...]:
    return tuple(
        Flaw(key_digest(keys.memory(tenant, memory_id)), read.etag or "", read.flaw)
        for memory_id, read in truth.items()
        if read.invalid
    )


def _dirty(loaded: _Loaded, named: frozenset[str]) -> list[str]:
    """The ids to look at: named ones first, then those with a marker that is not shown, oldest change first."""
    marked = sorted((revision, memory_id) for memory_id, revision in loaded.pending.highest().items())
    unshown = [memory_id for revision, memory_id in marked if not _shows(loaded, memory_id, revision)]
    return list(dict.fromkeys([*sorted(named), *unshown]))


def _shows(loaded: _Loaded, memory_id: str, revision: str) -> bool:
    shown = loaded.shown.get(memory_id)
    return shown is not None and shown.revision >= revision


def _is_due(marker: SeenMarker, loaded: _Loaded, truth: Mapping[str, Read]) -> bool:
    """Design, section 4: (a) shown for MARKER_LAG, or (b) older than MARKER_GRACE and the truth is what is shown."""
    shown = loaded.shown.get(marker.id)
    since = shown.listed.entry.listed_at if shown is not None else None
    since = since if since is not None else loaded.standing.stored_at
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
