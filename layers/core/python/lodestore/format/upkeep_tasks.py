"""Pieces of maintenance as the JSON of a queue's message.

Owns: the form. Guarantees: what `encode_task` makes, `decode_task` reads; anything else raises InvalidTask with the
name of the field and never its value, before anything is done. Gives up: knowing which steps there are.
"""

from __future__ import annotations

import json
from typing import Any, Final

from lodestore.domain.upkeep_task import CONTINUED_MOST, NOTES_MOST, UpkeepTask
from lodestore.format import keys
from lodestore.settings import is_tenant

TASK: Final = "maintain"
STEPS_MOST: Final = 32
STEP_CHARACTERS: Final = 64
_FIELDS = frozenset({"task", "tenant", "steps", "notes", "compare", "continued"})


class InvalidTask(Exception):
    """The text is no task of this version; it names the field at fault."""


def encode_task(task: UpkeepTask) -> str:
    """The message's body."""
    fields = {
        "task": TASK,
        "tenant": task.tenant,
        "steps": sorted(task.steps),
        "notes": list(task.notes),
        "compare": task.compare,
        "continued": task.continued,
    }
    return json.dumps(fields, separators=(",", ":"))


def decode_task(text: str) -> UpkeepTask:
    """The task that a message holds. Raises InvalidTask."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidTask("no JSON") from None
    if not isinstance(given, dict) or given.get("task") != TASK:
        raise InvalidTask("task")
    if given.keys() - _FIELDS:
        raise InvalidTask("an unknown field")
    tenant = given.get("tenant")
    if not isinstance(tenant, str) or not is_tenant(tenant):
        raise InvalidTask("tenant")
    return UpkeepTask(
        tenant=tenant,
        steps=frozenset(_texts(given, "steps", least=1, most=STEPS_MOST, characters=STEP_CHARACTERS)),
        notes=_notes(given, tenant),
        compare=_flag(given),
        continued=_continued(given),
    )


def _texts(given: dict[str, Any], name: str, *, least: int, most: int, characters: int) -> tuple[str, ...]:
    value = given.get(name, [])
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise InvalidTask(name)
    if not all(isinstance(text, str) and 0 < len(text) <= characters for text in value):
        raise InvalidTask(name)
    return tuple(value)


def _notes(given: dict[str, Any], tenant: str) -> tuple[str, ...]:
    """Keys of this tenant's own notes: another key in a message would be deleted."""
    notes = _texts(given, "notes", least=0, most=NOTES_MOST, characters=1_024)
    if not all(keys.parse_due(note) == tenant for note in notes):
        raise InvalidTask("notes")
    return notes


def _flag(given: dict[str, Any]) -> bool:
    value = given.get("compare", False)
    if not isinstance(value, bool):
        raise InvalidTask("compare")
    return value


def _continued(given: dict[str, Any]) -> int:
    value = given.get("continued", 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= CONTINUED_MOST:
        raise InvalidTask("continued")
    return value
