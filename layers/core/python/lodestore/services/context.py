"""Context: what an agent should know before it starts, as one text within a token budget.

Owns: the tool `memory_context`. Guarantees: instructions and preferences first, then what matches the query, then the
newest; a memory comes whole or is left out and counted, and only the first may be shortened, which it says; each
content is a quoted string, so that no text can pass for another line (P-UNTRUSTED).
Gives up: exact token counts; the estimate leans to the high side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.memory import Memory, MemoryType
from lodestore.domain.text import shorten_to_characters
from lodestore.domain.token_estimate import estimate_tokens
from lodestore.ports.clock import Clock
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.segment import TYPES
from lodestore.services import columns
from lodestore.services.arguments import Arguments
from lodestore.services.query_vectors import QueryVectors
from lodestore.services.scoring import rank
from lodestore.services.session_orders import SessionOrders
from lodestore.services.shown import NOTICE
from lodestore.services.tenant_view import TenantView, TenantViews
from lodestore.services.winners import Winners

ARGUMENTS = ("query", "max_tokens", "types")
DEFAULT_TOKENS = 1_000
_FIRST = (MemoryType.INSTRUCTION, MemoryType.PREFERENCE)
_MATCHES = 20
_RECENT = 20
_LEAST_CHARACTERS = 40
# Reads of one call; more than fits any budget.
_READ = 200


class Context:
    """The tool `memory_context`."""

    def __init__(self, views: TenantViews, winners: Winners, clock: Clock, *, vectors: QueryVectors) -> None:
        self._views = views
        self._winners = winners
        self._clock = clock
        self._vectors = vectors
        self._orders = SessionOrders()

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{untrusted, notice, context, token_estimate, ids, omitted}. Raises InvalidArgument, TooLarge, Unavailable."""
        arguments = Arguments("memory_context", given, ARGUMENTS)
        query = arguments.query()
        most = arguments.whole(
            "max_tokens", least=limits.CONTEXT_TOKENS_LEAST, most=limits.CONTEXT_TOKENS_MOST
        )
        filters = Filters(types=arguments.choices("types", MemoryType))
        view = self._views.load(caller.tenant)
        now = self._clock.now()
        live = columns.but(columns.visible(view, caller), columns.expired(view, now))
        live = columns.but(live, columns.superseded(view))
        wanted = list(dict.fromkeys(self._in_order(view, live, query, filters)))
        memories = self._winners.read(caller, view, wanted[:_READ])
        still = [m for m in memories if m is not None and not m.expired_at(now) and not m.superseded_by]
        lines, ids = _fill(still, most or DEFAULT_TOKENS)
        context = "\n".join(lines)
        return {
            "untrusted": True,
            "notice": NOTICE,
            "context": context,
            "token_estimate": estimate_tokens(context),
            "ids": ids,
            "omitted": len(still) - len(ids) + max(0, len(wanted) - _READ),
        }

    def _in_order(
        self, view: TenantView, live: columns.Masks, query: str | None, filters: Filters
    ) -> Iterator[columns.Place]:
        admitted = columns.both(live, columns.admitted(view, filters))
        newest = sorted(columns.places(admitted), key=lambda place: _newness(view, place), reverse=True)
        first = columns.admitted(view, Filters(types=_FIRST))
        standing = [place for place in newest if first[place.part][place.row]]
        yield from sorted(standing, key=lambda place: _standing(view, place))
        if query is not None:
            asked = self._vectors.of(query)
            ranking = rank(
                view, live, admitted, read_query(query, self._clock.now()), asked.vector, self._orders
            )
            yield from (ranking.place(at) for at in range(min(_MATCHES, len(ranking))))
        yield from newest[:_RECENT]


def _newness(view: TenantView, place: columns.Place) -> tuple[int, str]:
    return (int(view.parts[place.part].segment["created"][place.row]), columns.id_of(view, place))


def _standing(view: TenantView, place: columns.Place) -> tuple[int, bool, float]:
    """Instructions before preferences, pinned before others, then the most important."""
    segment, row = view.parts[place.part].segment, place.row
    kind = TYPES[int(segment["type"][row])]
    return (_FIRST.index(kind), not segment["pinned"][row], -float(segment["importance"][row]))


def _fill(memories: Iterable[Memory], most: int) -> tuple[list[str], list[str]]:
    lines: list[str] = []
    ids: list[str] = []
    used = 0
    for memory in memories:
        line = _line(memory, memory.content)
        if not lines and estimate_tokens(line) > most:
            line = _shortened_line(memory, most)
        tokens = estimate_tokens(line) + 1
        if used + tokens <= most + 1:
            lines.append(line)
            ids.append(memory.id)
            used += tokens
    return lines, ids


def _line(memory: Memory, content: str, note: str = "") -> str:
    day = memory.holds_from.date().isoformat()
    return f"- {memory.type}, {day}, id {memory.id}{note}: {json.dumps(content, ensure_ascii=False)}"


def _shortened_line(memory: Memory, most: int) -> str:
    """The largest part of the content whose line is within the budget, found by halving."""
    low, high = _LEAST_CHARACTERS, len(memory.content)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(_cut_line(memory, middle)) <= most:
            low = middle
        else:
            high = middle - 1
    return _cut_line(memory, low)


def _cut_line(memory: Memory, characters: int) -> str:
    content, _ = shorten_to_characters(memory.content, characters)
    return _line(memory, content, ", shortened, get_memory shows it all")
