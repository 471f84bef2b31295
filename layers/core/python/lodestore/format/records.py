"""Memories and stubs as JSON, the one format that people read too.

Owns: schema 1 of the objects under `memories/` and `tombstones/`.
Guarantees: fields unknown to this version are refused only where the schema is newer; what decodes agrees with its
key in tenant and id. An object that does not is invalid, and says why in a word without content.
Gives up: repair. An invalid object is left as it is, counted and reported.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields as dataclass_fields
from datetime import datetime
from enum import StrEnum
from typing import TypeVar, cast

from lodestore.domain.memory import SCHEMA, Embedding, Memory, MemoryType, Record, Scope, Stub
from lodestore.domain.moments import format_moment, parse_moment
from lodestore.domain.revision import is_revision
from lodestore.format.members import member_fields, members

# What a segment's column holds.
VERSION_MOST = 2**31
# Far more than the interface takes (`limits.METADATA_DEPTH`), and no stack is exhausted by it.
METADATA_LEVELS = 64
# The second byte of a half-precision number that is infinite or none at all (IEEE 754: every bit of the exponent set).
_ENDLESS = bytes(byte for byte in range(256) if byte & 0x7C == 0x7C)
FORGOTTEN = "forgotten"
ACTIVE = "active"
SUPERSEDED = "superseded"
_NAMES = frozenset(item.name for item in (*dataclass_fields(Memory), *dataclass_fields(Stub)))
Kind = TypeVar("Kind", bound=StrEnum)


class InvalidRecord(Exception):
    """The bytes are no record for this key; the text says why, and holds nothing of them."""


def encode_record(record: Record) -> bytes:
    """The record as UTF-8 JSON, two spaces deep, vectors last."""
    return (json.dumps(record_fields(record), ensure_ascii=False, indent=2) + "\n").encode()


def record_fields(record: Record) -> dict[str, object]:
    """The record as the fields of its JSON object, in their order."""
    return _stub_fields(record) if isinstance(record, Stub) else _memory_fields(record)


def decode_record(body: bytes, tenant: str, memory_id: str) -> Record:
    """The record that `body` holds at the key of this tenant and id. Raises InvalidRecord."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidRecord("not JSON") from error
    if not isinstance(fields, dict):
        raise InvalidRecord("not an object")
    if fields.get("schema") != SCHEMA:
        raise InvalidRecord("unknown schema")
    if fields.get("tenant") != tenant or fields.get("id") != memory_id:
        raise InvalidRecord("disagrees with its key")
    return record_of(fields)


def record_of(fields: Mapping[str, object]) -> Record:
    """The record that these fields are, whatever its schema says. Raises InvalidRecord, which names the field."""
    try:
        return _stub(fields) if fields.get("status") == FORGOTTEN else _memory(fields)
    except (KeyError, ValueError, TypeError, OverflowError, binascii.Error) as error:
        # Only a name of ours is said: other errors quote the value.
        name = error.args[0] if error.args and error.args[0] in _NAMES else "a field"
        raise InvalidRecord(f"{name} is missing or malformed") from error


def _memory_fields(memory: Memory) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "id": memory.id,
        "tenant": memory.tenant,
        "scope": str(memory.scope),
        "conversation": memory.conversation,
        "type": str(memory.type),
        "category": memory.category,
        "content": memory.content,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "pinned": memory.pinned,
        "source": memory.source,
        "metadata": dict(memory.metadata),
        "created_at": format_moment(memory.created_at),
        "updated_at": format_moment(memory.updated_at),
        "valid_from": _written(memory.valid_from),
        "expires_at": _written(memory.expires_at),
        "status": SUPERSEDED if memory.superseded_by else ACTIVE,
        "supersedes": list(memory.supersedes),
        "superseded_by": list(memory.superseded_by),
        "consolidated_from": list(memory.consolidated_from),
        **_read_fields(memory),
        "version": memory.version,
        "revision": memory.revision,
        "recent": list(memory.recent),
        "origin": memory.origin,
        "idempotency": memory.idempotency,
        "embedding": _embedding_fields(memory.embedding),
    }


def _stub_fields(stub: Stub) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "id": stub.id,
        "tenant": stub.tenant,
        "status": FORGOTTEN,
        "revision": stub.revision,
        "recent": list(stub.recent),
        "reason": stub.reason,
        "forgotten_by": stub.forgotten_by,
        "forgotten_at": format_moment(stub.forgotten_at),
        "idempotency": stub.idempotency,
        "supersedes": list(stub.supersedes),
        "superseded_by": list(stub.superseded_by),
        **_read_fields(stub),
    }


def _read_fields(record: Record) -> dict[str, object]:
    """The members of a merged memory; other records have no such field."""
    reads = [member_fields(member) for member in record.consolidated_reads]
    return {"consolidated_reads": reads} if reads else {}


def _embedding_fields(embedding: Embedding | None) -> dict[str, object] | None:
    if embedding is None:
        return None
    return {
        "model": embedding.model,
        "dim": embedding.dim,
        "spans": [list(span) for span in embedding.spans],
        "f16": base64.b64encode(embedding.vectors).decode(),
    }


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else format_moment(moment)


def _memory(fields: Mapping[str, object]) -> Memory:
    return Memory(
        id=_text(fields, "id"),
        tenant=_text(fields, "tenant"),
        scope=_choice(fields, "scope", Scope),
        conversation=_optional_text(fields, "conversation"),
        type=_choice(fields, "type", MemoryType),
        category=_optional_text(fields, "category"),
        content=_content(fields),
        tags=_texts(fields, "tags"),
        importance=_fraction(fields, "importance"),
        pinned=_truth(fields, "pinned"),
        source=_optional_text(fields, "source"),
        metadata=_mapping(fields, "metadata"),
        created_at=_moment(fields, "created_at"),
        updated_at=_moment(fields, "updated_at"),
        valid_from=_optional_moment(fields, "valid_from"),
        expires_at=_optional_moment(fields, "expires_at"),
        supersedes=_texts(fields, "supersedes"),
        superseded_by=_texts(fields, "superseded_by"),
        consolidated_from=_texts(fields, "consolidated_from"),
        consolidated_reads=members(fields.get("consolidated_reads", [])),
        version=_count(fields, "version"),
        revision=_revision(fields["revision"], "revision"),
        recent=tuple(_revision(item, "recent") for item in _texts(fields, "recent")),
        origin=_optional_text(fields, "origin") or "",
        idempotency=_optional_text(fields, "idempotency"),
        embedding=_embedding(fields.get("embedding")),
    )


def _stub(fields: Mapping[str, object]) -> Stub:
    return Stub(
        id=_text(fields, "id"),
        tenant=_text(fields, "tenant"),
        revision=_revision(fields["revision"], "revision"),
        recent=tuple(_revision(item, "recent") for item in _texts(fields, "recent")),
        reason=_optional_text(fields, "reason"),
        forgotten_by=_text(fields, "forgotten_by"),
        forgotten_at=_moment(fields, "forgotten_at"),
        idempotency=_optional_text(fields, "idempotency"),
        supersedes=_texts(fields, "supersedes"),
        superseded_by=_texts(fields, "superseded_by"),
        consolidated_reads=members(fields.get("consolidated_reads", [])),
    )


def _embedding(value: object) -> Embedding | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TypeError("embedding")
    try:
        dim = _count(value, "dim")
        spans = tuple((int(start), int(end)) for start, end in value["spans"])
        vectors = base64.b64decode(_text(value, "f16"), validate=True)
        halves = vectors[1::2]
        if len(vectors) != 2 * dim * len(spans) or len(halves.translate(None, _ENDLESS)) != len(halves):
            raise ValueError("embedding")
        return Embedding(_text(value, "model"), dim, spans, vectors)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise ValueError("embedding") from error


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields[name]
    if not isinstance(value, str):
        raise TypeError(name)
    # A lone surrogate can be written in JSON, and would poison every answer that shows it.
    if _is_broken(value):
        raise ValueError(name)
    return value


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _choice(fields: Mapping[str, object], name: str, kind: type[Kind]) -> Kind:
    try:
        return kind(_text(fields, name))
    except ValueError as error:
        raise ValueError(name) from error


def _moment(fields: Mapping[str, object], name: str) -> datetime:
    try:
        return parse_moment(_text(fields, name))
    except ValueError as error:
        raise ValueError(name) from error


def _content(fields: Mapping[str, object]) -> str:
    content = _text(fields, "content")
    if not content.strip():
        raise ValueError("content")
    return content


def _optional_text(fields: Mapping[str, object], name: str) -> str | None:
    return None if fields.get(name) is None else _text(fields, name)


def _texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    values = fields.get(name, [])
    if not isinstance(values, list):
        raise TypeError(name)
    return tuple(_text({name: value}, name) for value in values)


def _optional_moment(fields: Mapping[str, object], name: str) -> datetime | None:
    return None if fields.get(name) is None else _moment(fields, name)


def _fraction(fields: Mapping[str, object], name: str) -> float:
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(name)
    return float(value)


def _count(fields: Mapping[str, object], name: str) -> int:
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= VERSION_MOST:
        raise ValueError(name)
    return value


def _truth(fields: Mapping[str, object], name: str) -> bool:
    value = fields[name]
    if not isinstance(value, bool):
        raise TypeError(name)
    return value


def _mapping(fields: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = fields.get(name) or {}
    if not isinstance(value, dict):
        raise TypeError(name)
    if _deeper_than(value, METADATA_LEVELS) or not _can_be_answered(value):
        raise ValueError(name)
    return cast("Mapping[str, object]", value)


def _can_be_answered(value: object) -> bool:
    """Not so with half a character, or a number without end."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _deeper_than(value: object, levels: int) -> bool:
    row = [value]
    for _ in range(levels):
        row = [part for item in row for part in _parts(item) if isinstance(part, dict | list)]
        if not row:
            return False
    return True


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _revision(value: object, name: str) -> str:
    if not isinstance(value, str) or not is_revision(value):
        raise ValueError(name)
    return value
