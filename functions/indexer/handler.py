"""The Lambda handler of the indexer: an SQS batch of S3 events in, the messages to repeat out.

Owns: grouping a whole batch by tenant, so that a burst is one unit of work for each, and the partial-batch
answer. Guarantees: a message is reported as failed only where it was no notification, or the index of a tenant
that it names could not be brought up to date; every other is done, whatever stands at the key.
Gives up: order between tenants of a batch.

Source: "Reporting batch item failures" in the AWS Lambda developer guide.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial

from indexer.journal import SERVICE, Journal
from lodestore.bootstrap import Lodestore, build, environment, system_clock
from lodestore.errors import SettingsError
from lodestore.services.counters import Counters
from lodestore.services.deadlines import seconds_left
from lodestore.services.events import (
    MESSAGES_MOST,
    NotABatch,
    Notice,
    event_source,
    failures_of,
    parse_batch,
)
from lodestore.services.misconfigured import misconfigured_line
from lodestore.services.upkeep import FAILURES, Upkept
from lodestore.settings import ON_LAMBDA

# Where nothing ends a run: a folder's feed waits for it.
SECONDS = 300.0
# Kept back of an invocation's time, so that the step under way can end, and what is left is repeated rather than cut.
RESERVE_SECONDS = 120.0

Answer = dict[str, object]


def handler(event: object, context: object = None) -> Answer:
    """Answer one SQS batch. Raises NotABatch, so that a wrong trigger is seen."""
    return _indexer()(event, context)


class Indexer:
    """The handler over one Lodestore."""

    def __init__(self, lodestore: Lodestore, journal: Journal) -> None:
        self._upkeep = lodestore.upkeep
        self._clock = lodestore.clock
        self._budget = lodestore.budget
        settings = lodestore.settings
        self._source = event_source(settings.store_url, state_alone=bool(settings.index_store))
        self._journal = journal

    def __call__(self, event: object, context: object = None) -> Answer:
        notices = parse_batch(event, self._source)
        left = seconds_left(context)
        self._budget.begin(left)
        until = self._clock.elapsed() + (SECONDS if left is None else left - RESERVE_SECONDS)
        done = {tenant: self._index(tenant, ids, until=until) for tenant, ids in _by_tenant(notices).items()}
        failed = [notice.message_id for notice in notices if _is_failed(notice, done)]
        self._journal.write(notices, done.values(), len(failed), self._age(event))
        return failures_of(failed)

    def _age(self, event: object) -> float | None:
        """Seconds since the oldest message was put on the queue, by the queue's clock and ours."""
        sent = [moment for message in _records(event) if (moment := _sent_at(message)) is not None]
        return max(0.0, self._clock.now().timestamp() - min(sent)) if sent else None

    def _index(self, tenant: str, ids: Iterable[str], *, until: float) -> Upkept | None:
        """What was done for the tenant; None: its messages have to come again."""
        if self._clock.elapsed() >= until:
            return None
        try:
            return self._upkeep.index(tenant, ids, going=lambda: self._clock.elapsed() < until)
        except FAILURES:
            return None


def unconfigured(reason: str, event: object, _context: object = None) -> Answer:
    """The answer where the settings are wrong: every message comes again. Raises NotABatch."""
    sys.stdout.write(misconfigured_line(SERVICE, reason, system_clock().now()))
    sys.stdout.flush()
    if not isinstance(event, dict) or not 0 < len(_records(event)) <= MESSAGES_MOST:
        raise NotABatch("no Records")
    return failures_of(str(message.get("messageId")) for message in _records(event))


def _records(event: object) -> list[Mapping[str, object]]:
    records = event.get("Records") if isinstance(event, dict) else None
    return [one for one in records if isinstance(one, dict)] if isinstance(records, list) else []


def _sent_at(message: Mapping[str, object]) -> float | None:
    """When SQS took the message, in seconds since 1970; None where it does not say."""
    attributes = message.get("attributes")
    sent = attributes.get("SentTimestamp") if isinstance(attributes, dict) else None
    return int(sent) / 1000 if isinstance(sent, str) and sent.isascii() and sent.isdigit() else None


@cache
def _indexer() -> Callable[[object, object], Answer]:
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
    return Indexer(lodestore, journal)


def _by_tenant(notices: Iterable[Notice]) -> dict[str, dict[str, None]]:
    ids: dict[str, dict[str, None]] = {}
    for notice in notices:
        for name in notice.names:
            ids.setdefault(name.tenant, {})[name.id] = None
    return ids


def _is_failed(notice: Notice, done: Mapping[str, Upkept | None]) -> bool:
    return notice.failed is not None or any(done[name.tenant] is None for name in notice.names)
