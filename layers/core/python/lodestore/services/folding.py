"""Folding: flushed deltas become one snapshot, each exactly once.

Owns: the snapshot of counts, and every delete of a delta. Guarantees: no clock is compared: an instance's deltas are
folded in their sequence without a gap, the snapshot names the last one, and is swapped before a delta is deleted, so a
run that dies anywhere and one beside it count nothing twice or never (P-NO-LOST-UPDATE). Levels of use are lifted at
the time at which the store took the delta, so it matters to none when it is folded. Counts, levels and notes of a
forgotten memory leave the snapshot. What can't be read stays, and stops the folding of its instance there.
Gives up: the names of instances that ended; each costs the snapshot some 30 bytes. Notes beyond the newest 20 of a
memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import datetime

from lodestore.domain import limits
from lodestore.domain.counters import Delta, Note, Snapshot, TakenDelta, added, lifted_levels, with_all_levels
from lodestore.domain.memory import Stub
from lodestore.domain.moments import milliseconds
from lodestore.domain.use_levels import Levels
from lodestore.format import keys
from lodestore.format.counts import InvalidCounts, decode_delta, decode_snapshot, encode_snapshot
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable, Unknown, Won
from lodestore.services.truth import Truth

RUN_DELTAS = 5_000
NOTES_KEPT = 20
SNAPSHOT_BYTES = 64 * 1_048_576
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Folded:
    """What one run did; with `dry_run`, what it would do.

    deltas      folded into the snapshot; `deleted` objects went, some of them folded by an earlier run
    dropped     forgotten memories whose counts went
    left        deltas that are not folded: too many for a run, behind a gap, or not readable
    levels      of use, as they stand in the snapshot then
    """

    deltas: int = 0
    deleted: int = 0
    dropped: int = 0
    left: int = 0
    levels: Levels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Standing:
    snapshot: Snapshot
    etag: str | None


@dataclass(frozen=True, slots=True)
class _Name:
    key: str
    instance: str
    sequence: int
    at: datetime


class Folding:
    """The folding of all tenants' counts."""

    def __init__(self, index: ObjectStore, *, workers: Executor, meter: Meter) -> None:
        self._index = index
        self._workers = workers
        self._meter = meter

    def run(self, tenant: str, stubs: Collection[str], truth: Truth, *, dry_run: bool = False) -> Folded:
        """Fold up to 5,000 deltas, and leave out the counts of ids whose `stubs` still stand. Raises StoreUnavailable.

        A snapshot that can't be read is left as it is, and nothing is folded: it may hold what no delta has.
        """
        for _ in range(_TRIES):
            # Listed first: whatever a newer snapshot holds is then known to be folded.
            listed = self._listed(tenant)
            standing = self._snapshot(tenant)
            if standing is None:
                return Folded(left=len(listed))
            fresh = self._fresh(listed[:RUN_DELTAS], standing.snapshot)
            # Read after the listing: what was counted since an id was said anew is in no delta of it.
            named = {*standing.snapshot.tallies, *(m for one in fresh for m in one.delta.tallies)} & set(
                stubs
            )
            read = truth.read_many(tenant, named)
            forgotten = {m for m, one in read.items() if isinstance(one.record, Stub)}
            following = _following(standing.snapshot, fresh, forgotten)
            over = [name for name in listed if following.holds(name.instance, name.sequence)]
            dropped = len(standing.snapshot.tallies.keys() & set(forgotten))
            done = Folded(len(fresh), len(over), dropped, len(listed) - len(over), following.levels)
            if dry_run:
                return done
            if following == standing.snapshot or self._swap(tenant, standing, following):
                gone = sum(self._workers.map(self._delete, over))
                return replace(done, deleted=gone, left=done.left + len(over) - gone)
        raise StoreUnavailable("the snapshot of counts moved at every try")

    def _listed(self, tenant: str) -> list[_Name]:
        names: list[_Name] = []
        for page in self._index.list(keys.deltas_of(tenant)):
            for entry in page.entries:
                parsed = keys.parse_delta(entry.key)
                if parsed is None:
                    self._meter.count("foreign_object_skipped")
                else:
                    names.append(_Name(entry.key, *parsed, entry.last_modified))
        return names

    def _snapshot(self, tenant: str) -> _Standing | None:
        try:
            found = self._index.get(keys.counts_snapshot(tenant), max_bytes=SNAPSHOT_BYTES)
            if not isinstance(found, Found):
                return _Standing(Snapshot(), None)
            stored_at = milliseconds(found.last_modified)
            return _Standing(with_all_levels(decode_snapshot(found.body), stored_at), found.etag)
        except (InvalidCounts, ObjectTooLarge):
            self._meter.count("counts_quarantined")
            return None

    def _fresh(self, names: Iterable[_Name], snapshot: Snapshot) -> list[TakenDelta]:
        """The deltas that follow the snapshot without a gap, instance by instance."""
        by_instance: defaultdict[str, list[_Name]] = defaultdict(list)
        for name in names:
            if not snapshot.holds(name.instance, name.sequence):
                by_instance[name.instance].append(name)
        wanted = [
            name
            for instance, own in by_instance.items()
            for name in _without_gap(own, snapshot.folded.get(instance, 0))
        ]
        read = dict(zip(wanted, self._workers.map(self._delta, wanted), strict=True))
        fresh: list[TakenDelta] = []
        stopped: set[str] = set()
        for name in wanted:
            delta = read[name]
            if delta is None or name.instance in stopped:
                stopped.add(name.instance)
            else:
                fresh.append(TakenDelta(delta, milliseconds(name.at)))
        return fresh

    def _delta(self, name: _Name) -> Delta | None:
        try:
            found = self._index.get(name.key, max_bytes=limits.OBJECT_BYTES)
            return (
                decode_delta(found.body, name.instance, name.sequence) if isinstance(found, Found) else None
            )
        except (InvalidCounts, ObjectTooLarge):
            self._meter.count("counts_quarantined")
            return None

    def _swap(self, tenant: str, standing: _Standing, following: Snapshot) -> bool:
        key, body = keys.counts_snapshot(tenant), encode_snapshot(following)
        if standing.etag is None:
            outcome = self._index.create(key, body)
        else:
            outcome = self._index.replace(key, body, expected=standing.etag)
        if isinstance(outcome, Unknown):
            found = self._index.get(key, max_bytes=SNAPSHOT_BYTES)
            return isinstance(found, Found) and found.body == body
        return isinstance(outcome, Won)

    def _delete(self, name: _Name) -> bool:
        try:
            self._index.delete(name.key)
        except StoreUnavailable:
            self._meter.count("delta_left_behind")
            return False
        return True


def _without_gap(names: Iterable[_Name], folded: int) -> list[_Name]:
    """A later page of a listing may show a delta whose predecessor an earlier page was too early for."""
    following: list[_Name] = []
    for name in sorted(names, key=lambda one: one.sequence):
        if name.sequence != folded + len(following) + 1:
            break
        following.append(name)
    return following


def _following(snapshot: Snapshot, fresh: Collection[TakenDelta], forgotten: Collection[str]) -> Snapshot:
    folded = dict(snapshot.folded)
    deltas = tuple(one.delta for one in fresh)
    for delta in deltas:
        folded[delta.instance] = max(delta.sequence, folded.get(delta.instance, 0))
    tallies = added(snapshot.tallies, *(delta.tallies for delta in deltas))
    notes = (*snapshot.notes, *(note for delta in deltas for note in delta.notes))
    return Snapshot(
        {memory_id: tally for memory_id, tally in tallies.items() if memory_id not in forgotten},
        folded,
        _newest(notes, forgotten),
        lifted_levels(snapshot.levels, fresh, forgotten),
    )


def _newest(notes: Iterable[Note], forgotten: Collection[str]) -> tuple[Note, ...]:
    kept: list[Note] = []
    counts: defaultdict[str, int] = defaultdict(int)
    for note in reversed(tuple(notes)):
        if note.memory_id not in forgotten and counts[note.memory_id] < NOTES_KEPT:
            counts[note.memory_id] += 1
            kept.append(note)
    return tuple(reversed(kept))
