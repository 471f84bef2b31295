"""A scheduled run: the tenants that have something to do, each as a task, done in turn or put on a queue.

Owns: which tenants are looked at and for what, and the time-box. Guarantees: one tenant's failure does not stop
another's upkeep; what was not reached, failed, was cut or could not be queued is said (P-SILENT-NEVER). A tenant that
has nothing to do costs its share of three listings and no message.
Gives up: order between tenants. Queued twice, a tenant is looked after twice, and the second time finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from lodestore.domain.sleep_report import SleepReport
from lodestore.domain.upkeep_task import NOTES_MOST, UpkeepTask
from lodestore.format import keys
from lodestore.format.upkeep_tasks import encode_task
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import ObjectStore
from lodestore.ports.task_queue import TaskQueue
from lodestore.services.backlog import tenants_below, tenants_with_deltas
from lodestore.services.deadlines import going_for
from lodestore.services.due import Due
from lodestore.services.upkeep import Upkept
from lodestore.services.upkeep_steps import EVERYTHING, ON_CHANGE, ON_NOTE
from lodestore.services.upkeep_worker import UpkeepWorker

TENANTS_MOST = 10_000
# With a queue a tenant costs a tenth of a request here.
QUEUED_MOST = 100_000
# Messages between two looks at the clock.
SENT_TOGETHER = 1_000
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


@dataclass(frozen=True, slots=True)
class Queued:
    """What a run put on the queue.

    sent       tasks, one for each tenant
    refused    tasks of which it is not sure that the queue has them; `left`: those for which there was no time
    complete   False: more than 100,000 tenants had something to do, and the rest was not looked at
    """

    sent: int
    refused: int
    left: int
    complete: bool

    @property
    def whole(self) -> bool:
        """Whether every tenant that has something to do is on the queue."""
        return self.complete and not self.refused and not self.left


class Dispatch:
    """The dispatcher of one deployment."""

    def __init__(
        self, state: ObjectStore, index: ObjectStore, worker: UpkeepWorker, due: Due, clock: Clock
    ) -> None:
        self._state = state
        self._index = index
        self._worker = worker
        self._due = due
        self._clock = clock

    def run(self, *, everyone: bool = False, seconds: float = SECONDS) -> Dispatched:
        """Look after every tenant with markers or a passed note; with `everyone`, after each one that has memories.

        Raises StoreUnavailable where not even a listing is answered.
        """
        going = going_for(self._clock, seconds)
        tasks, complete = self._plan(everyone=everyone, most=TENANTS_MOST)
        done: list[tuple[str, Upkept]] = []
        failed: list[Failure] = []
        reports: list[SleepReport] = []
        skipped = 0
        for number, task in enumerate(tasks):
            if not going():
                left = len(tasks) - number
                return Dispatched(tuple(done), tuple(failed), left, complete, tuple(reports), skipped)
            worked = self._worker.work(task, going)
            if worked.report is None or worked.upkept is None:
                skipped += 1
                continue
            reports.append(worked.report)
            if worked.failure is not None:
                failed.append(Failure(task.tenant, worked.failure))
                continue
            done.append((task.tenant, worked.upkept))
        return Dispatched(tuple(done), tuple(failed), 0, complete, tuple(reports), skipped)

    def queue(
        self, queue: TaskQueue, *, everyone: bool = False, going: Callable[[], bool] = lambda: True
    ) -> Queued:
        """Put one task on the queue for each of these tenants. Raises StoreUnavailable, as `run`."""
        tasks, complete = self._plan(everyone=everyone, most=QUEUED_MOST)
        sent, refused = 0, 0
        for begin in range(0, len(tasks), SENT_TOGETHER):
            if not going():
                return Queued(sent, refused, len(tasks) - begin, complete)
            together = tasks[begin : begin + SENT_TOGETHER]
            lost = len(queue.send([encode_task(task) for task in together]))
            sent, refused = sent + len(together) - lost, refused + lost
        return Queued(sent, refused, 0, complete)

    def _plan(self, *, everyone: bool, most: int) -> tuple[list[UpkeepTask], bool]:
        """A task for each tenant that is to be looked at, and whether these are all."""
        passed = self._due.passed()
        changed, complete = self._changed(passed, most)
        tenants, all_named = (changed, complete) if not everyone else self._everyone(changed, most)
        looked_for = frozenset(changed)
        tasks = [
            UpkeepTask(
                tenant=tenant,
                steps=EVERYTHING if everyone else ON_NOTE if tenant in passed else ON_CHANGE,
                notes=passed.get(tenant, ())[:NOTES_MOST],
                compare=tenant not in looked_for,
            )
            for tenant in tenants
        ]
        return tasks, complete and all_named

    def _changed(self, passed: Iterable[str], most: int) -> tuple[list[str], bool]:
        """Tenants with a passed note, a marker or a delta, and whether these are all."""
        markers = tenants_below(self._index, keys.PENDING)
        return _bounded(chain(passed, markers, tenants_with_deltas(self._index)), most)

    def _everyone(self, changed: Iterable[str], most: int) -> tuple[list[str], bool]:
        """Those, and every tenant that has an index or a memory."""
        indexed = tenants_below(self._index, keys.INDEX)
        return _bounded(chain(changed, indexed, tenants_below(self._state, keys.MEMORIES)), most)


def _bounded(tenants: Iterable[str], most: int) -> tuple[list[str], bool]:
    """The first `most` names, in order, and whether there were no more."""
    found: set[str] = set()
    for tenant in tenants:
        found.add(tenant)
        if len(found) > most:
            return sorted(found)[:most], False
    return sorted(found), True
