"""What maintenance writes down: one log line for each invocation, and metrics on Lambda.

Owns: Powertools' Logger and EMF metrics of this function. Guarantees: counts, kinds of failures and digests; no
content, key, id or tenant (P-UNTRUSTED); on Lambda both go to standard output, which CloudWatch reads; on one machine
the line goes to standard error and there are no metrics.
Gives up: traces; Powertools' Tracer costs a second of a cold start.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TextIO

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.metric_properties import MetricUnit

from lodestore.domain.sleep_report import MICRO_USD, SleepReport
from lodestore.ports.clock import Clock
from lodestore.services.counters import Counters
from lodestore.services.dispatch import Dispatched, Failure, Queued
from lodestore.services.events import key_digest
from lodestore.services.sleeping import CUT
from lodestore.services.upkeep import Upkept
from lodestore.services.upkeep_batch import BatchDone

SERVICE = "maintenance"
NAMESPACE = "Lodestore"
FAILURES_LOGGED = 20


class Journal:
    """Writes one invocation down. `metrics` None: no metrics."""

    def __init__(
        self, *, clock: Clock, log: TextIO, metrics: TextIO | None, counters: Counters | None = None
    ) -> None:
        """`counters`: the meter of the process, whose counts are written along."""
        self._clock = clock
        self._counters = counters or Counters()
        self._metrics = metrics
        self._logger = Logger(service=SERVICE, level="INFO", stream=log, utc=True, use_rfc3339=True)
        # Powertools keeps one handler for a name; the newest of a process decides where it writes.
        handler = self._logger.registered_handler
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(log)
        logging.getLogger(SERVICE).propagate = False

    def dispatched(self, done: Dispatched) -> None:
        """A run over tenants in turn."""
        counts = Counter({"tenants": len(done.done), "tenants_left": done.left})
        counts["tenants_failed"] = len(done.failed)
        counts["dispatches_whole"] = int(done.complete and not done.left)
        for _, upkept in done.done:
            counts.update(counts_of(upkept))
        for report in done.reports:
            counts.update(_sleep_counts(report))
        self._write("report", counts, failed=done.failed, odd=not done.complete)

    def queued(self, queued: Queued) -> None:
        """A run that put tasks on the queue."""
        counts = Counter(
            {
                "tenants_queued": queued.sent,
                "tenants_not_queued": queued.refused,
                "tenants_left": queued.left,
                "dispatches_whole": int(queued.whole),
            }
        )
        self._write("queued", counts, odd=not queued.whole)

    def batch(self, done: BatchDone) -> None:
        """A batch of the queue's messages."""
        counts = Counter(
            {
                "messages_invalid": len(done.invalid),
                "handed_on": done.handed_on,
                "messages_repeated": len(done.repeat),
            }
        )
        failed: list[Failure] = []
        for task, worked in done.worked:
            counts["sleeps_skipped"] += worked.report is None
            counts["sleeps_given_up"] += worked.given_up
            if worked.upkept is not None:
                counts.update(counts_of(worked.upkept))
            if worked.report is not None:
                counts.update(_sleep_counts(worked.report))
                counts["sleeps_cut_again"] += task.continued > 0 and _is_cut(worked.report)
            if worked.failure is not None:
                failed.append(Failure(task.tenant, worked.failure))
        odd = bool(done.invalid or done.repeat or counts["sleeps_cut_again"])
        self._write("batch", counts, failed=failed, odd=odd, invalid=sorted(set(done.invalid)))

    def _write(
        self,
        message: str,
        counts: Counter[str],
        *,
        failed: Iterable[Failure] = (),
        odd: bool,
        invalid: Iterable[str] = (),
    ) -> None:
        counts.update(self._counters.take())
        shown = [{"tenant": key_digest(one.tenant), "error": one.kind} for one in failed]
        say = self._logger.warning if shown or odd else self._logger.info
        extra: dict[str, object] = {"counts": dict(counts), "failed": shown[:FAILURES_LOGGED]}
        if fields := list(invalid):
            extra["invalid_fields"] = fields
        say(message, extra=extra)
        self._emit(counts)

    def _emit(self, counts: Mapping[str, int]) -> None:
        # Each metric costs by the month once it is written, an hourly zero as much as any other number.
        happened = {name: count for name, count in counts.items() if count}
        if self._metrics is None or not happened:
            return
        metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
        metrics.set_timestamp(self._clock.now())
        for name, count in happened.items():
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=count)
        self._metrics.write(json.dumps(metrics.serialize_metric_set(), separators=(",", ":")) + "\n")
        self._metrics.flush()


def counts_of(upkept: Upkept) -> Mapping[str, int]:
    """What was done on one tenant's index, by name."""
    return {
        "pending": upkept.pending,
        "read": upkept.read,
        "rows": upkept.rows,
        "killed": upkept.killed,
        "invalid": upkept.invalid,
        "markers_deleted": upkept.markers_deleted,
        "left": upkept.left,
        "embedded": upkept.backfilled.filled,
        "embeddings_left": upkept.backfilled.left,
        "merges": upkept.merges,
        "deleted": upkept.collected.deleted if upkept.collected is not None else 0,
    }


def _sleep_counts(report: SleepReport) -> Mapping[str, int]:
    return {
        "sleeps_whole": int(report.complete),
        "sleeps_cut": int(_is_cut(report)),
        "sleeps_failed": int(report.failure is not None),
        "requests": sum(report.traffic.requests.values()),
        "request_cost_microusd": round(report.traffic.cost_usd * MICRO_USD),
    }


def _is_cut(report: SleepReport) -> bool:
    return any(step.status == CUT for step in report.steps)
