"""The Lambda handler of maintenance: a schedule in, a report out.

Owns: the form of the event and of the answer. Guarantees: names the steps that this version has and those of
the design that it has not yet; an unknown task is an error, so that the scheduler's dead-letter queue shows it.
The log line holds counts, never a tenant's name.
Gives up: everything that changes something; those steps come with later versions.
"""

from __future__ import annotations

import logging
import sys
from functools import cache
from typing import TextIO

from aws_lambda_powertools import Logger

from lodestore.bootstrap import Lodestore, build, environment
from lodestore.domain.moments import format_moment
from lodestore.errors import InvalidArgument
from lodestore.services.backlog import Backlog

SERVICE = "maintenance"
DISPATCH = "dispatch"
STEPS = ("report",)
STEPS_TO_COME = (
    "index",
    "sweep",
    "embed",
    "expire",
    "prune",
    "consolidate",
    "merge",
    "purge",
    "fold_counts",
    "collect_garbage",
)

# Set by the Lambda runtime and by nothing else.
_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"


def handler(event: object, _context: object = None) -> dict[str, object]:
    """Answer `{"task": "dispatch"}` with the report. Raises InvalidArgument, StoreUnavailable."""
    return _maintenance()(event)


class Maintenance:
    """The handler over one Lodestore."""

    def __init__(self, lodestore: Lodestore, log: TextIO) -> None:
        self._backlog = Backlog(lodestore.index_store)
        self._clock = lodestore.clock
        self._logger = _logger(log)

    def __call__(self, event: object) -> dict[str, object]:
        _check_task(event)
        report = self._backlog.report()
        pending = sum(tenant.pending for tenant in report.tenants)
        counts = {"tenants": len(report.tenants), "pending": pending, "complete": report.complete}
        self._logger.info("report", extra={"counts": counts})
        return {
            "task": DISPATCH,
            "at": format_moment(self._clock.now()),
            "steps_done": list(STEPS),
            "steps_not_in_this_version": list(STEPS_TO_COME),
            "pending": pending,
            "complete": report.complete and all(tenant.complete for tenant in report.tenants),
            "tenants": [
                {"tenant": tenant.tenant, "pending": tenant.pending, "complete": tenant.complete}
                for tenant in report.tenants
            ],
        }


@cache
def _maintenance() -> Maintenance:
    variables = environment()
    return Maintenance(build(variables), sys.stdout if _ON_LAMBDA in variables else sys.stderr)


def _check_task(event: object) -> None:
    task = event.get("task") if isinstance(event, dict) else None
    if task != DISPATCH:
        raise InvalidArgument(
            "The event names no task of maintenance.",
            field="task",
            limit=DISPATCH,
            got=task[:40] if isinstance(task, str) else type(task).__name__,
            next_step=f'Send {{"task": "{DISPATCH}"}}.',
        )


def _logger(stream: TextIO) -> Logger:
    logger = Logger(service=SERVICE, level="INFO", stream=stream, utc=True, use_rfc3339=True)
    # Powertools keeps one handler for a name; the newest of a process decides where it writes.
    handler_kept = logger.registered_handler
    if isinstance(handler_kept, logging.StreamHandler):
        handler_kept.setStream(stream)
    logging.getLogger(SERVICE).propagate = False
    return logger
