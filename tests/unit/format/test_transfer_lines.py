"""Lines of an export: golden ones are read for ever, and nothing else is taken for a memory."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.format.transfer_lines import InvalidLine, TransferLine, decode_line, encode_line
from tests.unit.format.test_records import GOLDEN, MEMORY, STUB

EARLIER = replace(
    MEMORY,
    version=1,
    revision="01JNX2A5WZAAAAAAAAAAAAAAAA",
    recent=("01JNX2A5WZAAAAAAAAAAAAAAAA",),
    embedding=None,
)
LINE = TransferLine(MEMORY, (EARLIER,))


def test_golden_lines_are_written_and_read_as_they_always_were() -> None:
    golden = (GOLDEN / "export-schema-1.jsonl").read_bytes()
    lines = [LINE, TransferLine(STUB)]
    assert b"".join(map(encode_line, lines)) == golden
    assert [decode_line(json.loads(line), "acme") for line in golden.splitlines()] == lines


def test_a_line_enters_any_tenant_and_is_the_same_line_there() -> None:
    moved = decode_line(json.loads(encode_line(LINE)), "corp")
    assert (moved.record.tenant, moved.versions[0].tenant) == ("corp", "corp")
    assert encode_line(moved) == encode_line(LINE)


@given(st.text(min_size=1).filter(str.strip))
def test_whatever_a_memory_says_its_line_is_one_line(content: str) -> None:
    line = TransferLine(replace(MEMORY, content=content))
    encoded = encode_line(line)
    assert len(encoded.decode().splitlines()) == 1
    assert decode_line(json.loads(encoded), "acme") == line


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"schema": 2}, "schema: 1 is the newest that this version reads, not 2"),
        ({"schema": True}, "schema: "),
        ({"schema": "x" * 99}, "schema: 1 is the newest that this version reads, not str"),
        ({"id": "../../etc"}, "id: "),
        ({"id": 7}, "id: "),
        ({"tenant": "corp"}, "tenant: the line is of another tenant"),
        ({"mood": "good"}, "'mood': no such field is known"),
        ({"status": "active"}, "status: superseded"),
        ({"content": "\ud800"}, "content is missing or malformed"),
        ({"type": "opinion"}, "type is missing or malformed"),
        ({"created_at": "yesterday"}, "created_at is missing or malformed"),
        ({"expires_at": "2026-02-30"}, "expires_at is missing or malformed"),
        ({"recent": ["x"]}, "recent is missing or malformed"),
        ({"embedding": {"model": "m"}}, "embedding is missing or malformed"),
        ({"versions": 7}, "versions: "),
        ({"versions": [7]}, "versions: "),
        ({"versions": [{}] * 51}, "versions: a list of at most 50"),
        ({"versions": [json.loads(encode_line(TransferLine(STUB)))]}, "versions: "),
        ({"versions": [json.loads(encode_line(TransferLine(MEMORY)))]}, "versions: each must have a lower"),
    ],
)
def test_what_is_no_memory_is_refused_by_the_name_of_its_field(changed: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidLine) as refused:
        decode_line({**json.loads(encode_line(LINE)), **changed}, "acme")
    assert str(refused.value).startswith(said)
