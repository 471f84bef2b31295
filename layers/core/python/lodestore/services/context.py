"""Context: what an agent should know before it starts, as one text within a token budget.

Owns: the tool `memory_context`. Guarantees: instructions and preferences first, then what matches the query, then the
newest; a memory comes whole or is left out and counted, and only the first may be shortened, which it says; each
content is a quoted string, so that no text can pass for another line (P-UNTRUSTED); what is shown counts as recalled,
so that no policy takes for unused what agents read each day.
Gives up: exact token counts; the estimate leans to the high side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor

import numpy as np

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.memory import Memory, MemoryType
from lodestore.domain.text import shorten_to_characters
from lodestore.domain.token_estimate import estimate_tokens
from lodestore.ports.clock import Clock
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.segment import TYPES, Array
from lodestore.services import columns
from lodestore.services.arguments import Arguments
from lodestore.services.counts import Counts
from lodestore.services.held_rows import HeldRows
from lodestore.services.live_rows import LiveRows
from lodestore.services.query_vectors import QueryVectors
from lodestore.services.row_order import ChosenRows, chosen_rows
from lodestore.services.scoring import rank
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
# Counts that a call is expected to bring; more only make the next flush come earlier.
_COUNTED = 20


class Context:
    """The tool `memory_context`."""

    def __init__(
        self,
        views: TenantViews,
        winners: Winners,
        counts: Counts,
        clock: Clock,
        *,
        vectors: QueryVectors,
        workers: Executor,
        rows: HeldRows,
    ) -> None:
        self._views = views
        self._winners = winners
        self._counts = counts
        self._workers = workers
        self._clock = clock
        self._vectors = vectors
        self._rows = rows

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{untrusted, notice, context, token_estimate, ids, omitted}. Raises InvalidArgument, TooLarge, Unavailable."""
        arguments = Arguments("memory_context", given, ARGUMENTS)
        query = arguments.query()
        most = arguments.whole(
            "max_tokens", least=limits.CONTEXT_TOKENS_LEAST, most=limits.CONTEXT_TOKENS_MOST
        )
        filters = Filters(types=arguments.choices("types", MemoryType))
        # Beside the first round trip, as in a recall.
        flushed = self._workers.submit(self._counts.flush_due, caller.tenant, coming=_COUNTED)
        view = self._views.load(caller.tenant)
        now = self._clock.now()
        live = self._rows.of(view, caller, now)
        wanted, more = self._in_order(view, live, query, filters)
        memories = self._winners.read(caller, view, wanted)
        still = [m for m in memories if m is not None and not m.expired_at(now) and not m.superseded_by]
        lines, ids = _fill(still, most or DEFAULT_TOKENS)
        context = "\n".join(lines)
        flushed.result()
        self._counts.recalled(caller.tenant, ids)
        return {
            "untrusted": True,
            "notice": NOTICE,
            "context": context,
            "token_estimate": estimate_tokens(context),
            "ids": ids,
            "omitted": len(still) - len(ids) + more,
        }

    def _in_order(
        self, view: TenantView, live: LiveRows, query: str | None, filters: Filters
    ) -> tuple[list[columns.Place], int]:
        """The rows to read, at most _READ, and how many more there are."""
        admitted = columns.both(live.masks, columns.admitted(view, filters))
        first = chosen_rows(view, columns.both(admitted, columns.admitted(view, Filters(types=_FIRST))))
        found = [first.place(at) for at in first.first((*_standing(first), -first.column("created")), _READ)]
        if query is not None:
            asked = self._vectors.of(query)
            ranking = rank(live, admitted, read_query(query, self._clock.now()), asked.vector)
            found.extend(ranking.place(at) for at in range(min(_MATCHES, len(ranking))))
        rows = chosen_rows(view, admitted)
        found.extend(rows.place(at) for at in rows.first((-rows.column("created"),), _RECENT))
        unread = len(first) - _READ
        if unread > 0:
            # Of what follows, only what is not among the first counts as more.
            kinds = {TYPES.index(kind) for kind in _FIRST}
            others = {p for p in found[_READ:] if int(view.parts[p.part].segment["type"][p.row]) not in kinds}
            return found[:_READ], unread + len(others)
        wanted = list(dict.fromkeys(found))
        return wanted[:_READ], max(0, len(wanted) - _READ)


def _standing(rows: ChosenRows) -> tuple[Array, Array, Array]:
    """Instructions before preferences, pinned before others, then the most important."""
    order = np.zeros(len(TYPES), np.intp)
    order[[TYPES.index(kind) for kind in _FIRST]] = range(len(_FIRST))
    return order[rows.column("type")], rows.column("pinned") == 0, -rows.column("importance")


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
