"""The Lambda handler of the indexer: an SQS batch of S3 events in, the messages to repeat out.

Owns: grouping a whole batch by tenant, so that a burst is one unit of work for each, and the partial-batch
answer. Guarantees: a message is reported as failed only where it was no notification or a memory that it
names could not be read; every other is done, whatever stands at the key.
Gives up: the index. In this version a batch is looked at, counted and reported; what is not indexed yet,
recall finds by its marker.

Source: "Reporting batch item failures" in the AWS Lambda developer guide.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from indexer.journal import Journal
from lodestore.bootstrap import Lodestore, build, environment
from lodestore.domain.limits import PARALLEL_READS
from lodestore.format.keys import MemoryName
from lodestore.services.events import Notice, event_source, parse_batch
from lodestore.services.intake import Intake, IntakeReport

# Set by the Lambda runtime and by nothing else.
_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"


def handler(event: object, _context: object = None) -> dict[str, object]:
    """Answer one SQS batch. Raises NotABatch, so that a wrong trigger is seen."""
    return _indexer()(event)


class Indexer:
    """The handler over one Lodestore."""

    def __init__(self, lodestore: Lodestore, journal: Journal) -> None:
        # Threads of its own: a burst of events must not stand in the way of a recall in the same process.
        workers = ThreadPoolExecutor(PARALLEL_READS, thread_name_prefix="intake")
        self._intake = Intake(lodestore.state_store, workers=workers)
        self._source = event_source(lodestore.settings.store_url)
        self._journal = journal

    def __call__(self, event: object) -> dict[str, object]:
        notices = parse_batch(event, self._source)
        reports = {tenant: self._intake.inspect(tenant, ids) for tenant, ids in _by_tenant(notices).items()}
        failed = [notice.message_id for notice in notices if _is_failed(notice, reports)]
        self._journal.write(notices, reports.values(), len(failed))
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


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


def _by_tenant(notices: Iterable[Notice]) -> dict[str, dict[str, None]]:
    ids: dict[str, dict[str, None]] = {}
    for notice in notices:
        for name in notice.names:
            ids.setdefault(name.tenant, {})[name.id] = None
    return ids


def _is_failed(notice: Notice, reports: Mapping[str, IntakeReport]) -> bool:
    return notice.failed is not None or any(_is_unread(name, reports) for name in notice.names)


def _is_unread(name: MemoryName, reports: Mapping[str, IntakeReport]) -> bool:
    return name.id in reports[name.tenant].unread
