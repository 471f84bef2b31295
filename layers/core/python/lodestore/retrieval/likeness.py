"""What two memories must have in common to be merged, or compared by a person, as numbers for the index.

Owns: the columns `form`, `wording` and `topic`. Guarantees: equal forms only where two memories say the same in the
same words (`sameness`) and agree in scope, type, category, source, metadata and times, so that no filter finds the one
and not the other, and the favourite colour of two people stays each one's; equal wordings where they agree in all that
and may say it in other forms of the words; equal topics where both say something of the same (`contradictions`) in one
scope. 0 where there is none: an event has no form, since the same words twice are two events. Tags and importance may
differ; a merge keeps all tags and the highest importance.
Gives up: numbers of another version; what was indexed under one is not compared until it is indexed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from lodestore.domain.memory import Memory, MemoryType, Scope
from lodestore.domain.moments import format_moment
from lodestore.retrieval.contradictions import topic_of
from lodestore.retrieval.hashing import NOTHING, hash64
from lodestore.retrieval.sameness import Reading, read

LIKENESS_VERSION: Final = 3
"""Raised whenever one of the numbers of any memory changes."""


def likeness(memory: Memory) -> dict[str, int]:
    """Column to number."""
    reading = read(memory.content)
    topic = topic_of(memory.content, reading)
    event = memory.type is MemoryType.EVENT
    return {
        "form": NOTHING if event else _form(memory, reading),
        "wording": NOTHING if event or reading.language is None else _wording(memory, reading),
        "topic": NOTHING if event or topic is None else _number(["topic", *_scope(memory), topic.key]),
    }


def merge_form(memory: Memory) -> int:
    """The column `form` alone."""
    return NOTHING if memory.type is MemoryType.EVENT else _form(memory, read(memory.content))


def _form(memory: Memory, reading: Reading) -> int:
    return _number(["form", *_fields(memory), reading.same_form])


def _wording(memory: Memory, reading: Reading) -> int:
    return _number(["wording", *_fields(memory), reading.language, list(reading.wording)])


def _scope(memory: Memory) -> list[object]:
    return [str(memory.scope), memory.conversation if memory.scope is Scope.CONVERSATION else None]


def _fields(memory: Memory) -> list[object]:
    times = (memory.valid_from, memory.expires_at)
    return [
        *_scope(memory),
        str(memory.type),
        memory.category,
        memory.source,
        memory.metadata,
        *(None if moment is None else format_moment(moment) for moment in times),
    ]


def _number(parts: Sequence[object]) -> int:
    return hash64(json.dumps([LIKENESS_VERSION, *parts], sort_keys=True, ensure_ascii=True))
