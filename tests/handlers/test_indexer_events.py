"""What the indexer understands of SQS batches of S3 notifications."""

from __future__ import annotations

import json
from urllib.parse import quote_plus

import pytest

from lodestore.format.keys import MemoryName, memory
from lodestore.services.events import (
    BODY_CHARACTERS_MOST,
    MESSAGES_MOST,
    RECORDS_MOST,
    EventSource,
    NotABatch,
    Refusal,
    key_digest,
    parse_batch,
)

SOURCE = EventSource("memories-of-acme")


def record(key: str, bucket: str = "memories-of-acme") -> dict[str, object]:
    return {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": bucket}, "object": {"key": key}}}


def batch(*bodies: object) -> dict[str, object]:
    texts = (body if isinstance(body, str) else json.dumps(body) for body in bodies)
    return {"Records": [{"messageId": f"m{number}", "body": text} for number, text in enumerate(texts)]}


def notification(*keys: str) -> dict[str, object]:
    return {"Records": [record(key) for key in keys]}


@pytest.mark.case("B86")
@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.parametrize(
    "key",
    [
        "memories/acme/note-7.json",
        "memories/acme/note%2D7.json",
        "memories/acme/note-7%2Ejson",
        "memories%2Facme%2Fnote-7.json",
    ],
)
def test_a_valid_key_is_found_however_s3_encodes_it(key: str) -> None:
    (notice,) = parse_batch(batch(notification(key)), SOURCE)
    assert notice.names == (MemoryName("acme", "note-7"),)
    assert not notice.refused


@pytest.mark.case("B86")
@pytest.mark.parametrize(
    "key",
    [
        "memories/acme/note 7.json",
        "memories/acme/note+7.json",
        "memories/acme/note=7.json",
        "memories/acme/note%2B7.json",
        "memories/acme/caf\u00e9.json",
        "memories/acme/\u5e74.json",
    ],
)
def test_a_key_that_no_memory_can_have_is_counted_and_never_fatal(key: str) -> None:
    (notice,) = parse_batch(batch(notification(quote_plus(key, safe="/"), "memories/acme/fine.json")), SOURCE)
    assert notice.failed is None
    assert notice.refused == {Refusal.NOT_A_MEMORY: 1}
    assert notice.names == (MemoryName("acme", "fine"),)
    assert notice.digests == (key_digest(quote_plus(key, safe="/")),)


@pytest.mark.case("B86")
def test_a_key_is_decoded_once_so_that_one_encoded_twice_is_not_taken_for_another() -> None:
    (notice,) = parse_batch(batch(notification("memories/acme/note%252D7.json")), SOURCE)
    assert notice.names == ()
    assert notice.refused == {Refusal.NOT_A_MEMORY: 1}


@pytest.mark.case("B26")
@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize(
    "key",
    [
        "memories/..%2Fother/x.json",
        "memories/acme/..%2F..%2Fother%2Fx.json",
        "memories/acme/deep/x.json",
        "memories/acme/x",
        "memories//x.json",
        "tombstones/acme/x.json",
        "memories/acme/x.json%00",
        "Memories/acme/x.json",
        "%FF%FE",
        "",
    ],
)
def test_no_key_climbs_out_of_its_tenant(key: str) -> None:
    (notice,) = parse_batch(batch(notification(key)), SOURCE)
    assert notice.names == ()
    assert notice.refused == {Refusal.NOT_A_MEMORY: 1}


@pytest.mark.case("B89")
def test_events_of_another_bucket_name_nothing() -> None:
    (notice,) = parse_batch(batch({"Records": [record(memory("acme", "x"), "index-of-acme")]}), SOURCE)
    assert notice.names == ()
    assert notice.refused == {Refusal.OTHER_BUCKET: 1}


def test_a_store_below_a_prefix_hears_only_of_keys_below_it() -> None:
    source = EventSource("memories-of-acme", "team/state/")
    (notice,) = parse_batch(
        batch(notification("team/state/memories/acme/x.json", "memories/acme/y.json")), source
    )
    assert notice.names == (MemoryName("acme", "x"),)
    assert notice.refused == {Refusal.NOT_A_MEMORY: 1}


def test_the_test_event_of_a_new_notification_names_nothing_and_does_not_fail() -> None:
    (notice,) = parse_batch(batch({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"}), SOURCE)
    assert (notice.names, notice.refused, notice.failed) == ((), {}, None)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("not json", Refusal.NOT_JSON),
        ("[" * 100_000, Refusal.NOT_JSON),
        ("[]", Refusal.NOT_A_NOTIFICATION),
        ('{"Records": 7}', Refusal.NOT_A_NOTIFICATION),
        ('{"hello": "world"}', Refusal.NOT_A_NOTIFICATION),
        (" " * (BODY_CHARACTERS_MOST + 1), Refusal.TOO_LARGE),
        (json.dumps({"Records": [0] * (RECORDS_MOST + 1)}), Refusal.TOO_MANY_RECORDS),
    ],
)
def test_a_message_that_is_no_notification_fails_alone(body: str, why: Refusal) -> None:
    first, second = parse_batch(batch(body, notification("memories/acme/x.json")), SOURCE)
    assert (first.failed, first.names) == (why, ())
    assert (second.failed, second.names) == (None, (MemoryName("acme", "x"),))


@pytest.mark.parametrize(
    "malformed", [None, 7, "x", {}, {"s3": 1}, {"s3": {"bucket": {}, "object": {"key": 1}}}]
)
def test_a_malformed_record_is_counted_beside_the_others(malformed: object) -> None:
    (notice,) = parse_batch(batch({"Records": [malformed, record(memory("acme", "x"))]}), SOURCE)
    assert notice.names == (MemoryName("acme", "x"),)
    assert notice.refused == {Refusal.MALFORMED_RECORD: 1}


def test_an_id_named_many_times_in_a_message_is_one_name() -> None:
    (notice,) = parse_batch(batch(notification(*["memories/acme/x.json"] * 9)), SOURCE)
    assert notice.names == (MemoryName("acme", "x"),)


@pytest.mark.parametrize(
    "event",
    [
        None,
        {},
        {"Records": {}},
        {"Records": [7]},
        {"Records": [{"body": "{}"}]},
        {"Records": [{}] * (MESSAGES_MOST + 1)},
    ],
)
def test_what_is_no_sqs_batch_is_refused_whole(event: object) -> None:
    with pytest.raises(NotABatch):
        parse_batch(event, SOURCE)


def test_a_message_without_a_text_body_fails_alone() -> None:
    (notice,) = parse_batch({"Records": [{"messageId": "m", "body": None}]}, SOURCE)
    assert notice.failed is Refusal.NOT_JSON
