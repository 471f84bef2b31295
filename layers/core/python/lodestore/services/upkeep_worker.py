"""One piece of maintenance done: the sleep of one tenant, as a task names it.

Owns: what becomes of a task. Guarantees: an unchanged tenant is skipped after two requests; the notes of a task are
removed only after its sleep was whole; a sleep that ran out of time, or met the bound of a step, hands on what is left
as a task of its own, which begins from what stands, so there is no checkpoint that could be lost or stale, and no lock
that could be orphaned. Gives up: handing it on; whoever called does that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lodestore.domain.sleep_report import SleepReport, StepReport
from lodestore.domain.upkeep_task import CONTINUED_MOST, UpkeepTask
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.due import Due
from lodestore.services.sleeping import CUT, Sleeping
from lodestore.services.upkeep import Upkept
from lodestore.services.upkeep_steps import REPORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What became of a task.

    report   None: the tenant was unchanged, and nothing was done
    upkept   what was done on the index
    left     the task that does the rest; None where nothing is left, or the sleep failed and is to be repeated
    """

    report: SleepReport | None = None
    upkept: Upkept | None = None
    left: UpkeepTask | None = None

    @property
    def failure(self) -> str | None:
        """The kind of the sleep's first failure."""
        return None if self.report is None else self.report.failure

    @property
    def given_up(self) -> bool:
        """Whether time ran out once too often: the next schedule finds the rest."""
        cut = self.report is not None and any(step.status == CUT for step in self.report.steps)
        return cut and self.left is None and self.failure is None


class UpkeepWorker:
    """Works on tasks of all tenants. Safe beside everything else, another run of the same task included."""

    def __init__(self, sleeping: Sleeping, due: Due) -> None:
        self._sleeping = sleeping
        self._due = due

    def work(self, task: UpkeepTask, going: Callable[[], bool]) -> Worked:
        """Do the task while `going` says that there is time. Raises what no step foresees."""
        if task.compare and self._may_skip(task.tenant):
            return Worked()
        slept = self._sleeping.run(task.tenant, task.steps, going=going)
        report = slept.report
        if report.complete and not slept.upkept.merge_failed:
            self._due.done(task.notes)
        return Worked(report=report, upkept=slept.upkept, left=_rest(task, report))

    def _may_skip(self, tenant: str) -> bool:
        try:
            return self._sleeping.may_skip(tenant)
        except StoreUnavailable:
            # The sleep meets the same store, and says what is wrong with it.
            return False


def _rest(task: UpkeepTask, report: SleepReport) -> UpkeepTask | None:
    """The steps that are not at their end, as a task."""
    steps = frozenset(step.step for step in report.steps if _is_unfinished(step))
    if not steps or report.failure is not None or task.continued >= CONTINUED_MOST:
        return None
    notes = () if report.complete else task.notes
    return replace(task, steps=steps | {REPORT}, notes=notes, compare=False, continued=task.continued + 1)


def _is_unfinished(step: StepReport) -> bool:
    if step.status == CUT:
        return True
    # An embedder that fails leaves as much the next time.
    return bool(step.counts.get("left")) and not step.counts.get("embedder_failed")
