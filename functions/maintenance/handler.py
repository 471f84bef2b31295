"""The Lambda handler of maintenance: a schedule in, a report out.

Owns: the form of the event and of the answer. Guarantees: names the steps that this version has and those of
the design that it has not yet; an unknown task is an error, so that the scheduler's dead-letter queue shows it.
The log line holds counts and digests, never a tenant's name; the answer names tenants, for the operator alone.
Gives up: which tenants, in which order, for how long; `lodestore.services.dispatch` decides.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import TextIO

from aws_lambda_powertools import Logger

from lodestore.bootstrap import Lodestore, build, environment
from lodestore.domain.moments import format_moment
from lodestore.errors import InvalidArgument
from lodestore.format.reports import report_fields
from lodestore.services.dispatch import Dispatched
from lodestore.services.events import key_digest
from lodestore.services.upkeep import Upkept
from lodestore.services.upkeep_steps import STEPS

SERVICE = "maintenance"
DISPATCH = "dispatch"
ALL = "all"
STEPS_TO_COME = ("consolidate",)
FAILURES_LOGGED = 20
# Each is stored as well; an answer of Lambda's is 6 MB at most.
REPORTS_SHOWN = 20

# Set by the Lambda runtime and by nothing else.
_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"


def handler(event: object, _context: object = None) -> dict[str, object]:
    """Answer `{"task": "dispatch"}` with the report. Raises InvalidArgument, StoreUnavailable."""
    return _maintenance()(event)


class Maintenance:
    """The handler over one Lodestore."""

    def __init__(self, lodestore: Lodestore, log: TextIO) -> None:
        self._dispatch = lodestore.dispatch
        self._clock = lodestore.clock
        self._logger = _logger(log)

    def __call__(self, event: object) -> dict[str, object]:
        dispatched = self._dispatch.run(everyone=_everyone(event))
        self._log(dispatched)
        return {
            "task": DISPATCH,
            "at": format_moment(self._clock.now()),
            "steps_done": list(STEPS),
            "steps_not_in_this_version": list(STEPS_TO_COME),
            "complete": dispatched.complete and not dispatched.left and not dispatched.failed,
            "tenants_left": dispatched.left,
            "tenants_unchanged": dispatched.skipped,
            "tenants": [{"tenant": tenant, **_shown(upkept)} for tenant, upkept in dispatched.done],
            "reports": [report_fields(report) for report in dispatched.reports[:REPORTS_SHOWN]],
            "failed": [{"tenant": failure.tenant, "error": failure.kind} for failure in dispatched.failed],
        }

    def _log(self, dispatched: Dispatched) -> None:
        counts = Counter({"tenants": len(dispatched.done), "tenants_left": dispatched.left})
        counts["tenants_failed"] = len(dispatched.failed)
        for _, upkept in dispatched.done:
            counts.update(_counts(upkept))
        for report in dispatched.reports:
            counts["requests"] += sum(report.traffic.requests.values())
            counts["sleeps_not_complete"] += not report.complete
        failed = [
            {"tenant": key_digest(failure.tenant), "error": failure.kind}
            for failure in dispatched.failed[:FAILURES_LOGGED]
        ]
        say = self._logger.warning if failed or not dispatched.complete else self._logger.info
        say("report", extra={"counts": dict(counts), "failed": failed})


@cache
def _maintenance() -> Maintenance:
    variables = environment()
    return Maintenance(build(variables), sys.stdout if _ON_LAMBDA in variables else sys.stderr)


def _everyone(event: object) -> bool:
    """Whether every tenant is to be looked at, as once a week. Raises InvalidArgument for another task or form."""
    task = event.get("task") if isinstance(event, dict) else None
    if not isinstance(event, dict) or task != DISPATCH:
        raise InvalidArgument(
            "The event names no task of maintenance.",
            field="task",
            limit=DISPATCH,
            got=task[:40] if isinstance(task, str) else type(task).__name__,
            next_step=f'Send {{"task": "{DISPATCH}"}}.',
        )
    everyone = event.get(ALL, False)
    if not isinstance(everyone, bool):
        raise InvalidArgument(
            f"{ALL} is true or false.", field=ALL, limit="true | false", got=type(everyone).__name__
        )
    return everyone


def _shown(upkept: Upkept) -> dict[str, object]:
    return {
        **_counts(upkept),
        "rebuilt": None if upkept.rebuilt is None else asdict(upkept.rebuilt),
        "merge_failed": upkept.merge_failed,
        "collected": None if upkept.collected is None else asdict(upkept.collected),
        "invalid_objects": [asdict(flaw) for flaw in upkept.flaws],
    }


def _counts(upkept: Upkept) -> Mapping[str, int]:
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


def _logger(stream: TextIO) -> Logger:
    logger = Logger(service=SERVICE, level="INFO", stream=stream, utc=True, use_rfc3339=True)
    # Powertools keeps one handler for a name; the newest of a process decides where it writes.
    handler_kept = logger.registered_handler
    if isinstance(handler_kept, logging.StreamHandler):
        handler_kept.setStream(stream)
    logging.getLogger(SERVICE).propagate = False
    return logger
