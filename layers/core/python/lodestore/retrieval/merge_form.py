"""What two memories must have in common to be merged unattended, as one number for the index.

Owns: `merge_form`. Guarantees: equal numbers only where both say the same in the same words (`sameness`) and agree in
scope, type, category, metadata and times, so that no filter finds the one and not the other; 0 where a memory is
never merged: an event, since the same words twice are two events. Tags, importance and source may differ; a merge
keeps all tags, the highest importance, and names its members.
Gives up: a form of another version; what was indexed under one is not merged until it is indexed again.
"""

from __future__ import annotations

import json
from typing import Final

from lodestore.domain.memory import Memory, MemoryType, Scope
from lodestore.domain.moments import format_moment
from lodestore.retrieval.hashing import NOTHING, hash64
from lodestore.retrieval.sameness import read

FORM_VERSION: Final = 1
"""Raised whenever the form of any text changes."""
# Beyond this a text is a document, and no two are the same by chance.
_MOST_CHARACTERS: Final = 32_000


def merge_form(memory: Memory) -> int:
    """The number; never 0 for what may be merged."""
    if memory.type is MemoryType.EVENT or len(memory.content) > _MOST_CHARACTERS:
        return NOTHING
    times = (memory.valid_from, memory.expires_at)
    parts = [
        FORM_VERSION,
        str(memory.scope),
        memory.conversation if memory.scope is Scope.CONVERSATION else None,
        str(memory.type),
        memory.category,
        memory.metadata,
        *(None if moment is None else format_moment(moment) for moment in times),
        read(memory.content).same_form,
    ]
    return hash64(json.dumps(parts, sort_keys=True, ensure_ascii=True))
