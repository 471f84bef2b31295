"""The manifest as JSON: golden, small at any size, and nothing else is taken for one."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.manifest import EngineUse, Manifest, Retired, SegmentEntry
from lodestore.domain.revision import next_revision
from lodestore.format.dead_rows import dead_bytes, decode_dead, encode_dead
from lodestore.format.manifests import ROWS_MOST, InvalidManifest, decode_manifest, encode_manifest
from lodestore.services.merge_plan import DEAD_BYTES_MOST, FAN_IN

GOLDEN = Path(__file__).with_name("golden") / "manifest-schema-1.json"
OLD_GOLDEN = GOLDEN.with_name("manifest-schema-1-before-engine.json")
NOW = datetime(2026, 3, 9, 1, 30, tzinfo=UTC)
MANIFEST = Manifest(
    tenant="acme",
    generation=7,
    updated_at=NOW,
    tokenizer=1,
    model="model-x",
    segments=(
        SegmentEntry(
            name="01JNX2A5X0AAAAAAAAAAAAAAAA",
            rows=1000,
            documents=880,
            length=17_600,
            size=654_321,
            vectors=990,
            dead=tuple(range(0, 1000, 9)),
            listed_at=NOW - timedelta(hours=3),
            in_engine=True,
        ),
        SegmentEntry(
            name="01JNX2A5X0BBBBBBBBBBBBBBBB",
            rows=9,
            documents=4,
            length=80,
            size=4321,
            vectors=0,
            dead=(2, 3, 7),
        ),
    ),
    retired=(
        Retired("01JNX2A5X0CCCCCCCCCCCCCCCC", NOW - timedelta(minutes=5)),
        Retired("01JNX2A5X0DDDDDDDDDDDDDDDD", None),
    ),
    rebuilt="01JNX2A5X0EEEEEEEEEEEEEEEE",
    engine=EngineUse("mabcdefghijklmnopqrstuvwxyz234567abcdefg", "01JNX2A5X0FFFFFFFFFFFFFFFF"),
    engine_left=(Retired("mzyxwvutsrqponmlkjihgfedcba765432zyxwvut", NOW - timedelta(minutes=2)),),
)
EMPTY = Manifest(tenant="acme", generation=1, updated_at=NOW, tokenizer=1)


def test_a_golden_manifest_is_written_and_read_as_it_always_was() -> None:
    golden = GOLDEN.read_bytes()
    assert encode_manifest(MANIFEST) == golden
    assert decode_manifest(golden, "acme") == MANIFEST
    assert decode_manifest(encode_manifest(EMPTY), "acme") == EMPTY


def test_a_manifest_from_before_the_engine_says_that_nothing_is_in_it() -> None:
    before = decode_manifest(OLD_GOLDEN.read_bytes(), "acme")
    unmarked = tuple(replace(entry, in_engine=False) for entry in MANIFEST.segments)
    assert before == replace(MANIFEST, engine=None, engine_left=(), segments=unmarked)


def with_fields(**fields: object) -> bytes:
    return json.dumps(json.loads(GOLDEN.read_bytes()) | fields).encode()


def with_columns(**columns: object) -> bytes:
    segments: dict[str, Any] = json.loads(GOLDEN.read_bytes())["segments"]
    return with_fields(segments=segments | columns)


def test_fields_of_a_newer_version_are_passed_over() -> None:
    assert decode_manifest(with_fields(novelty=1), "acme") == MANIFEST
    assert decode_manifest(with_columns(novelty=[1, 2]), "acme") == MANIFEST


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe",
        with_fields(schema=2),
        with_fields(tenant="acme-corp"),
        with_fields(tenant="Acme"),
        with_fields(generation=-1),
        with_fields(generation=True),
        with_fields(generation=1.5),
        with_fields(updated_at="yesterday"),
        with_fields(model=7),
        with_fields(segments=[]),
        with_fields(segments=None),
        with_fields(retired={"name": ["a"], "at": []}),
        with_fields(retired={"name": "ab", "at": [None, None]}),
        with_fields(rebuilt=""),
        with_columns(name=["a", "a"]),
        with_columns(name=["a"]),
        with_columns(name=[1, 2]),
        with_columns(rows=[1000]),
        with_columns(rows=[1000, -9]),
        with_columns(rows=[1000, ROWS_MOST]),
        with_columns(rows=[10**30, 9]),
        with_columns(documents=["880", 4]),
        with_columns(listed_at=["2026-03-09T01:30:00.000Z", None]),
        with_columns(listed_at=[10**20, None]),
        with_fields(engine={"index": "m1", "text": 0}),
        with_fields(engine="m1"),
        with_fields(engine_left="m1"),
        with_columns(in_engine=[1]),
        with_columns(in_engine=[True, 0]),
        with_columns(dead=[[], [9, 1]]),
        with_columns(dead=[[], [0, 10]]),
        with_columns(dead=[[], [0, 0]]),
        with_columns(dead=[[], [3, 2, 4, 1]]),
        with_columns(dead=[[], [1]]),
        with_columns(dead=[[], [True, 1]]),
        with_columns(dead=[[], {"0": 1}]),
        with_columns(dead=[[], "?"]),
        with_columns(dead=[[], "AAAA"]),
        with_columns(dead=[[], encode_dead(range(0, 400, 7))]),
    ],
)
def test_what_is_no_manifest_of_this_tenant_is_refused_whole(body: bytes) -> None:
    with pytest.raises(InvalidManifest):
        decode_manifest(body, "acme")


@settings(max_examples=200, deadline=None)
@given(st.integers(0, GOLDEN.stat().st_size), st.binary(min_size=1, max_size=8))
def test_a_corrupt_manifest_is_refused_or_still_a_manifest(at: int, noise: bytes) -> None:
    body = bytearray(GOLDEN.read_bytes())
    body[at : at + len(noise)] = noise
    try:
        manifest = decode_manifest(bytes(body), "acme")
    except InvalidManifest:
        return
    assert all(entry.dead == tuple(sorted(set(entry.dead))) for entry in manifest.segments)
    assert all(not entry.dead or entry.dead[-1] < entry.rows for entry in manifest.segments)


@given(st.integers(1, 500).flatmap(lambda rows: st.tuples(st.just(rows), st.sets(st.integers(0, rows - 1)))))
def test_dead_rows_are_read_as_they_were_written(drawn: tuple[int, set[int]]) -> None:
    rows, dead = drawn[0], tuple(sorted(drawn[1]))
    assert decode_dead(json.loads(json.dumps(encode_dead(dead))), rows) == dead


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.3, 0.9])
def test_dead_rows_take_the_shorter_of_two_forms(share: float) -> None:
    rows = 20_000
    scattered = tuple(sorted(Random(1).sample(range(rows), int(rows * share))))
    assert dead_bytes(scattered) <= min(rows / 8 * 4 / 3 + 30, 7 * len(scattered) + 2)
    assert dead_bytes(tuple(range(int(rows * share)))) < 20


@pytest.mark.promise("P-BOUNDED")
def test_a_bitmap_that_unpacks_to_more_than_the_segment_has_is_refused_before_it_is_unpacked() -> None:
    bomb = base64.b64encode(zlib.compress(bytes(50_000_000), 9)).decode()
    with pytest.raises(ValueError, match="dead"):
        decode_dead(bomb, 9)


@pytest.mark.promise("P-FLAT-WRITES")
def test_the_largest_manifest_that_upkeep_leaves_leaves_room_for_a_memory_below_20_kb() -> None:
    tiers = 7
    name = next_revision(NOW, None, bytes(range(10)))
    entry = SegmentEntry(
        name=name,
        rows=199_999,
        documents=190_000,
        length=9_999_999,
        size=260_000_000,
        vectors=199_999,
        listed_at=NOW,
    )
    # Ten million memories: fifty segments that grow no more, and every tier all but full.
    listed = [replace(entry, name=f"{name[:-4]}{number:04d}") for number in range(50 + tiers * (FAN_IN - 1))]
    dead = tuple(sorted(Random(1).sample(range(199_999), 2_200)))
    assert DEAD_BYTES_MOST * 0.8 < dead_bytes(dead) < DEAD_BYTES_MOST
    listed[0] = replace(listed[0], dead=dead)
    # More than an hour of merges notes (tests/unit/domain/test_manifest.py counts them).
    retired = [Retired(f"{name[:-4]}{number:04d}", NOW) for number in range(40)]
    manifest = replace(MANIFEST, segments=tuple(listed), retired=tuple(retired))
    # A segment of one memory with a vector of 384 numbers is 3,400 bytes.
    assert len(encode_manifest(manifest)) < 16_500
