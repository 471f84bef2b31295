"""Segments as bytes: golden, and nothing else is taken for a segment."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from lodestore.domain.memory import MemoryType, Record, Scope, Stub
from lodestore.retrieval.bm25 import TermCounts
from lodestore.retrieval.segment import NO_EXPIRY, NO_TIME, Array, Segment
from lodestore.retrieval.segment_build import Row, build_segment
from lodestore.retrieval.segment_format import InvalidSegment, decode_segment, encode_segment
from tests.unit.retrieval.random_records import MEMORY, MODEL, START, corpora, segment, vectors

GOLDEN = Path(__file__).with_name("golden") / "segment-schema-1.safetensors"
# As it was written before `not_useful` and `last_used` were columns.
OLDER = ("segment-schema-1-without-last-used.safetensors", "segment-schema-1-without-members.safetensors")
RECORDS: list[Record] = [
    replace(
        MEMORY,
        id="id-2",
        scope=Scope.CONVERSATION,
        conversation="chat-1",
        type=MemoryType.DECISION,
        category="plans",
        content="When is the standup, 09:15?",
        tags=("a", "b"),
        importance=0.25,
        pinned=True,
        source="Nora",
        valid_from=START - timedelta(days=1),
        expires_at=START + timedelta(days=1),
        supersedes=("id-3",),
        superseded_by=("id-4",),
        version=2,
    ),
    MEMORY,
    Stub(
        id="id-1",
        tenant="acme",
        revision=MEMORY.revision,
        recent=(),
        reason=None,
        forgotten_by="writer",
        forgotten_at=START,
        idempotency=None,
        supersedes=("id-5",),
    ),
]


def golden() -> Segment:
    return decode_segment(GOLDEN.read_bytes())


def as_always() -> Segment:
    """The golden segment's rows, with terms that no tokenizer made."""
    terms = [TermCounts({"standup": 1, "09:15": 2}, 3), TermCounts({"oslo": 1, "standup": 1}, 2), None]
    embedded = [vectors(2, 1), None, None]
    rows = [
        Row(record, f"etag-{record.id}", counts, found)
        for record, counts, found in zip(RECORDS, terms, embedded, strict=True)
    ]
    return build_segment(rows, model=MODEL, dim=4, tokenizer=1)


def same(one: Segment, other: Segment) -> bool:
    return (one.model, one.tokenizer) == (other.model, other.tokenizer) and encode_segment(
        one
    ) == encode_segment(other)


def test_a_golden_segment_is_written_and_read_as_it_always_was() -> None:
    assert encode_segment(as_always()) == GOLDEN.read_bytes()
    assert same(golden(), as_always())


@pytest.mark.parametrize("name", OLDER)
def test_a_segment_of_before_a_column_was_added_is_read_as_one_with_its_default(name: str) -> None:
    arrays = dict(as_always().arrays)
    for column in ("stated", "form", "wording", "topic"):
        arrays[column] = np.zeros_like(arrays[column])
    expected = Segment(arrays, MODEL, 1)
    assert same(decode_segment(GOLDEN.with_name(name).read_bytes()), expected)


def test_what_a_segment_holds_is_read_off_its_columns() -> None:
    read = golden()
    rows = {read.text("id", row): row for row in range(len(read))}
    assert sorted(rows) == ["id-0", "id-1", "id-2"]
    full, stub = rows["id-2"], rows["id-1"]
    assert read.revision(full) == MEMORY.revision
    assert (read["stub"][stub], read["length"][stub], read["stub"][full]) == (1, 0, 0)
    assert (read["scoped"][full], read["pinned"][full], read["question"][full], read["dated"][full]) == (
        1,
        1,
        1,
        1,
    )
    assert len(read.values("tags", full)) == 2
    assert len(read.values("supersedes", stub)) == len(read.values("superseded_by", full)) == 1
    assert (read["valid_from"][rows["id-0"]], read["expires"][rows["id-0"]]) == (NO_TIME, NO_EXPIRY)


@pytest.mark.promise("P-FORGOTTEN")
@settings(deadline=None, max_examples=40)
@given(corpora())
def test_no_text_of_a_memory_is_in_a_segment(records: list[Record]) -> None:
    body = encode_segment(segment(records))
    for word in (b"standup", b"badge", b"4471", b"ERR_X9F", b"chat-1", b"plans"):
        assert word not in body


@settings(deadline=None, max_examples=40)
@given(corpora())
def test_what_is_encoded_is_decoded_again_whatever_the_order_of_the_records(records: list[Record]) -> None:
    made = segment(records)
    assert same(decode_segment(encode_segment(made)), made)
    assert encode_segment(segment(records[::-1])) == encode_segment(made)


def changed(**arrays: Array | None) -> bytes:
    """The golden segment with other arrays; None: without one."""
    body = GOLDEN.read_bytes()
    length = int.from_bytes(body[:8], "little")
    metadata = json.loads(body[8 : 8 + length])["__metadata__"]
    kept = {name: array for name, array in (load(body) | arrays).items() if array is not None}
    return save({name: np.ascontiguousarray(array) for name, array in kept.items()}, metadata=metadata)


def test_columns_of_a_newer_version_are_passed_over_and_missing_ones_have_their_default() -> None:
    assert len(decode_segment(changed(novelty=np.zeros(3, np.float64)))) == 3
    older = decode_segment(
        changed(importance=None, pinned=None, superseded_by=None, superseded_by_at=None, useful=None)
    )
    assert older["importance"].tolist() == [0.5] * 3
    assert older["pinned"].tolist() == [0] * 3
    assert [len(older.values("superseded_by", row)) for row in range(3)] == [0] * 3


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    "arrays",
    [
        {"id_hash": None},
        {"etag": None},
        {"term_at": None},
        {"id_hash": np.array([3, 2, 1], np.uint64)},
        {"id_hash": np.array(7, np.uint64)},
        {"id_hash": np.zeros((3, 1), np.uint64)},
        {"created": np.zeros(3, np.int32)},
        {"created": np.zeros(4, np.int64)},
        {"importance": np.full(3, np.nan, np.float32)},
        {"type": np.full(3, 200, np.uint8)},
        {"id": np.full(12, 200, np.uint8)},
        {"id": np.zeros(12, np.uint8)},
        {"id": np.full(12, ord("/"), np.uint8)},
        {"id": np.full(12, ord("."), np.uint8)},
        {"id_at": np.array([0, 0, 8, 12], np.uint32)},
        {"recalls": np.full(3, np.nan, np.float32)},
        {"useful": np.full(3, np.inf, np.float32)},
        {"id_at": np.array([0, 9, 4, 12], np.uint32)},
        {"id_at": np.array([1, 4, 8, 12], np.uint32)},
        {"id_at": np.array([0, 4, 8, 99], np.uint32)},
        {"id_at": np.array([0, 4, 8, 12], np.int64)},
        {"revision": np.zeros((3, 26), np.int16)},
        {"revision": np.zeros((3, 25), np.uint8)},
        {"revision": np.full((3, 26), 255, np.uint8)},
        {"revision": np.full((3, 26), ord("U"), np.uint8)},
        {"revision": np.full((3, 26), ord("8"), np.uint8)},
        {"term": np.zeros(3, np.uint64)},
        {"posting_row": np.full(4, 3, np.uint32)},
        {"posting_row": np.full(4, -1, np.int32)},
        {"posting_count": np.zeros(4, np.float32)},
        {"posting_count": np.zeros(1, np.uint16)},
        {"vector": np.zeros(4, np.int8)},
        {"vector": np.zeros((2, 4), np.float32)},
        {"vector_row": np.array([0, 9], np.uint32)},
        {"vector_scale": np.zeros(0, np.float32)},
        {"vector_scale": np.full(2, np.inf, np.float32)},
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_together_are_no_segment(arrays: dict[str, Array | None]) -> None:
    with pytest.raises(InvalidSegment):
        decode_segment(changed(**arrays))


def with_header(header: bytes, data: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + data


def described(**metadata: object) -> str:
    return json.dumps({"schema": "1", "tokenizer": "1", "model": ""} | metadata)


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00",
        b"not a segment at all",
        b"\xff" * 64,
        (1 << 63).to_bytes(8, "little") + b"{}",
        with_header(b"{}"),
        with_header(b"[" * 60_000),
        with_header(b'{"__metadata__": 7}'),
        with_header(b'{"__metadata__": {"lodestore": "[]"}}'),
        with_header(b'{"__metadata__": {"lodestore": "not json"}}'),
        with_header(json.dumps({"__metadata__": {"lodestore": described(schema="2")}}).encode()),
        with_header(json.dumps({"__metadata__": {"lodestore": described(tokenizer="x")}}).encode()),
        with_header(json.dumps({"__metadata__": {"lodestore": described(model=7)}}).encode()),
        with_header(json.dumps({"__metadata__": {"lodestore": described()}}).encode()),
        with_header(
            json.dumps(
                {
                    "__metadata__": {"lodestore": described()},
                    "id_hash": {"dtype": "U64", "shape": [1 << 60], "data_offsets": [0, 8 << 60]},
                }
            ).encode()
        ),
        with_header(
            json.dumps(
                {
                    "__metadata__": {"lodestore": described()},
                    "vector": {"dtype": "I8", "shape": [1 << 60, 0], "data_offsets": [0, 0]},
                }
            ).encode()
        ),
    ],
)
def test_foreign_bytes_are_no_segment_and_ask_for_no_memory(body: bytes) -> None:
    with pytest.raises(InvalidSegment):
        decode_segment(body)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, GOLDEN.stat().st_size - 1), st.binary(min_size=1, max_size=12))
def test_a_corrupt_segment_is_refused_or_still_one_whose_rows_can_be_read(at: int, noise: bytes) -> None:
    body = bytearray(GOLDEN.read_bytes())
    body[at : at + len(noise)] = noise
    try:
        read = decode_segment(bytes(body))
    except InvalidSegment:
        return
    for row in range(len(read)):
        read.text("id", row)
        read.text("etag", row)
        read.revision(row)
        read.values("tags", row)
    for term in read["term"].tolist():
        rows, counts = read.postings(term)
        assert len(rows) == len(counts)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, GOLDEN.stat().st_size - 1))
def test_a_segment_cut_short_is_no_segment(length: int) -> None:
    with pytest.raises(InvalidSegment):
        decode_segment(GOLDEN.read_bytes()[:length])


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=400))
def test_random_bytes_are_no_segment(body: bytes) -> None:
    with pytest.raises(InvalidSegment):
        decode_segment(body)


def test_the_model_and_the_tokenizer_are_read_from_the_bytes() -> None:
    assert golden().model == MODEL
    assert decode_segment(encode_segment(segment([], model=None))).model is None
