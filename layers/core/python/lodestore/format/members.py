"""What proposals and undo records have in common as JSON: members, times, optional texts.

Owns: their outer form, and reading one field of an object, strictly. Guarantees: a field of another type raises
TypeError, a value that can't be raises ValueError; neither holds a word of it. Gives up: defaults.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from lodestore.domain.consolidation import MEMBERS_MOST
from lodestore.domain.identity import is_memory_id
from lodestore.domain.memory import Member
from lodestore.domain.moments import format_moment, parse_moment
from lodestore.domain.revision import is_revision

_DIGEST: Final = re.compile(r"[0-9a-f]{64}|[0-9]{1,15}", re.ASCII)


def as_json(fields: Mapping[str, object]) -> bytes:
    """The fields as UTF-8 JSON, two spaces deep."""
    return (json.dumps(fields, ensure_ascii=False, indent=2) + "\n").encode()


def fields_at(body: bytes, schema: int, tenant: str, object_id: str) -> Mapping[str, Any]:
    """The fields of the object at the key of this tenant and id. Raises ValueError, RecursionError."""
    fields = json.loads(body)
    if not isinstance(fields, dict) or fields.get("schema") != schema:
        raise ValueError("schema")
    if fields.get("tenant") != tenant or fields.get("id") != object_id:
        raise ValueError("disagrees with its key")
    return fields


def member_fields(member: Member) -> dict[str, str]:
    """A member as JSON."""
    return {"id": member.id, "revision": member.revision, "digest": member.digest}


def members(values: object) -> tuple[Member, ...]:
    """A list of members, at most as many as a merged memory may have."""
    if not isinstance(values, list) or len(values) > MEMBERS_MOST:
        raise TypeError("members")
    return tuple(_member(value) for value in values)


def text(fields: Mapping[str, Any], name: str) -> str:
    """A text, well-formed."""
    value = fields[name]
    if not isinstance(value, str):
        raise TypeError(name)
    value.encode()
    return value


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """A text or null."""
    return None if fields.get(name) is None else text(fields, name)


def optional_moment(fields: Mapping[str, Any], name: str) -> datetime | None:
    """A time or null."""
    value = optional_text(fields, name)
    return None if value is None else parse_moment(value)


def written(moment: datetime | None) -> str | None:
    """A time as written, or null."""
    return None if moment is None else format_moment(moment)


def _member(value: object) -> Member:
    if not isinstance(value, dict):
        raise TypeError("member")
    member = Member(text(value, "id"), text(value, "revision"), text(value, "digest"))
    if (
        not is_memory_id(member.id)
        or not is_revision(member.revision)
        or not _DIGEST.fullmatch(member.digest)
    ):
        raise ValueError("member")
    return member
