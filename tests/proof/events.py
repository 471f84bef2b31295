"""S3 events as the indexer's queue brings them, and a store that makes them.

Owns: `NotifyingStore` (each write that took effect below `memories/` is noted), `batch_of` (an SQS batch of S3
notifications). Guarantees: a write that lands late is noted when it lands, as S3 does.
Gives up: the queue. Who holds the notes decides what comes late, twice, in another order or never.

Sources: "Event message structure" in the Amazon S3 user guide; "Using Lambda with Amazon SQS".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote_plus

from lodestore.format.keys import MEMORIES
from lodestore.ports.object_store import (
    Found,
    GetOutcome,
    Missing,
    ObjectStore,
    Page,
    Version,
    Won,
    WriteOutcome,
)
from lodestore.services.events import FOLDER_BUCKET


class NotifyingStore:
    """An ObjectStore around another. `notify` gets the key of each memory object that was written."""

    def __init__(self, inner: ObjectStore, notify: Callable[[str], object]) -> None:
        self._inner = inner
        self._notify = notify

    def create(self, key: str, body: bytes) -> WriteOutcome:
        return self._noted(key, self._inner.create(key, body))

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        return self._noted(key, self._inner.replace(key, body, expected=expected))

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        return self._inner.get(key, known_etag=known_etag, max_bytes=max_bytes)

    def delete(self, key: str) -> None:
        self._inner.delete(key)

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        return self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page_size=page_size)

    def versions(self, prefix: str) -> Iterator[Version]:
        return self._inner.versions(prefix)

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        return self._inner.get_version(key, version_id, max_bytes=max_bytes)

    def delete_version(self, key: str, version_id: str) -> None:
        self._inner.delete_version(key, version_id)

    def _noted(self, key: str, outcome: WriteOutcome) -> WriteOutcome:
        if isinstance(outcome, Won) and key.startswith(MEMORIES):
            self._notify(key)
        return outcome


def record_of(key: str, *, bucket: str = FOLDER_BUCKET, encoded: str | None = None) -> dict[str, object]:
    """One record of a notification: a write of `key`, encoded as S3 does, or as given."""
    shown = quote_plus(key, safe="/") if encoded is None else encoded
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "eventName": "ObjectCreated:Put",
        "s3": {"bucket": {"name": bucket}, "object": {"key": shown, "sequencer": "0055AED6DCD90281E5"}},
    }


def message_of(number: int, records: Iterable[object]) -> dict[str, object]:
    """One message of the queue."""
    return {"messageId": f"m{number}", "body": json.dumps({"Records": list(records)})}


def batch_of(*messages: Iterable[object]) -> dict[str, object]:
    """An SQS batch; of each message the records of its notification. Messages are named m0, m1, …"""
    return {"Records": [message_of(number, records) for number, records in enumerate(messages)]}
