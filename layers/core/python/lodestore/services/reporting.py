"""The end of a sleep: its report is compared with the one before, made whole, and stored.

Owns: what a report says of itself. Guarantees: the requests, bytes and cost of storing it are in it, to the byte; a
sleep that was missed, or cut short twice in a row, is said and counted (P-SILENT-NEVER). A report that could not be
stored fails nothing, and says so to whoever asked for the sleep.
Gives up: other reports than the newest of before.
"""

from __future__ import annotations

from dataclasses import replace

from lodestore.domain.sleep_report import SleepReport, StepReport, Traffic
from lodestore.format.reports import encode_report
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.services.counted_store import RequestCounts
from lodestore.services.reports import Before, Reports
from lodestore.services.upkeep_steps import REPORT


class Reporting:
    """The last step of every sleep."""

    def __init__(self, reports: Reports, requests: RequestCounts, *, clock: Clock, meter: Meter) -> None:
        self._reports = reports
        self._requests = requests
        self._clock = clock
        self._meter = meter

    def finish(self, draft: SleepReport) -> SleepReport:
        """The report with this step in it, stored if the store takes it. Never raises."""
        begun, sent = self._clock.elapsed(), self._requests.traffic()
        before = self._reports.make_room(draft.tenant)
        compared = _compared(draft, before)
        step = StepReport(
            step=REPORT,
            status="done",
            counts={"stored": 1, "removed": before.removed},
            seconds=self._clock.elapsed() - begun,
            traffic=self._requests.traffic().since(sent),
        )
        whole = _with_itself(compared, step)
        self._count(whole)
        if self._reports.store(whole):
            return whole
        unstored = replace(
            step, status="skipped", why="the store did not take it", counts={"removed": before.removed}
        )
        return _with(compared, unstored)

    def _count(self, report: SleepReport) -> None:
        if report.missed:
            self._meter.count("sleep_missed")
        if report.cut_short_twice:
            self._meter.count("sleep_cut_short_twice")


def _compared(draft: SleepReport, before: Before) -> SleepReport:
    due = before.next_due
    late = 0.0 if due is None else (draft.begun_at - due).total_seconds()
    return replace(
        draft,
        late_seconds=max(0.0, late),
        incomplete_in_a_row=0 if draft.complete else before.incomplete_in_a_row + 1,
    )


def _with(report: SleepReport, step: StepReport) -> SleepReport:
    return replace(
        report,
        seconds=report.seconds + step.seconds,
        steps=(*report.steps, step),
        traffic=report.traffic.plus(step.traffic),
    )


def _with_itself(report: SleepReport, step: StepReport) -> SleepReport:
    """The report that counts the request that stores it, and its own bytes.

    A size only grows as the number that says it does, so that adding it until it no longer changes comes to an end.
    """
    size = 0
    while True:
        own = Traffic({"create": 1}, bytes_written=size)
        whole = _with(report, replace(step, traffic=step.traffic.plus(own)))
        following = len(encode_report(whole))
        if following == size:
            return whole
        size = following
