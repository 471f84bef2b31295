"""Memories as lines of JSON: what leaves one store and enters another.

Owns: the line of an export (JSON Lines, UTF-8, one memory or stub a line). Guarantees: the fields of the object in the
state bucket, in its order, but for the tenant, so that a file can enter any tenant and two equal stores make equal
bytes; what this version does not know, and a schema that is newer, is refused by name and never dropped.
Gives up: the vectors of earlier versions; nothing reads them.

Source: jsonlines.org; RFC 8259.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from lodestore.domain.identity import is_memory_id
from lodestore.domain.memory import SCHEMA, Memory, Record
from lodestore.format.records import InvalidRecord, record_fields, record_of

VERSIONS_MOST = 50
_VERSIONS = "versions"
# JSON allows them in a text, but many readers of lines end a line there.
_LINE_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}


class InvalidLine(Exception):
    """The line is no memory; the text names the field and why, and holds nothing of the content."""


@dataclass(frozen=True, slots=True)
class TransferLine:
    """A record on its way, and its earlier versions, newest first, each of the same life of the same id."""

    record: Record
    versions: tuple[Memory, ...] = ()


def encode_line(line: TransferLine) -> bytes:
    """The line with its end."""
    fields = _fields(line.record)
    if line.versions:
        fields[_VERSIONS] = [_fields(replace(version, embedding=None)) for version in line.versions]
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_ENDS).encode() + b"\n"


def decode_line(value: Mapping[str, object], tenant: str) -> TransferLine:
    """The line that these fields are, as it enters `tenant`. Raises InvalidLine."""
    fields = dict(value)
    earlier = fields.pop(_VERSIONS, [])
    if not isinstance(earlier, list) or len(earlier) > VERSIONS_MOST:
        raise InvalidLine(f"versions: a list of at most {VERSIONS_MOST} earlier states is allowed")
    record = _record(fields, tenant)
    versions = tuple(_version(item, record, tenant) for item in earlier)
    chain = [state.revision for state in (record, *versions)]
    if any(older >= newer for newer, older in pairwise(chain)):
        raise InvalidLine("versions: each must have a lower revision than the one before it")
    return TransferLine(record, versions)


def _fields(record: Record) -> dict[str, object]:
    return {name: value for name, value in record_fields(record).items() if name != "tenant"}


def _version(value: object, record: Record, tenant: str) -> Memory:
    version = _record(value, tenant) if isinstance(value, dict) else None
    if not isinstance(version, Memory) or not isinstance(record, Memory):
        raise InvalidLine(
            "versions: each must be an earlier state of the memory, and a forgotten one has none"
        )
    if version.id != record.id or version.created_at != record.created_at:
        raise InvalidLine("versions: each must have the id and created_at of the memory")
    return version


def _record(fields: Mapping[str, object], tenant: str) -> Record:
    _check_head(fields, tenant)
    try:
        record = record_of({**fields, "tenant": tenant})
    except InvalidRecord as why:
        raise InvalidLine(str(why)) from None
    known = record_fields(record)
    unknown = next((name for name in fields if name not in known), None)
    if unknown is not None:
        raise InvalidLine(f"{unknown[:60]!r}: no such field is known")
    if "status" in fields and fields["status"] != known["status"]:
        raise InvalidLine(f"status: {known['status']} is what superseded_by says")
    return record


def _check_head(fields: Mapping[str, object], tenant: str) -> None:
    schema = fields.get("schema")
    if schema != SCHEMA or isinstance(schema, bool):
        shown = schema if isinstance(schema, int) else type(schema).__name__
        raise InvalidLine(f"schema: {SCHEMA} is the newest that this version reads, not {str(shown)[:20]}")
    memory_id = fields.get("id")
    if not isinstance(memory_id, str) or not is_memory_id(memory_id):
        raise InvalidLine("id: 1 to 128 characters A-Z a-z 0-9 . _ - and a letter or digit first")
    if fields.get("tenant", tenant) != tenant:
        raise InvalidLine("tenant: the line is of another tenant; leave the field out to move it here")
