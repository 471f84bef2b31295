"""The Lambda handler of maintenance: a schedule in, a report out; or a batch of the queue in, what to repeat out.

Owns: the forms of both events and of the answers. Guarantees: names the steps that this version has; an unknown task
is an error, so that the scheduler's dead-letter queue shows it; with a queue a schedule's event puts one message on
it for each tenant that has something to do, and without one the tenants are looked after in turn. The log line holds
counts and digests, never a tenant's name; the answer names tenants, for the operator alone. Gives up: which tenants,
in which order, for how long; `lodestore.services` decides.

Source: "Reporting batch item failures" in the AWS Lambda developer guide.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial

from lodestore.bootstrap import Lodestore, build, environment, system_clock
from lodestore.domain.moments import format_moment
from lodestore.errors import InvalidArgument, SettingsError
from lodestore.format.reports import report_fields
from lodestore.services.counters import Counters
from lodestore.services.deadlines import going_for, seconds_left
from lodestore.services.dispatch import SECONDS, Dispatched
from lodestore.services.events import failures_of
from lodestore.services.misconfigured import misconfigured_line
from lodestore.services.upkeep import Upkept
from lodestore.services.upkeep_batch import Message
from lodestore.services.upkeep_steps import STEPS
from lodestore.settings import ON_LAMBDA
from maintenance.journal import SERVICE, Journal, counts_of

DISPATCH = "dispatch"
ALL = "all"
# Each is stored as well; an answer of Lambda's is 6 MB at most.
REPORTS_SHOWN = 20
MESSAGES_MOST = 1_000
# Kept back of an invocation's time, so that the step under way can end.
RESERVE_SECONDS = 180.0

Answer = dict[str, object]


def handler(event: object, context: object = None) -> Answer:
    """Answer `{"task": "dispatch"}` with the report, or a batch of messages with those to repeat.

    Raises InvalidArgument, StoreUnavailable; SettingsError for a schedule's event where the settings are wrong.
    """
    return _maintenance()(event, context)


class Maintenance:
    """The handler over one Lodestore."""

    def __init__(self, lodestore: Lodestore, journal: Journal) -> None:
        self._dispatch = lodestore.dispatch
        self._queue = lodestore.task_queue
        self._batch = lodestore.upkeep_batch
        self._clock = lodestore.clock
        self._budget = lodestore.budget
        self._journal = journal

    def __call__(self, event: object, context: object = None) -> Answer:
        left = seconds_left(context)
        self._budget.begin(left)
        seconds = SECONDS if left is None else left - RESERVE_SECONDS
        messages = messages_of(event)
        if messages is not None:
            return self._work(messages, going_for(self._clock, seconds))
        everyone = _everyone(event)
        if self._queue is not None:
            return self._hand_out(everyone, going_for(self._clock, seconds))
        dispatched = self._dispatch.run(everyone=everyone, seconds=min(SECONDS, seconds))
        self._journal.dispatched(dispatched)
        return self._answer(_report(dispatched))

    def _work(self, messages: list[Message], going: Callable[[], bool]) -> Answer:
        if self._batch is None:
            raise InvalidArgument(
                "A message of a queue came to a process that has none.",
                field="Records",
                next_step="Set MAINTENANCE_QUEUE_URL.",
            )
        done = self._batch.work(messages, going)
        self._journal.batch(done)
        return failures_of(done.repeat)

    def _hand_out(self, everyone: bool, going: Callable[[], bool]) -> Answer:
        assert self._queue is not None
        queued = self._dispatch.queue(self._queue, everyone=everyone, going=going)
        self._journal.queued(queued)
        return self._answer(
            {
                "complete": queued.whole,
                "tenants_queued": queued.sent,
                "tenants_not_queued": queued.refused,
                "tenants_left": queued.left,
            }
        )

    def _answer(self, fields: Answer) -> Answer:
        return {
            "task": DISPATCH,
            "at": format_moment(self._clock.now()),
            "steps_done": list(STEPS),
            **fields,
        }


def messages_of(event: object) -> list[Message] | None:
    """The messages of an SQS batch; None where the event is none. Raises InvalidArgument for a broken one."""
    if not isinstance(event, dict) or "Records" not in event:
        return None
    records = event["Records"]
    if not isinstance(records, list) or len(records) > MESSAGES_MOST:
        raise InvalidArgument("The batch can't be read.", field="Records", limit=MESSAGES_MOST)
    messages = []
    for record in records:
        if not isinstance(record, dict) or not isinstance(record.get("messageId"), str):
            raise InvalidArgument("A message has no id.", field="Records.messageId")
        body = record.get("body")
        messages.append(Message(record["messageId"], body if isinstance(body, str) else ""))
    return messages


def unconfigured(reason: str, event: object, _context: object = None) -> Answer:
    """The answer where the settings are wrong: every message comes again. Raises SettingsError for a schedule."""
    sys.stdout.write(misconfigured_line(SERVICE, reason, system_clock().now()))
    sys.stdout.flush()
    messages = messages_of(event)
    if messages is None:
        raise SettingsError(reason)
    return failures_of(message.id for message in messages)


@cache
def _maintenance() -> Callable[[object, object], Answer]:
    variables = environment()
    on_lambda = ON_LAMBDA in variables
    counters = Counters()
    try:
        lodestore = build(variables, meter=counters)
    except SettingsError as error:
        if not on_lambda:
            raise
        return partial(unconfigured, str(error))
    journal = Journal(
        clock=lodestore.clock,
        log=sys.stdout if on_lambda else sys.stderr,
        metrics=sys.stdout if on_lambda else None,
        counters=counters,
    )
    return Maintenance(lodestore, journal)


def _report(dispatched: Dispatched) -> Answer:
    return {
        "complete": dispatched.complete and not dispatched.left and not dispatched.failed,
        "tenants_left": dispatched.left,
        "tenants_unchanged": dispatched.skipped,
        "tenants": [{"tenant": tenant, **_shown(upkept)} for tenant, upkept in dispatched.done],
        "reports": [report_fields(report) for report in dispatched.reports[:REPORTS_SHOWN]],
        "failed": [{"tenant": failure.tenant, "error": failure.kind} for failure in dispatched.failed],
    }


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
        **counts_of(upkept),
        "rebuilt": None if upkept.rebuilt is None else asdict(upkept.rebuilt),
        "merge_failed": upkept.merge_failed,
        "collected": None if upkept.collected is None else asdict(upkept.collected),
        "invalid_objects": [asdict(flaw) for flaw in upkept.flaws],
    }
