"""Sleeping: the steps of maintenance for one tenant, and the report of what they did.

Owns: the order of the steps, the time-box, what a dry run of each is. Guarantees: each step can run alone; one that
fails is said by its kind and stops no other (P-SILENT-NEVER); a dry run writes nothing at all, not even its report;
killed anywhere and run again, the final state is the same, since every step begins from what stands (P-IDEMPOTENT).
Gives up: the steps themselves, which are services of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.domain.sleep_report import ACTIONS_SHOWN, SleepReport, StepReport, is_complete
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.counted_store import RequestCounts
from lodestore.services.due_times import DueTimes
from lodestore.services.reporting import Reporting
from lodestore.services.step_runs import Moved, StepRuns
from lodestore.services.unchanged import Unchanged
from lodestore.services.upkeep import FAILURES, Upkept
from lodestore.services.upkeep_steps import EVERYTHING, REPORT, STEPS

Progress = Callable[[StepReport], None]
DONE: Final = "done"
FAILED: Final = "failed"
CUT: Final = "cut"


@dataclass(frozen=True, slots=True)
class Slept:
    """A sleep's report, and what was done on the index."""

    report: SleepReport
    upkept: Upkept = field(default_factory=Upkept)


def _unseen(_: StepReport) -> None:
    """Progress that nobody looks at."""


class Sleeping:
    """Sleeps of all tenants. Safe beside everything else, another sleep of the same tenant included."""

    def __init__(
        self,
        runs: StepRuns,
        due_times: DueTimes,
        reporting: Reporting,
        requests: RequestCounts,
        unchanged: Unchanged,
        *,
        clock: Clock,
        entropy: Entropy,
        meter: Meter,
    ) -> None:
        self._runs = runs
        self._due_times = due_times
        self._reporting = reporting
        self._requests = requests
        self._unchanged = unchanged
        self._clock = clock
        self._entropy = entropy
        self._meter = meter

    def run(
        self,
        tenant: str,
        steps: Collection[str] = EVERYTHING,
        *,
        dry_run: bool = False,
        going: Callable[[], bool] = lambda: True,
        progress: Progress = _unseen,
    ) -> Slept:
        """Run these steps in the order of STEPS. Raises what no step foresees, and nothing that FAILURES lists.

        going      asked before each step, and within the long ones, whether there is time for more
        progress   called after each step
        """
        begun_at, begun, sent = self._clock.now(), self._clock.elapsed(), self._requests.traffic()
        done: list[StepReport] = []
        this = self._runs.begin(tenant, frozenset(steps), dry_run=dry_run, going=going)
        for step in (name for name in STEPS if name in steps and name != REPORT):
            done.append(self._step(step, this.run, going))
            progress(done[-1])
        next_due = None if dry_run else self._next_due(tenant)
        if (
            not dry_run
            and is_complete(done)
            and not this.more
            and this.swept is not None
            and set(steps) >= EVERYTHING
        ):
            self._unchanged.note(tenant, this.swept.objects, self._runs.rules_of(tenant).off)

        report = SleepReport(
            id=next_revision(self._clock.now(), None, self._entropy.token(RANDOM_BYTES)),
            tenant=tenant,
            dry_run=dry_run,
            begun_at=begun_at,
            ended_at=self._clock.now(),
            seconds=self._clock.elapsed() - begun,
            steps=tuple(done),
            traffic=self._requests.traffic().since(sent),
            next_due=next_due,
        )
        if REPORT in steps and not dry_run and REPORT not in self._runs.rules_of(tenant).off:
            report = self._reporting.finish(report)
            progress(report.steps[-1])
        if not report.complete:
            self._meter.count("sleep_not_complete")
        return Slept(report, this.upkept)

    def may_skip(self, tenant: str) -> bool:
        """Whether a whole sleep would find nothing to do, but for what notes of time say. Raises StoreUnavailable.

        Policies of pruning go by time without a note, so with one nothing is skipped.
        """
        rules = self._runs.rules_of(tenant)
        return not rules.policies and self._unchanged.holds(tenant, rules.off)

    def _step(self, step: str, run: Callable[[str], Moved], going: Callable[[], bool]) -> StepReport:
        if not going():
            return StepReport(step=step, status=CUT, why="no time was left")
        begun, sent = self._clock.elapsed(), self._requests.traffic()
        try:
            moved = run(step)
            status, why = (DONE, None) if moved.skipped is None else ("skipped", moved.skipped)
            if moved.failed is not None:
                status, why = FAILED, moved.failed
                self._meter.count(f"sleep_{step}_failed")
        except FAILURES as error:
            moved, status, why = Moved(), FAILED, type(error).__name__
            self._meter.count(f"sleep_{step}_failed")
        return StepReport(
            step=step,
            status=status,
            why=why,
            counts=moved.counts,
            actions=moved.actions[:ACTIONS_SHOWN],
            actions_left=len(moved.actions[ACTIONS_SHOWN:]),
            seconds=self._clock.elapsed() - begun,
            traffic=self._requests.traffic().since(sent),
        )

    def _next_due(self, tenant: str) -> datetime | None:
        try:
            return self._due_times.note(tenant)
        except StoreUnavailable:
            self._meter.count("due_not_noted")
            return None
