"""The upkeep of one tenant's index: index what is dirty, rebuild what can't be added to, embed, merge, collect.

Owns: the order of these steps, and what of them an event's run does and what a scheduled one. Guarantees: a step that
fails leaves the index as it was or as another run made it; what was indexed is not reported as failed because a merge
was. Whoever retires segments notes the tenant, so that the hour is not missed in which they may be deleted.
Gives up: the other steps of maintenance, which work on the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from typing import Final

from lodestore.domain.manifest import UNLISTED_FOR
from lodestore.errors import Unavailable
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.backfill import Backfill, Backfilled
from lodestore.services.collection import Collected, Collection
from lodestore.services.due import Due
from lodestore.services.due_times import DueTimes
from lodestore.services.indexing import (
    FLAWS_SHOWN,
    RUN_IDS,
    Contended,
    Flaw,
    Indexed,
    Indexing,
    NeedsRebuild,
)
from lodestore.services.merge_plan import ROWS_MOST, SMALL_ROWS
from lodestore.services.merging import Merging
from lodestore.services.rebuilding import Rebuilding, Rebuilt
from lodestore.services.vector_filling import Filled, VectorFilling

RUNS_MOST = 64
MERGES_MOST = 64
# What a step may end in that another run may not.
FAILURES: Final = (StoreUnavailable, Unavailable, Contended, NeedsRebuild)
_DUE_AFTER = UNLISTED_FOR + timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkept:
    """What was done for one tenant.

    pending   markers that were there at first; `left`: ids that are still dirty, for which there was no time
    read      ids whose truth was read; `invalid` of them are no records, `flaws` shows the first 20 of these
    rebuilt   None: no rebuild was needed
    merges    of segments; `merge_failed`: the last one could not be made
    collected None: that was not looked at
    filled    of the vector engine, by the last run; None: there is no engine
    """

    pending: int = 0
    read: int = 0
    rows: int = 0
    killed: int = 0
    invalid: int = 0
    flaws: tuple[Flaw, ...] = ()
    markers_deleted: int = 0
    left: int = 0
    rebuilt: Rebuilt | None = None
    merges: int = 0
    merge_failed: bool = False
    collected: Collected | None = None
    backfilled: Backfilled = field(default_factory=Backfilled)
    filled: Filled | None = None


_NOTHING: Final = Upkept()
Going = Callable[[], bool]


def _always() -> bool:
    return True


class Upkeep:
    """The upkeep of all tenants' indexes."""

    def __init__(
        self,
        indexing: Indexing,
        rebuilding: Rebuilding,
        merging: Merging,
        collection: Collection,
        backfill: Backfill,
        due: Due,
        due_times: DueTimes,
        *,
        filling: VectorFilling | None,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self._indexing = indexing
        self._rebuilding = rebuilding
        self._merging = merging
        self._collection = collection
        self._backfill = backfill
        self._due = due
        self._due_times = due_times
        self._filling = filling
        self._clock = clock
        self._meter = meter

    def index(self, tenant: str, named: Iterable[str] = (), *, going: Going = _always) -> Upkept:
        """Index what events named and what has markers, then merge what is small. Raises what FAILURES lists.

        Writes nothing in the state bucket: its events would call whoever runs this, who may not write there.

        going   asked between steps whether there is time for another
        """
        done = self._index(tenant, named, going, settle=False)
        return self._merge(tenant, done, SMALL_ROWS, going)

    def run(self, tenant: str, *, going: Going = _always) -> Upkept:
        """All steps on the index. Raises what FAILURES lists; what was done by then stands."""
        done = self.embed(tenant, self._index(tenant, (), going), going=going)
        done = self.merge(tenant, done, going=going)
        return self.collect(tenant, done) if going() else done

    def index_more(
        self, tenant: str, done: Upkept, named: Iterable[str] = (), *, going: Going = _always
    ) -> Upkept:
        """Index what is named and what has markers, without a merge. Raises what FAILURES lists."""
        return self._index(tenant, named, going, done)

    def embed(self, tenant: str, done: Upkept, *, going: Going = _always) -> Upkept:
        """Vectors for what has none, and the index of them. Raises what FAILURES lists."""
        backfilled = self._backfill.run(tenant, going=going)
        if backfilled.filled:
            done = self._index(tenant, (), going, done)
        if backfilled.left:
            self._due.note(tenant, self._clock.now() + _DUE_AFTER)
        return replace(done, backfilled=backfilled)

    def merge(self, tenant: str, done: Upkept, *, going: Going = _always) -> Upkept:
        """Merges of any size. Never raises what FAILURES lists."""
        return self._merge(tenant, done, ROWS_MOST, going)

    def collect(self, tenant: str, done: Upkept) -> Upkept:
        """Delete what no manifest lists, and rebuild where a listed segment is gone. Raises what FAILURES lists."""
        collected = self._collection.run(tenant)
        if collected.waiting or collected.left:
            self._due.note(tenant, self._clock.now() + _DUE_AFTER)
        if collected.damaged:
            # This process may hold a segment that others no longer find.
            done = replace(done, rebuilt=self._rebuild(tenant))
        return replace(done, collected=collected)

    def _index(
        self,
        tenant: str,
        named: Iterable[str],
        going: Going,
        done: Upkept = _NOTHING,
        *,
        settle: bool = True,
    ) -> Upkept:
        before = done.rows, done.rebuilt
        for number, ids in enumerate(_batches(named)):
            if number and not going():
                # Never a word about these ids is lost: their event is repeated.
                raise Contended
            indexed, rebuilt = self._index_once(tenant, ids, settle=settle)
            done = _added(done, indexed, rebuilt)
        for _ in range(RUNS_MOST):
            if not done.left or not going():
                break
            done = _added(done, *self._index_once(tenant, (), settle=settle))
        if before != (done.rows, done.rebuilt):
            self._note_due(tenant)
        # After the swap, and before a merge: what is merged of filled segments is filled itself.
        return done if self._filling is None else replace(done, filled=self._filling.run(tenant, going=going))

    def _note_due(self, tenant: str) -> None:
        """What was indexed may expire, or be a stub whose window ends. Never raises: the weekly look serves too."""
        try:
            self._due_times.note(tenant)
        except StoreUnavailable:
            self._meter.count("due_not_noted")

    def _index_once(
        self, tenant: str, ids: tuple[str, ...], *, settle: bool
    ) -> tuple[Indexed | None, Rebuilt | None]:
        """One run; where that can't be, after a rebuild. No run where there is nothing to index at all."""
        try:
            return self._indexing.run(tenant, ids, begin=False), None
        except NeedsRebuild:
            rebuilt = self._rebuild(tenant, settle=settle)
        return self._indexing.run(tenant, ids, begin=False) if rebuilt.generation else None, rebuilt

    def _rebuild(self, tenant: str, *, settle: bool = True) -> Rebuilt:
        rebuilt = self._rebuilding.run(tenant, settle=settle)
        if rebuilt.retired:
            self._due.note(tenant, self._clock.now() + _DUE_AFTER)
        return rebuilt

    def _merge(self, tenant: str, done: Upkept, most_rows: int, going: Going) -> Upkept:
        merges, failed = 0, False
        try:
            while merges < MERGES_MOST and going() and self._merging.step(tenant, most_rows) is not None:
                merges += 1
        except NeedsRebuild:
            # Nothing to merge where nothing is; anything else the next run finds and rebuilds.
            failed = done.rebuilt is None or done.rebuilt.generation > 0
        except FAILURES:
            failed = True
        if failed:
            self._meter.count("merge_failed")
        if merges:
            self._due.note(tenant, self._clock.now() + _DUE_AFTER)
        return replace(done, merges=merges, merge_failed=failed)


def _batches(named: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The ids, as many at a time as one run takes; one empty batch where there are none."""
    ids = iter(dict.fromkeys(named))
    yield tuple(islice(ids, RUN_IDS))
    while together := tuple(islice(ids, RUN_IDS)):
        yield together


def _added(done: Upkept, indexed: Indexed | None, rebuilt: Rebuilt | None) -> Upkept:
    if indexed is None:
        return replace(done, rebuilt=rebuilt, left=0)
    return replace(
        done,
        pending=done.pending or indexed.pending,
        read=done.read + indexed.read,
        rows=done.rows + indexed.rows,
        killed=done.killed + indexed.killed,
        invalid=done.invalid + indexed.invalid,
        flaws=(*done.flaws, *indexed.flaws)[:FLAWS_SHOWN],
        markers_deleted=done.markers_deleted + indexed.markers_deleted,
        left=indexed.left,
        rebuilt=rebuilt or done.rebuilt,
    )
