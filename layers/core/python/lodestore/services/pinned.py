"""Instructions of a tenant's own: pinned memories of trusted sources, in what a client reads when it connects.

Owns: which memories, and the text around them. Guarantees: only tenants and sources that the operator named
(PINNED_INSTRUCTIONS); a memory comes whole or is left out and counted; each is a quoted string on a line of its own;
what is used comes within the first 512 characters, and all within `CHARACTERS_MOST`; a store that does not answer is
said, and the rest is as for everyone.
Gives up: proof of a source. Whoever may write can name one, so it is for tenants whose writers are all trusted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory
from lodestore.errors import Unavailable
from lodestore.ports.clock import Clock
from lodestore.services import columns
from lodestore.services.tenant_view import TenantView, TenantViews
from lodestore.services.winners import Winners

# Clients cut instructions at 4,096 characters.
CHARACTERS_MOST = 4_000
_READ_MOST = 50
_BEFORE = "Long-term memory: call memory_context at a task's start, recall before answering. Pinned by trusted sources:"
_UNREAD = "The pinned memories could not be read now; call memory_context."


class PinnedInstructions:
    """The instructions of those tenants that have their own."""

    def __init__(
        self, views: TenantViews, winners: Winners, clock: Clock, trusted: Mapping[str, frozenset[str]]
    ) -> None:
        self._views = views
        self._winners = winners
        self._clock = clock
        self._trusted = trusted

    @property
    def on(self) -> bool:
        """Whether any tenant has its own."""
        return bool(self._trusted)

    def of(self, caller: Caller, general: str) -> str:
        """The caller's instructions: `general`, for a named tenant behind its pinned memories."""
        sources = self._trusted.get(caller.tenant)
        if sources is None:
            return general
        try:
            memories = self._pinned(caller, sources)
        except Unavailable:
            return f"{_UNREAD}\n{general}"
        return _around(memories, general) if memories else general

    def _pinned(self, caller: Caller, sources: frozenset[str]) -> list[Memory]:
        view = self._views.load(caller.tenant)
        now = self._clock.now()
        live = columns.but(columns.visible(view, caller), columns.expired(view, now))
        live = columns.but(live, columns.superseded(view))
        places = sorted(columns.places(live), key=lambda place: _most_important(view, place))
        pinned = [place for place in places if view.parts[place.part].segment["pinned"][place.row]]
        read = self._winners.read(caller, view, pinned[:_READ_MOST])
        found = [
            memory for memory in read if memory is not None and memory.pinned and memory.source in sources
        ]
        return [memory for memory in found if not memory.expired_at(now) and not memory.superseded_by]


def _most_important(view: TenantView, place: columns.Place) -> tuple[float, str]:
    return (-float(view.parts[place.part].segment["importance"][place.row]), columns.id_of(view, place))


def _around(memories: list[Memory], general: str) -> str:
    lines, room, left_out = [_BEFORE], CHARACTERS_MOST - len(_BEFORE) - len(general) - 80, 0
    for memory in memories:
        line = f"- {json.dumps(memory.content, ensure_ascii=False)}"
        if len(line) + 1 > room:
            left_out += 1
            continue
        lines.append(line)
        room -= len(line) + 1
    if left_out:
        lines.append(f"({left_out} more did not fit; call memory_context.)")
    return "\n".join([*lines, general])
