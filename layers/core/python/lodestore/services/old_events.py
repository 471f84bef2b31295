"""Which old events one summary could stand for, by the index alone.

Owns: the groups of the step `review`. Guarantees: at least EVENTS_LEAST events of one session (the conversation, else
the source) or, without either, of one category, in one scope, that are older than AGE; the newest UNTOUCHED of all
events of the group, old or not, are in none; pinned, superseded and expired ones neither, nor those that expire.
The oldest come first, so that what was summed up is not summed up in part again.
Gives up: more than MEMBERS_MOST events in one summary; the rest are a group of the next sleep.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from lodestore.domain.memory import MemoryType
from lodestore.domain.moments import milliseconds
from lodestore.domain.proposal import MEMBERS_MOST
from lodestore.retrieval.hashing import NOTHING
from lodestore.retrieval.segment import NO_EXPIRY, TYPES
from lodestore.services import columns
from lodestore.services.tenant_view import TenantView

EVENTS_LEAST: Final = 20
UNTOUCHED: Final = 10
AGE: Final = timedelta(days=30)
_EVENT: Final = TYPES.index(MemoryType.EVENT)

Key = tuple[int, int, str, int]
Told = tuple[int, str]


def old_events(view: TenantView, now: datetime) -> list[tuple[str, ...]]:
    """The ids of each group, oldest first; groups in the order of their oldest event."""
    groups: defaultdict[Key, list[Told]] = defaultdict(list)
    live = columns.but(columns.memories(view), columns.superseded(view))
    for number, (part, mask) in enumerate(zip(view.parts, live, strict=True)):
        segment = part.segment
        chosen = mask & (segment["type"] == _EVENT)
        chosen &= (segment["pinned"] == 0) & (segment["expires"] == NO_EXPIRY)
        since = columns.holds_from(segment)
        for row in np.flatnonzero(chosen).tolist():
            key = _key(segment["scoped"][row], [segment[name][row] for name in _SUBJECTS])
            if key is not None:
                place = columns.Place(number, row)
                groups[key].append((int(since[row]), columns.id_of(view, place)))
    limit = milliseconds(now - AGE)
    found = (_of_one(sorted(events), limit) for events in groups.values())
    return [tuple(memory_id for _, memory_id in group) for group in sorted(filter(None, found))]


_SUBJECTS: Final = ("conversation", "source", "category")


def _key(scoped: object, values: list[object]) -> Key | None:
    """What an event belongs to: its scope, and the first of session and subject that it has."""
    conversation = int(values[0]) if scoped else 0  # type: ignore[call-overload]
    for name, value in zip(_SUBJECTS, values, strict=True):
        if value != NOTHING:
            return (int(bool(scoped)), conversation, name, int(value))  # type: ignore[call-overload]
    return None


def _of_one(events: list[Told], limit: int) -> list[Told]:
    """What of one session or subject is summed up now; nothing where too few events are old."""
    old = [event for event in events if event[0] < limit]
    if len(old) < EVENTS_LEAST:
        return []
    return old[: max(0, len(events) - UNTOUCHED)][:MEMBERS_MOST]
