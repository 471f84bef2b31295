"""What goes wrong in a run, decided by its seed one request at a time.

Owns: `Storm`: which request meets which fault, waits, or lets another process come in between. Guarantees: only what S3
can show (`possible_faults`); the same seed and the same requests give the same storm; every fault is counted by kind.
Some runs have few kinds of faults and many of them, so that rare meetings of two faults come about.
Gives up: stale listings, which S3 does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from random import Random

from lodestore.ports.object_store import StoreUnavailable
from tests.faults.hostile_store import Action, Fault, FaultyStore, Request, possible_faults
from tests.services.world import FakeClock

CONFLICTS = frozenset({Fault.LOST, Fault.CONTENDED, Fault.GONE})
NO_ANSWERS = frozenset(
    {Fault.UNKNOWN_BEFORE, Fault.UNKNOWN_AFTER, Fault.UNKNOWN_LATE, Fault.UNAVAILABLE_AFTER}
)
REFUSALS = frozenset({Fault.UNAVAILABLE})
CRASHES = frozenset({Fault.CRASH_BEFORE, Fault.CRASH_AFTER})
SHARES = (0.0, 0.01, 0.03, 0.08)
BETWEEN = (0.0, 0.03, 0.08, 0.15)
BUSY_SHARE = 0.3
BUSY_BETWEEN = 0.25
WAITS = (0.2, 5.0, 20.0, 45.0, 70.0, 2_000.0, 4_000.0)
# Now and then a kind of fault is met by most requests for a while, so that repeats run out.
OUTAGE_SHARE = 0.004
OUTAGE_REQUESTS = (5, 12, 30)
IN_OUTAGE = 0.8
OUTAGES = (CONFLICTS, NO_ANSWERS, REFUSALS, NO_ANSWERS | REFUSALS, NO_ANSWERS | REFUSALS)


class Storm:
    """The faults of one run."""

    def __init__(self, chance: Random, clock: FakeClock) -> None:
        self.met: Counter[str] = Counter()
        self._chance = chance
        self._clock = clock
        self._late_deletes: list[Callable[[], object]] = []
        # In some runs nothing fails, and everything comes between everything.
        busy = chance.random() < BUSY_SHARE
        shares = (0.0,) if busy else SHARES
        self._shares = {
            CONFLICTS: chance.choice(shares),
            NO_ANSWERS: chance.choice(shares),
            REFUSALS: chance.choice(shares),
            CRASHES: chance.choice(shares) / 2,
        }
        self._wait, self._late = chance.choice(shares), chance.choice(shares)
        self._between = BUSY_BETWEEN if busy else chance.choice(BETWEEN)
        self._outages = 0.0 if busy else OUTAGE_SHARE
        self._outage, self._outage_left = CONFLICTS, 0
        self.over = False

    def decide(self, store: FaultyStore, request: Request, between: Action) -> Fault | Action | None:
        """What this request meets. `between` is what other processes do before it is sent on."""
        if self.over:
            return None
        drawn = self._chance.random()
        if self._outage_left:
            self._outage_left -= 1
            return self._one_of(self._outage, request) if drawn < IN_OUTAGE else None
        if (drawn := drawn - self._outages) < 0:
            self._outage = self._chance.choice(OUTAGES)
            self._outage_left = self._chance.choice(OUTAGE_REQUESTS)
            self.met["outage"] += 1
        for kinds, share in self._shares.items():
            drawn -= share
            if drawn < 0:
                return self._one_of(kinds, request)
        if (drawn := drawn - self._wait) < 0:
            return self._waits(request)
        if (drawn := drawn - self._between) < 0:
            self.met["another process between"] += 1
            return between
        if drawn - self._late < 0 and request.operation == "delete":
            return self._deletes_late(store)
        return None

    def land(self) -> None:
        """The deletes that nobody got an answer to take effect."""
        late, self._late_deletes = self._late_deletes, []
        for delete in late:
            delete()

    def _one_of(self, kinds: frozenset[Fault], request: Request) -> Fault | None:
        possible = sorted(kinds & possible_faults(request.operation), key=lambda fault: fault.name)
        if not possible:
            return None
        fault = self._chance.choice(possible)
        self.met[fault.name.lower().replace("_", " ")] += 1
        return fault

    def _waits(self, _: Request) -> Action:
        seconds = self._chance.choice(WAITS)
        self.met["slow answer"] += 1
        return lambda _: self._clock.advance(timedelta(seconds=seconds))

    def _deletes_late(self, store: FaultyStore) -> Action:
        self.met["delete lands late"] += 1

        def action(request: Request) -> None:
            self._late_deletes.append(lambda: store.inner.delete(request.key))
            raise StoreUnavailable("no answer to a delete")

        return action
