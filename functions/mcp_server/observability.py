"""One log line and one set of metrics for each request.

Owns: Powertools' Logger and EMF metrics, and where they are written: on Lambda to standard output, which
CloudWatch reads; on one machine the log to standard error and no EMF, because over stdio standard output is
the protocol's.
Guarantees: only a `Record`'s fields and counters' names are written; an exception appears by its type and
the place in the code that raised it, never by its text, which may hold content (P-UNTRUSTED). The SDK's own
logging, which quotes messages, is off. A counter is written with the next request.
What a request asked of storage is exact where a process serves one at a time, as on Lambda.
Gives up: traces; Powertools' Tracer costs a second of a cold start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import TextIO

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.metric_properties import MetricUnit

from lodestore.domain.sleep_report import MICRO_USD
from lodestore.ports.clock import Clock
from lodestore.services.counters import Counters
from mcp_server.exchange import NONE, Record
from mcp_server.http_event import compact_json

__all__ = ["Counters", "Observer"]

SERVICE = "mcp_server"
NAMESPACE = "Lodestore"
OK = "ok"


class Observer:
    """Writes records. Thread-safe."""

    def __init__(self, *, clock: Clock, counters: Counters, log: TextIO, metrics: TextIO | None) -> None:
        """`log` gets a JSON object a line; `metrics` gets EMF lines, None: no metrics are written."""
        self._clock = clock
        self._counters = counters
        self._metrics = metrics
        self._begun = 0
        self._lock = threading.Lock()
        self._logger = _logger(log)
        _silence_the_sdk()

    def begin(self, request_id: str) -> Record:
        """The record of a request that starts now; a request without an id gets a number."""
        with self._lock:
            self._begun += 1
            number = self._begun
        return Record(request_id=request_id or f"request-{number}", started=self._clock.elapsed())

    def finish(self, record: Record) -> None:
        """Write the request's line and metrics."""
        milliseconds = round((self._clock.elapsed() - record.started) * 1000, 3)
        counted = self._counters.take()
        fields = _fields(record) | {"ms": milliseconds}
        self._logger.info("request", extra=fields | ({"counted": dict(counted)} if counted else {}))
        if self._metrics is not None:
            self._emit(self._request_metrics(record, milliseconds))
            if counted:
                self._emit(self._counter_metrics(counted))

    def failed(self, record: Record, error: Exception) -> None:
        """Write down an exception that nobody expected, for the operator to find by the request's id."""
        self._logger.error(
            "unexpected", extra=_fields(record) | {"type": type(error).__name__, "place": _place(error)}
        )

    def _request_metrics(self, record: Record, milliseconds: float) -> EphemeralMetrics:
        metrics = self._new_metrics()
        operation = record.tool if record.tool != NONE else record.method
        metrics.add_dimension(name="operation", value=operation)
        metrics.add_dimension(name="outcome", value=record.error or OK)
        metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)
        metrics.add_metric(name="Latency", unit=MetricUnit.Milliseconds, value=milliseconds)
        metrics.add_metric(name="StorageRequests", unit=MetricUnit.Count, value=record.storage_requests)
        cost = record.traffic.cost_usd * MICRO_USD
        metrics.add_metric(name="RequestCostMicroUsd", unit=MetricUnit.NoUnit, value=round(cost, 3))
        return metrics

    def _counter_metrics(self, counted: Mapping[str, int]) -> EphemeralMetrics:
        metrics = self._new_metrics()
        for name, amount in counted.items():
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=amount)
        return metrics

    def _new_metrics(self) -> EphemeralMetrics:
        # One of its own for each request: Powertools' shared set would mix the requests of several threads.
        return EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)

    def _emit(self, metrics: EphemeralMetrics) -> None:
        line = compact_json(metrics.serialize_metric_set()) + "\n"
        with self._lock:
            if self._metrics is not None:
                self._metrics.write(line)
                self._metrics.flush()


def _logger(stream: TextIO) -> Logger:
    logger = Logger(service=SERVICE, level="INFO", stream=stream, utc=True, use_rfc3339=True)
    # Powertools keeps one handler for a name; the newest observer of a process decides where it writes.
    handler = logger.registered_handler
    if isinstance(handler, logging.StreamHandler):
        handler.setStream(stream)
    logging.getLogger(SERVICE).propagate = False
    return logger


def _silence_the_sdk() -> None:
    for name in ("mcp", "mcp_types"):
        library = logging.getLogger(name)
        library.setLevel(logging.CRITICAL + 1)
        library.propagate = False


def _fields(record: Record) -> dict[str, object]:
    return {
        "request_id": record.request_id,
        "method": record.method,
        "tool": record.tool,
        "tenant": record.tenant,
        "status": record.status,
        "error": record.error,
        "storage_requests": record.storage_requests,
    }


def _place(error: Exception) -> str:
    """Module and line that raised: code, and nothing that a caller wrote."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "" if step is None else f"{step.tb_frame.f_globals.get('__name__', '')}:{step.tb_lineno}"
