"""A scheduled run: the tenants that have something to do, one after the other, while there is time.

Owns: which tenants are looked at, and the time-box. Guarantees: one tenant's failure does not stop another's upkeep;
what was not reached, failed or was cut is said (P-SILENT-NEVER). A note of a tenant is removed only after its upkeep
was whole.
Gives up: order between tenants, and work on several at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from lodestore.domain.sleep_report import SleepReport
from lodestore.format import keys
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import ObjectStore, StoreUnavailable
from lodestore.services.backlog import tenants_below, tenants_with_deltas
from lodestore.services.due import Due
from lodestore.services.sleeping import Sleeping
from lodestore.services.upkeep import Upkept
from lodestore.services.upkeep_steps import EVERYTHING, ON_CHANGE, ON_NOTE

TENANTS_MOST = 10_000
# A third of the longest time that a function has, so that the step under way can end.
SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A tenant whose upkeep failed, and how; no text of an exception."""

    tenant: str
    kind: str


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What a run did, tenant by tenant.

    left       tenants for which there was no time
    complete   False: more than 10,000 tenants had something to do, and the rest was not looked at
    reports    one of each tenant that was looked at
    skipped    tenants of which nothing changed since their last whole sleep
    """

    done: tuple[tuple[str, Upkept], ...]
    failed: tuple[Failure, ...]
    left: int
    complete: bool
    reports: tuple[SleepReport, ...] = ()
    skipped: int = 0


class Dispatch:
    """The dispatcher of one deployment."""

    def __init__(
        self, state: ObjectStore, index: ObjectStore, sleeping: Sleeping, due: Due, clock: Clock
    ) -> None:
        self._state = state
        self._index = index
        self._sleeping = sleeping
        self._due = due
        self._clock = clock

    def run(self, *, everyone: bool = False, seconds: float = SECONDS) -> Dispatched:
        """Look after every tenant with markers or a passed note; with `everyone`, after each one that has memories.

        Raises StoreUnavailable where not even a listing is answered.
        """
        begun = self._clock.elapsed()

        def going() -> bool:
            return self._clock.elapsed() - begun < seconds

        passed = self._due.passed()
        changed, complete = self._changed(passed)
        tenants, all_named = (changed, complete) if not everyone else self._everyone(changed)
        complete = complete and all_named
        looked_for = frozenset(changed)
        done: list[tuple[str, Upkept]] = []
        failed: list[Failure] = []
        reports: list[SleepReport] = []
        skipped = 0
        for number, tenant in enumerate(tenants):
            if not going():
                left = len(tenants) - number
                return Dispatched(tuple(done), tuple(failed), left, complete, tuple(reports), skipped)
            if tenant not in looked_for and self._may_skip(tenant):
                skipped += 1
                continue
            steps = EVERYTHING if everyone else ON_NOTE if tenant in passed else ON_CHANGE
            slept = self._sleeping.run(tenant, steps, going=going)
            reports.append(slept.report)
            if slept.report.failure is not None:
                failed.append(Failure(tenant, slept.report.failure))
                continue
            done.append((tenant, slept.upkept))
            if slept.report.complete and not slept.upkept.merge_failed:
                self._due.done(passed.get(tenant, ()))
        return Dispatched(tuple(done), tuple(failed), 0, complete, tuple(reports), skipped)

    def _changed(self, passed: Iterable[str]) -> tuple[list[str], bool]:
        """Tenants with a passed note, a marker or a delta, and whether these are all."""
        markers = tenants_below(self._index, keys.PENDING)
        return _bounded(chain(passed, markers, tenants_with_deltas(self._index)))

    def _everyone(self, changed: Iterable[str]) -> tuple[list[str], bool]:
        """Those, and every tenant that has an index or a memory."""
        indexed = tenants_below(self._index, keys.INDEX)
        return _bounded(chain(changed, indexed, tenants_below(self._state, keys.MEMORIES)))

    def _may_skip(self, tenant: str) -> bool:
        try:
            return self._sleeping.may_skip(tenant)
        except StoreUnavailable:
            # The sleep meets the same store, and says what is wrong with it.
            return False


def _bounded(tenants: Iterable[str]) -> tuple[list[str], bool]:
    """The first 10,000 names, in order, and whether there were no more."""
    found: set[str] = set()
    for tenant in tenants:
        found.add(tenant)
        if len(found) > TENANTS_MOST:
            return sorted(found)[:TENANTS_MOST], False
    return sorted(found), True
