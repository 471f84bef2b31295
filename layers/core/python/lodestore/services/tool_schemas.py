"""The input schemas of the tools, as models read them.

Owns: JSON Schema 2020-12 of each tool's arguments, with limits in words, since some clients drop the keywords.
Guarantees: the names are exactly those that the tool accepts (a test compares them); unknown ones are refused.
Gives up: the forgiving forms ("5" for 5, one text for a list); they are recovery, not an invitation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lodestore.domain.memory import MemoryType
from lodestore.services.listing import Sort, Wanted
from lodestore.services.proposal_listing import Wanted as ProposalsWanted
from lodestore.services.reading import Level
from lodestore.services.recall import Mode
from lodestore.services.upkeep_steps import STEPS

Schema = dict[str, object]


def _described(shape: Schema, description: str) -> Schema:
    return {**shape, "description": description} if description else shape


def _text(description: str = "") -> Schema:
    return _described({"type": "string"}, description)


def _texts(description: str = "") -> Schema:
    return _described({"type": "array", "items": {"type": "string"}}, description)


def _number(description: str = "") -> Schema:
    return _described({"type": "number"}, description)


def _whole(description: str = "") -> Schema:
    return _described({"type": "integer"}, description)


def _flag(description: str = "") -> Schema:
    return _described({"type": "boolean"}, description)


def _one_of(values: Iterable[str], description: str = "") -> Schema:
    return _described({"enum": [str(value) for value in values]}, description)


def _schema(required: tuple[str, ...], **properties: Schema) -> Schema:
    shape: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return shape | {"required": list(required)} if required else shape


_STATED: Mapping[str, Schema] = {
    "content": _text("One statement that stands alone, 1 to 32,000 bytes."),
    "type": _one_of(MemoryType),
    "category": _text(),
    "tags": _texts("At most 32."),
    "importance": _number("0 to 1"),
    "pinned": _flag(),
    "source": _text("Who or what said it."),
    "metadata": {"type": "object", "description": "At most 4,096 bytes."},
    "ttl_days": _number("Days until it expires."),
    "expires_at": _text("Instead of ttl_days."),
    "valid_from": _text("True since."),
    "supersedes": _texts("Ids that this replaces."),
}


def _bare(schema: Schema) -> Schema:
    """The schema by its type alone: said once in full is enough of a model's context."""
    return {"type": schema.get("type", "string")} | ({"items": schema["items"]} if "items" in schema else {})


_FILTERS: Mapping[str, Schema] = {
    "type": _texts("Any of these."),
    "category": _text(),
    "tags": _texts("All of these."),
    "since": _text("Stored at or after this time."),
    "until": _text("Stored before it."),
}

SCHEMAS: Mapping[str, Schema] = {
    "remember": _schema(
        ("content",),
        **_STATED,
        scope=_one_of(("project", "conversation"), "conversation: seen only in this conversation."),
        id=_text("Normally left out."),
        idempotency_key=_text("The same key stores once."),
    ),
    "recall": _schema(
        ("query",),
        query=_text('At most 2,000 characters; "words", -word, tag:x, type:x, before:t, after:t work.'),
        mode=_one_of(Mode, "Default balanced."),
        limit=_whole("1 to 50; default 3, 5 or 10 by mode."),
        **_FILTERS,
        as_of=_text("As it held then."),
        include_superseded=_flag(),
        min_score=_number("0 to 1"),
        explain=_flag(),
        max_bytes=_whole("Of the answer; default 32000."),
    ),
    "memory_context": _schema(
        (),
        query=_text(),
        max_tokens=_whole("50 to 8,000; default 1000."),
        types=_texts(),
    ),
    "get_memory": _schema(
        ("id",),
        id=_text(),
        level=_one_of(Level, "Default full."),
        history=_flag(),
    ),
    "list_memories": _schema(
        (),
        **_FILTERS,
        status=_one_of(Wanted, "Default active."),
        sort=_one_of(Sort, "Default newest."),
        limit=_whole("1 to 100; default 20."),
        cursor=_text("next_cursor of the page before."),
    ),
    "memory_stats": _schema(()),
    "update_memory": _schema(
        ("id",),
        id=_text(),
        expected_version=_whole("Refuse if it is another."),
        **{name: _bare(schema) for name, schema in _STATED.items()},
        clear=_texts("Fields to empty."),
    ),
    "forget": _schema(("id",), id=_text(), reason=_text("At most 500 bytes.")),
    "memory_feedback": _schema(
        ("id", "useful"), id=_text(), useful=_flag(), note=_text("At most 500 bytes.")
    ),
    "restore_memory": _schema(("id",), id=_text()),
    "list_proposals": _schema(
        (),
        status=_one_of(ProposalsWanted, "Default pending."),
        limit=_whole("1 to 100; default 20."),
        cursor=_text("next_cursor of the page before."),
    ),
    "decide_proposal": _schema(
        ("id", "accept"), id=_text(), accept=_flag(), note=_text("Why; at most 500 bytes.")
    ),
    "undo": _schema(("id",), id=_text()),
    "maintain": _schema(
        (),
        steps=_described({"type": "array", "items": {"enum": list(STEPS)}}, "Default all."),
        dry_run=_flag("Change nothing."),
    ),
}
