"""The Lambda handler of the indexer: an SQS batch of S3 events in, the messages to repeat out.

Owns: grouping a whole batch by tenant, so that a burst is one unit of work for each, and the partial-batch
answer. Guarantees: a message is reported as failed only where it was no notification, or the index of a tenant
that it names could not be brought up to date; every other is done, whatever stands at the key.
Gives up: order between tenants of a batch.

Source: "Reporting batch item failures" in the AWS Lambda developer guide.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache

from indexer.journal import Journal
from lodestore.bootstrap import Lodestore, build, environment
from lodestore.services.deadlines import seconds_left
from lodestore.services.events import Notice, event_source, parse_batch
from lodestore.services.upkeep import FAILURES, Upkept

# Set by the Lambda runtime and by nothing else.
_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"
# Where no one says how much time there is.
SECONDS = 300.0
# Of the time that there is, so that what is left is repeated rather than cut.
SHARE = 0.5


def handler(event: object, context: object = None) -> dict[str, object]:
    """Answer one SQS batch. Raises NotABatch, so that a wrong trigger is seen."""
    return _indexer()(event, seconds_of(context))


class Indexer:
    """The handler over one Lodestore."""

    def __init__(self, lodestore: Lodestore, journal: Journal) -> None:
        self._upkeep = lodestore.upkeep
        self._clock = lodestore.clock
        settings = lodestore.settings
        self._source = event_source(settings.store_url, state_alone=bool(settings.index_store))
        self._journal = journal

    def __call__(self, event: object, seconds: float = SECONDS) -> dict[str, object]:
        notices = parse_batch(event, self._source)
        begun = self._clock.elapsed()
        done = {
            tenant: self._index(tenant, ids, until=begun + seconds)
            for tenant, ids in _by_tenant(notices).items()
        }
        failed = [notice.message_id for notice in notices if _is_failed(notice, done)]
        self._journal.write(notices, done.values(), len(failed))
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    def _index(self, tenant: str, ids: Iterable[str], *, until: float) -> Upkept | None:
        """What was done for the tenant; None: its messages have to come again."""
        if self._clock.elapsed() >= until:
            return None
        try:
            return self._upkeep.index(tenant, ids, going=lambda: self._clock.elapsed() < until)
        except FAILURES:
            return None


@cache
def _indexer() -> Indexer:
    variables = environment()
    lodestore = build(variables)
    on_lambda = _ON_LAMBDA in variables
    journal = Journal(
        clock=lodestore.clock,
        log=sys.stdout if on_lambda else sys.stderr,
        metrics=sys.stdout if on_lambda else None,
    )
    return Indexer(lodestore, journal)


def seconds_of(context: object) -> float:
    """For how long an invocation works: a share of what Lambda leaves it."""
    left = seconds_left(context)
    return SECONDS if left is None else left * SHARE


def _by_tenant(notices: Iterable[Notice]) -> dict[str, dict[str, None]]:
    ids: dict[str, dict[str, None]] = {}
    for notice in notices:
        for name in notice.names:
            ids.setdefault(name.tenant, {})[name.id] = None
    return ids


def _is_failed(notice: Notice, done: Mapping[str, Upkept | None]) -> bool:
    return notice.failed is not None or any(done[name.tenant] is None for name in notice.names)
