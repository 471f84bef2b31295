"""Undo records as JSON that people read too.

Owns: schema 1 of the objects under `undo/`. Guarantees: what decodes agrees with its key in tenant and id; what is
malformed or of a newer schema raises InvalidUndo. Gives up: repair.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lodestore.domain.moments import format_moment, parse_moment
from lodestore.domain.undo_record import UndoKind, UndoRecord
from lodestore.format.members import (
    as_json,
    fields_at,
    member_fields,
    members,
    optional_moment,
    optional_text,
    text,
    written,
)

SCHEMA = 1


class InvalidUndo(Exception):
    """The bytes are no undo record for this key."""


def encode_undo(record: UndoRecord) -> bytes:
    """The record as UTF-8 JSON."""
    fields = {
        "schema": SCHEMA,
        "id": record.id,
        "tenant": record.tenant,
        "kind": str(record.kind),
        "by": record.by,
        "conversation": record.conversation,
        "result": record.result,
        "originals": [member_fields(member) for member in record.originals],
        "made_at": format_moment(record.made_at),
        "undone_at": written(record.undone_at),
        "undone_by": record.undone_by,
    }
    return as_json(fields)


def decode_undo(body: bytes, tenant: str, undo_id: str) -> UndoRecord:
    """The record at the key of this tenant and id. Raises InvalidUndo."""
    try:
        return _record(fields_at(body, SCHEMA, tenant, undo_id))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidUndo("undo") from error


def _record(fields: Mapping[str, Any]) -> UndoRecord:
    return UndoRecord(
        id=text(fields, "id"),
        tenant=text(fields, "tenant"),
        kind=UndoKind(text(fields, "kind")),
        by=text(fields, "by"),
        conversation=optional_text(fields, "conversation"),
        result=optional_text(fields, "result"),
        originals=members(fields["originals"]),
        made_at=parse_moment(text(fields, "made_at")),
        undone_at=optional_moment(fields, "undone_at"),
        undone_by=optional_text(fields, "undone_by"),
    )
