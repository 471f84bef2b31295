"""Records as JSON: golden files are read for ever, and nothing else is taken for a record."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.memory import Embedding, Member, Memory, MemoryType, Record, Scope, Stub
from lodestore.format.counts import (
    InvalidCounts,
    decode_delta,
    decode_snapshot,
    encode_delta,
    encode_snapshot,
)
from lodestore.format.records import InvalidRecord, decode_record, encode_record

GOLDEN = Path(__file__).with_name("golden")
MEMORY = Memory(
    id="m0",
    tenant="acme",
    scope=Scope.PROJECT,
    conversation="chat-1",
    type=MemoryType.DECISION,
    category="plans",
    content="Über 年 😀\nsecond line",
    tags=("a", "b"),
    importance=0.5,
    pinned=True,
    source="Nora",
    metadata={"deep": {"list": [1, 2.5, None, True]}},
    created_at=datetime(2026, 3, 9, 1, 30, tzinfo=UTC),
    updated_at=datetime(2026, 3, 9, 1, 30, 0, 123000, tzinfo=UTC),
    valid_from=datetime(2020, 1, 1, tzinfo=UTC),
    expires_at=None,
    supersedes=("m1",),
    superseded_by=("m2",),
    consolidated_from=("m3",),
    version=2,
    revision="01JNX2A5X0AAAAAAAAAAAAAAAA",
    recent=("01JNX2A5WZAAAAAAAAAAAAAAAA", "01JNX2A5X0AAAAAAAAAAAAAAAA"),
    origin="0f",
    idempotency="1e",
    embedding=Embedding("model-x", 2, ((0, 4), (4, 9)), b"\x00<\x00<\x00\x00\x00\x00"),
)
STUB = Stub(
    id="m0",
    tenant="acme",
    revision="01JNX2A5X0AAAAAAAAAAAAAAAA",
    recent=("01JNX2A5X0AAAAAAAAAAAAAAAA",),
    reason="moved",
    forgotten_by="writer",
    forgotten_at=datetime(2026, 3, 9, tzinfo=UTC),
    idempotency=None,
    supersedes=("m1",),
    superseded_by=("m2",),
)


READS = (Member("m3", "01JNX2A5X0AAAAAAAAAAAAAAAA", "0" * 64),)
MERGED = replace(MEMORY, supersedes=("m3",), consolidated_reads=READS)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("memory-schema-1.json", MEMORY),
        ("merged-memory-schema-1.json", MERGED),
        ("stub-schema-1.json", STUB),
        ("merged-stub-schema-1.json", replace(STUB, supersedes=("m3",), consolidated_reads=READS)),
    ],
)
def test_golden_records_are_written_and_read_as_they_always_were(name: str, record: Record) -> None:
    golden = (GOLDEN / name).read_bytes()
    assert encode_record(record) == golden
    assert decode_record(golden, "acme", "m0") == record


def test_golden_counts_are_written_and_read_as_they_always_were() -> None:
    delta = (GOLDEN / "delta-schema-1.json").read_bytes()
    snapshot = (GOLDEN / "snapshot-schema-1.json").read_bytes()
    assert encode_delta(decode_delta(delta, "0a1b", 7)) == delta
    assert encode_snapshot(decode_snapshot(snapshot)) == snapshot


def test_the_embedding_comes_last_so_that_a_person_reads_the_rest_first() -> None:
    assert list(json.loads(encode_record(MEMORY)))[-1] == "embedding"


@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize(
    ("tenant", "memory_id"), [("Acme", "m0"), ("acme-corp", "m0"), ("acme", "M0"), ("acme", "m1")]
)
def test_a_record_under_anothers_key_is_invalid(tenant: str, memory_id: str) -> None:
    with pytest.raises(InvalidRecord):
        decode_record(encode_record(MEMORY), tenant, memory_id)


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def _changed(**fields: object) -> bytes:
    return json.dumps(json.loads(encode_record(MEMORY)) | fields).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b"[" * 5000,
        _changed(schema=2),
        _changed(schema="1"),
        _changed(content=""),
        _changed(content="  "),
        _changed(content=7),
        _changed(content="\ud800"),
        _changed(tags="a"),
        _changed(tags=["a", 1]),
        _changed(importance=1.5),
        _changed(importance=True),
        _changed(pinned="yes"),
        _changed(type="opinion"),
        _changed(scope="everyone"),
        _changed(created_at="yesterday"),
        _changed(created_at=None),
        _changed(expires_at=5),
        _changed(version=0),
        _changed(version=10**30),
        _changed(revision="short"),
        _changed(revision="8ZZZZZZZZZAAAAAAAAAAAAAAAA"),
        _changed(recent=["x"]),
        _changed(metadata=["x"]),
        _changed(metadata={"a": "\ud800"}),
        _changed(metadata={"a": [float("nan")]}),
        _changed(metadata={"a": float("inf")}),
        _changed(metadata=nested(65)),
        _changed(metadata=nested(900)),
        _changed(embedding={"model": "m", "dim": 3, "spans": [[0, 1]], "f16": "AAAA"}),
        _changed(embedding={"model": "m", "dim": 1, "spans": [[0]], "f16": "AAA="}),
        _changed(embedding={"model": "m", "dim": 1, "spans": [[0, float("inf")]], "f16": "AAA="}),
        _changed(embedding={"model": "m", "dim": 10**30, "spans": [], "f16": ""}),
        _changed(embedding={"model": "m", "dim": 1, "spans": [[0, 1]], "f16": "AHw="}),
        _changed(embedding={"model": "m", "dim": 1, "spans": [[0, 1]], "f16": "Af4="}),
        _changed(embedding="x"),
        _changed(consolidated_reads="x"),
        _changed(consolidated_reads=[{"id": "m3"}]),
        _changed(consolidated_reads=[{"id": "m3", "revision": STUB.revision, "digest": "short"}]),
        _changed(consolidated_reads=[{"id": "../m", "revision": STUB.revision, "digest": "0" * 64}]),
        _changed(consolidated_reads=[{"id": "m", "revision": STUB.revision, "digest": "0" * 64}] * 129),
    ],
)
def test_what_is_no_record_is_invalid_and_never_half_read(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        decode_record(body, "acme", "m0")


def test_metadata_of_the_greatest_depth_is_read() -> None:
    record = decode_record(_changed(metadata=nested(64)), "acme", "m0")
    assert isinstance(record, Memory)
    assert record.metadata == nested(64)


def test_fields_that_this_version_does_not_know_are_passed_over() -> None:
    assert decode_record(_changed(colour="red"), "acme", "m0") == MEMORY


def test_a_hand_made_memory_needs_no_protocol_fields() -> None:
    fields = json.loads(encode_record(MEMORY))
    for name in (
        "recent",
        "origin",
        "idempotency",
        "superseded_by",
        "consolidated_from",
        "embedding",
        "metadata",
    ):
        del fields[name]
    record = decode_record(json.dumps(fields).encode(), "acme", "m0")
    assert isinstance(record, Memory)
    assert (record.content, record.recent, record.embedding) == (MEMORY.content, (), None)


@given(content=st.text(min_size=1).filter(str.strip), tags=st.lists(st.text()), importance=st.floats(0, 1))
def test_what_is_written_is_read_back(content: str, tags: list[str], importance: float) -> None:
    memory = replace(MEMORY, content=content, tags=tuple(tags), importance=importance)
    assert decode_record(encode_record(memory), "acme", "m0") == memory


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_invalid(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        decode_record(body, "acme", "m0")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"schema":1,"counts":{},"folded":{"a":-1}}',
        b'{"schema":1,"counts":{"m":[1]},"folded":{}}',
        b'{"schema":1,"counts":{"m":[1,0,1' + b"0" * 30 + b']},"folded":{}}',
        b'{"schema":1,"counts":{"\\ud83d":[1,0,0]},"folded":{}}',
        b'{"schema":1,"counts":{},"folded":{},"notes":[{"id":"m","useful":true,"note":"\\ud83d"}]}',
    ],
)
def test_what_is_no_snapshot_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidCounts):
        decode_snapshot(body)


@pytest.mark.parametrize("body", [b"", b"{}", b'{"schema":1,"instance":"b","sequence":7,"counts":{}}'])
def test_what_is_no_delta_of_its_key_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidCounts):
        decode_delta(body, "a", 7)
