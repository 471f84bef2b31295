"""What an SQS batch of S3 event notifications says: which ids are dirty, and what could not be understood.

Owns: the two envelopes (SQS batch, S3 notification), what each part of them may look like, and the answer to a batch.
Guarantees: pure. A key is URL-decoded exactly once (B86); one that no memory can have is counted with a
reason, never fatal and never taken for another. Only a message that is no notification at all fails, alone,
so that its queue repeats it and then sets it aside.
Gives up: what happened. An event is only a hint that an id is dirty; order, sequencer and kind are not looked
at.

Sources: "Event message structure" in the Amazon S3 user guide; "Using Lambda with Amazon SQS" for the batch.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import unquote_plus

from lodestore.format.keys import STATE_PREFIX, MemoryName, parse_memory

MESSAGES_MOST = 10_000
BODY_CHARACTERS_MOST = 262_144
RECORDS_MOST = 1_000
SAMPLE_DIGESTS = 5
FOLDER_BUCKET = "folder"
_DIGEST_HEX = 16


def failures_of(message_ids: Iterable[str]) -> dict[str, object]:
    """The answer that has SQS send these messages of a batch again, and only these."""
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in message_ids]}


class NotABatch(Exception):
    """The event is no SQS batch, or larger than SQS can send; nothing of it was read."""


class Refusal(StrEnum):
    """Why a record was passed over, or why a message failed."""

    NOT_A_MEMORY = "key_of_no_memory"
    OTHER_BUCKET = "other_bucket"
    MALFORMED_RECORD = "malformed_record"
    NOT_JSON = "body_not_json"
    NOT_A_NOTIFICATION = "body_no_notification"
    TOO_LARGE = "body_too_large"
    TOO_MANY_RECORDS = "too_many_records"


@dataclass(frozen=True, slots=True)
class EventSource:
    """Where events must come from: the bucket, and the part of each key before the store's own keys begin."""

    bucket: str
    prefix: str = ""


def event_source(store_url: str, *, state_alone: bool = False) -> EventSource:
    """Where events of this store come from: its bucket and the state's place in it; a folder is one, too.

    state_alone   the bucket holds the state only (INDEX_STORE names another), with no folder of its own for it
    """
    scheme, _, place = store_url.partition("://")
    if scheme != "s3":
        return EventSource(FOLDER_BUCKET)
    bucket, _, prefix = place.partition("/")
    base = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return EventSource(bucket, base if state_alone else f"{base}{STATE_PREFIX}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One SQS message: the ids it names, its records passed over by reason; `failed` where it is not ours.

    digests   of at most five keys passed over, so that an operator can find them; no key is shown
    """

    message_id: str
    names: tuple[MemoryName, ...] = ()
    refused: Mapping[Refusal, int] = field(default_factory=dict)
    digests: tuple[str, ...] = ()
    failed: Refusal | None = None


def parse_batch(event: object, source: EventSource) -> tuple[Notice, ...]:
    """One notice for each message of the batch, in its order. Raises NotABatch."""
    messages = event.get("Records") if isinstance(event, dict) else None
    if not isinstance(messages, list):
        raise NotABatch("no Records")
    if len(messages) > MESSAGES_MOST:
        raise NotABatch(f"{len(messages)} messages; at most {MESSAGES_MOST}")
    return tuple(_notice(message, source) for message in messages)


def key_digest(key: str) -> str:
    """What logs show of a key: enough to tell two apart, nothing to read."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:_DIGEST_HEX]


def _notice(message: object, source: EventSource) -> Notice:
    if not isinstance(message, dict) or not isinstance(message.get("messageId"), str):
        raise NotABatch("a message without messageId")
    message_id, body = message["messageId"], message.get("body")
    if not isinstance(body, str):
        return Notice(message_id=message_id, failed=Refusal.NOT_JSON)
    if len(body) > BODY_CHARACTERS_MOST:
        return Notice(message_id=message_id, failed=Refusal.TOO_LARGE)
    try:
        notification = json.loads(body)
    except (ValueError, RecursionError):
        return Notice(message_id=message_id, failed=Refusal.NOT_JSON)
    return _notification(message_id, notification, source)


def _notification(message_id: str, notification: object, source: EventSource) -> Notice:
    records = notification.get("Records") if isinstance(notification, dict) else None
    if isinstance(notification, dict) and records is None and notification.get("Event") == "s3:TestEvent":
        return Notice(message_id=message_id)
    if not isinstance(records, list):
        return Notice(message_id=message_id, failed=Refusal.NOT_A_NOTIFICATION)
    if len(records) > RECORDS_MOST:
        return Notice(message_id=message_id, failed=Refusal.TOO_MANY_RECORDS)
    return _records(message_id, records, source)


def _records(message_id: str, records: list[object], source: EventSource) -> Notice:
    names: dict[MemoryName, None] = {}
    refused: Counter[Refusal] = Counter()
    digests: dict[str, None] = {}
    for record in records:
        bucket, encoded = _bucket_and_key(record)
        answer = _name(bucket, encoded, source)
        if isinstance(answer, MemoryName):
            names[answer] = None
            continue
        refused[answer] += 1
        if encoded is not None and len(digests) < SAMPLE_DIGESTS:
            digests[key_digest(encoded)] = None
    return Notice(message_id=message_id, names=tuple(names), refused=dict(refused), digests=tuple(digests))


def _bucket_and_key(record: object) -> tuple[str | None, str | None]:
    entity = record.get("s3") if isinstance(record, dict) else None
    if not isinstance(entity, dict):
        return None, None
    return _text(entity.get("bucket"), "name"), _text(entity.get("object"), "key")


def _text(entity: object, name: str) -> str | None:
    value = entity.get(name) if isinstance(entity, dict) else None
    return value if isinstance(value, str) else None


def _name(bucket: str | None, encoded: str | None, source: EventSource) -> MemoryName | Refusal:
    if bucket is None or encoded is None:
        return Refusal.MALFORMED_RECORD
    if bucket != source.bucket:
        return Refusal.OTHER_BUCKET
    key = unquote_plus(encoded)
    if not key.startswith(source.prefix):
        return Refusal.NOT_A_MEMORY
    return parse_memory(key.removeprefix(source.prefix)) or Refusal.NOT_A_MEMORY
