"""Counts of use and feedback: kept in memory, flushed as deltas that only this instance writes.

Owns: this instance's deltas and the reading of totals. Guarantees: a flushed count counts exactly once: each delta
has a key of its own, and the next sequence starts only after the last was confirmed; feedback is flushed before it is
answered (design, section 6).
Gives up: recalls that an instance which stops has not flushed (at most 50 counts, or 60 seconds' worth).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from lodestore.domain import limits
from lodestore.domain.counters import (
    Delta,
    KnownUse,
    Note,
    Snapshot,
    TakenDelta,
    Tallies,
    Tally,
    added,
    lifted_levels,
    totals,
    with_all_levels,
)
from lodestore.domain.moments import milliseconds
from lodestore.errors import NotConfirmed, Unavailable
from lodestore.format import keys
from lodestore.format.counts import InvalidCounts, decode_delta, decode_snapshot, encode_delta
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, Lost, ObjectStore, ObjectTooLarge, StoreUnavailable, Won

FLUSH_SECONDS = 60.0
FLUSH_COUNTS = 50
_TRIES = 5
_DELTAS_HELD = 20_000
_SNAPSHOT_BYTES = 64 * 1_048_576


@dataclass(slots=True)
class _Unflushed:
    tallies: dict[str, Tally] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    counts: int = 0
    since: float = 0.0
    # A delta whose write was not confirmed is written again as it is before any other.
    unconfirmed: Delta | None = None
    sequence: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class _Listed:
    """A delta as listed; `at`: when the store took it, in milliseconds since 1970."""

    key: str
    instance: str
    sequence: int
    at: int


class Counts:
    """The counts of all tenants that this instance serves. Thread-safe.

    instance   a name that no other instance has, `[0-9a-z]+`
    """

    def __init__(
        self, index: ObjectStore, clock: Clock, *, instance: str, workers: Executor, meter: Meter
    ) -> None:
        self._index = index
        self._clock = clock
        self._instance = instance
        self._workers = workers
        self._meter = meter
        self._tenants: dict[str, _Unflushed] = {}
        self._lock = threading.Lock()
        self._read: dict[str, Delta] = {}

    def recalled(self, tenant: str, memory_ids: Sequence[str]) -> None:
        """Count one recall of each, in memory alone."""
        if not memory_ids:
            return
        unflushed = self._of(tenant)
        with unflushed.lock:
            self._add(unflushed, {memory_id: Tally(recalls=1) for memory_id in memory_ids})

    def flush_due(self, tenant: str, *, coming: int) -> None:
        """Flush where 60 seconds have passed, or with those to come more than 50 counts would be held. Never raises."""
        unflushed = self._of(tenant)
        with unflushed.lock:
            due = (
                unflushed.counts + coming > FLUSH_COUNTS
                or self._clock.elapsed() - unflushed.since >= FLUSH_SECONDS
            )
            if due and not self._flush(tenant, unflushed):
                self._meter.count("counts_not_flushed")

    def feedback(self, tenant: str, memory_id: str, tally: Tally, note: str | None) -> Tally:
        """Flush this feedback and give the memory's counts. Raises NotConfirmed: it goes with the next flush."""
        unflushed = self._of(tenant)
        with unflushed.lock:
            self._add(unflushed, {memory_id: tally})
            if note is not None:
                unflushed.notes.append(Note(memory_id, tally.useful > 0, note))
            if not self._flush(tenant, unflushed):
                raise NotConfirmed(
                    "The feedback was noted here and could not be stored yet.",
                    written="unknown",
                    next_step="Nothing needs to be repeated: it is stored with the next call that succeeds.",
                )
        try:
            return self.totals(tenant).get(memory_id, Tally())
        except Unavailable:
            raise NotConfirmed(
                "The feedback is stored; its counts could not be read.",
                written=True,
                memory_id=memory_id,
                next_step="Nothing needs to be repeated.",
            ) from None

    def totals(self, tenant: str) -> Mapping[str, Tally]:
        """Flushed counts of all instances, and this one's own unflushed ones. Raises Unavailable."""
        return self.known(tenant).tallies

    def known(self, tenant: str) -> KnownUse:
        """The same with the levels of use that they give. Raises Unavailable."""
        unflushed = self._of(tenant)
        # Held throughout: a flush in between would count twice, or not at all.
        with unflushed.lock:
            try:
                snapshot, taken = self._stored(tenant)
            except StoreUnavailable:
                raise Unavailable("The store did not answer a read.") from None
            own: list[Tallies] = [unflushed.tallies]
            late = unflushed.unconfirmed
            if late is not None and late.sequence not in {
                one.delta.sequence for one in taken if one.delta.instance == self._instance
            }:
                own.append(late.tallies)
        now = milliseconds(self._clock.now())
        mine = [TakenDelta(Delta(self._instance, 0, tallies), now) for tallies in own]
        return KnownUse(
            added(totals(snapshot, (one.delta for one in taken)), *own),
            lifted_levels(snapshot.levels, [*taken, *mine]),
        )

    def flush(self) -> None:
        """Flush everything, as far as the store lets it; for a clean stop."""
        with self._lock:
            tenants = list(self._tenants.items())
        for tenant, unflushed in tenants:
            with unflushed.lock:
                if not self._flush(tenant, unflushed):
                    self._meter.count("counts_not_flushed")

    def _of(self, tenant: str) -> _Unflushed:
        with self._lock:
            return self._tenants.setdefault(tenant, _Unflushed(since=self._clock.elapsed()))

    @staticmethod
    def _add(unflushed: _Unflushed, tallies: Mapping[str, Tally]) -> None:
        unflushed.tallies = added(unflushed.tallies, tallies)
        unflushed.counts += len(tallies)

    def _flush(self, tenant: str, unflushed: _Unflushed) -> bool:
        """Write the unconfirmed delta, then what came since; False where one of them was not confirmed."""
        if unflushed.unconfirmed is not None and not self._write(tenant, unflushed.unconfirmed):
            return False
        unflushed.unconfirmed = None
        if not unflushed.tallies:
            return True
        unflushed.sequence += 1
        delta = Delta(self._instance, unflushed.sequence, unflushed.tallies, tuple(unflushed.notes))
        unflushed.unconfirmed = delta
        unflushed.tallies, unflushed.notes, unflushed.counts = {}, [], 0
        unflushed.since = self._clock.elapsed()
        if not self._write(tenant, delta):
            return False
        unflushed.unconfirmed = None
        return True

    def _write(self, tenant: str, delta: Delta) -> bool:
        key = keys.counts_delta(tenant, delta.instance, delta.sequence)
        for _ in range(_TRIES):
            try:
                outcome = self._index.create(key, encode_delta(delta))
                # Only this instance writes this key, so one that is there already is our own.
                there = isinstance(outcome, Lost) and isinstance(
                    self._index.get(key, max_bytes=limits.OBJECT_BYTES), Found
                )
            except (StoreUnavailable, ObjectTooLarge):
                return False
            if there or isinstance(outcome, Won):
                return True
        return False

    def _snapshot(self, tenant: str) -> Snapshot:
        try:
            found = self._index.get(keys.counts_snapshot(tenant), max_bytes=_SNAPSHOT_BYTES)
            if not isinstance(found, Found):
                return Snapshot()
            return with_all_levels(decode_snapshot(found.body), milliseconds(found.last_modified))
        except (InvalidCounts, ObjectTooLarge):
            self._meter.count("counts_quarantined")
            return Snapshot()

    def _stored(self, tenant: str) -> tuple[Snapshot, list[TakenDelta]]:
        """The snapshot, and the deltas beside it that it does not hold.

        Deltas are listed before the snapshot is read, since folding writes the snapshot before it deletes them. One
        that went in between is in a newer snapshot, so the whole is read again.
        """
        for _ in range(_TRIES):
            listed = self._listed(tenant)
            snapshot = self._snapshot(tenant)
            wanted = [item for item in listed if not snapshot.holds(item.instance, item.sequence)]
            deltas = list(self._workers.map(self._delta, wanted))
            if None not in deltas:
                found = zip(deltas, wanted, strict=True)
                return snapshot, [TakenDelta(delta, item.at) for delta, item in found if delta is not None]
        raise StoreUnavailable("counts moved under every reading")

    def _listed(self, tenant: str) -> list[_Listed]:
        return [
            _Listed(entry.key, *name, milliseconds(entry.last_modified))
            for page in self._index.list(keys.deltas_of(tenant))
            for entry in page.entries
            if (name := keys.parse_delta(entry.key)) is not None
        ]

    def _delta(self, item: _Listed) -> Delta | None:
        """The delta, or None where it is gone. One that can't be read counts nothing, and is counted as such."""
        key = item.key
        if key in self._read:
            return self._read[key]
        try:
            found = self._index.get(key, max_bytes=limits.OBJECT_BYTES)
            if not isinstance(found, Found):
                return None
            delta = decode_delta(found.body, item.instance, item.sequence)
        except (InvalidCounts, ObjectTooLarge):
            self._meter.count("counts_quarantined")
            delta = Delta(item.instance, item.sequence, {})
        if len(self._read) >= _DELTAS_HELD:
            self._read.clear()
        self._read[key] = delta
        return delta
