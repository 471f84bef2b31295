"""What the indexer writes down: one log line for each batch, and metrics on Lambda.

Owns: Powertools' Logger and EMF metrics of this function. Guarantees: counts, reasons, digests and ETags; no
content, key, id or tenant (P-UNTRUSTED). On Lambda both go to standard output, which CloudWatch reads; on one
machine the line goes to standard error and there are no metrics.
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

from lodestore.ports.clock import Clock
from lodestore.services.counters import Counters
from lodestore.services.events import Notice
from lodestore.services.upkeep import Upkept

SERVICE = "indexer"
NAMESPACE = "Lodestore"
DETAILS_SHOWN = 20
ORDINARY = ("messages", "tenants", "read", "rows", "killed", "markers_deleted", "rebuilt", "merges")


class Journal:
    """Writes one batch down. `metrics` None: no metrics."""

    def __init__(
        self, *, clock: Clock, log: TextIO, metrics: TextIO | None, counters: Counters | None = None
    ) -> None:
        """`counters`: the meter of the process, whose counts are metrics as well."""
        self._clock = clock
        self._counters = counters or Counters()
        self._metrics = metrics
        self._logger = Logger(service=SERVICE, level="INFO", stream=log, utc=True, use_rfc3339=True)
        handler = self._logger.registered_handler
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(log)
        logging.getLogger(SERVICE).propagate = False

    def write(
        self,
        notices: Iterable[Notice],
        reports: Iterable[Upkept | None],
        failures: int,
        age_seconds: float | None = None,
    ) -> None:
        """One line, at WARNING where something was refused, invalid, left or failed. A report None: a tenant failed.

        age_seconds   how old the oldest change was when the index showed it; None: nobody said
        """
        counts, details = _counts(tuple(notices), tuple(reports))
        counts.update({"failures": failures} if failures else {})
        ordinary = counts.total() == sum(counts[name] for name in ORDINARY)
        say = self._logger.info if ordinary else self._logger.warning
        say("batch", extra={"counts": dict(counts), **details})
        self._emit(counts, age_seconds)

    def _emit(self, counts: Mapping[str, int], age_seconds: float | None) -> None:
        counted = self._counters.take()
        if self._metrics is None:
            return
        metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
        metrics.set_timestamp(self._clock.now())
        for name, count in counts.items():
            metrics.add_metric(name=f"indexer_{name}", unit=MetricUnit.Count, value=count)
        for name, count in counted.items():
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=count)
        if age_seconds is not None:
            metrics.add_metric(
                name="indexer_index_age_seconds", unit=MetricUnit.Seconds, value=round(age_seconds, 3)
            )
        self._metrics.write(json.dumps(metrics.serialize_metric_set(), separators=(",", ":")) + "\n")
        self._metrics.flush()


def _counts(
    notices: tuple[Notice, ...], reports: tuple[Upkept | None, ...]
) -> tuple[Counter[str], dict[str, object]]:
    counts = Counter({"messages": len(notices), "tenants": len(reports)})
    for notice in notices:
        counts.update({f"refused_{reason}": count for reason, count in notice.refused.items()})
        if notice.failed is not None:
            counts[f"refused_{notice.failed}"] += 1
    for report in reports:
        counts.update({"tenants_failed": 1} if report is None else _counts_of(report))
    flaws = [flaw for report in reports if report is not None for flaw in report.flaws]
    invalid = [{"key": flaw.digest, "etag": flaw.etag, "reason": flaw.reason} for flaw in flaws]
    refused = sorted({digest for notice in notices for digest in notice.digests})
    return +counts, {"invalid": invalid[:DETAILS_SHOWN], "refused_keys": refused[:DETAILS_SHOWN]}


def _counts_of(report: Upkept) -> dict[str, int]:
    return {
        "read": report.read,
        "rows": report.rows,
        "killed": report.killed,
        "invalid": report.invalid,
        "markers_deleted": report.markers_deleted,
        "left": report.left,
        "rebuilt": report.rebuilt is not None,
        "merges": report.merges,
        "merges_failed": report.merge_failed,
    }
