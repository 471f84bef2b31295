"""Listing: every memory that a caller may see, page by page.

Owns: the tool `list_memories` and its cursor. Guarantees: exact totals; each memory that is there throughout a walk
comes exactly once, whatever is added meanwhile (B37); a cursor of another tenant, conversation, filter or order is
refused (B38).
Gives up: a frozen view. What changes its importance during a walk by importance may move behind or before the cursor.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.identity import digest
from lodestore.domain.memory import Memory
from lodestore.errors import InvalidArgument
from lodestore.ports.clock import Clock
from lodestore.retrieval.segment import Array
from lodestore.services import columns
from lodestore.services.arguments import Arguments
from lodestore.services.recall import superseding
from lodestore.services.row_order import ChosenRows, Positions, chosen_rows
from lodestore.services.selection import FILTER_ARGUMENTS, read_filters
from lodestore.services.shown import NOTICE, fit, show_memory, status_of
from lodestore.services.tenant_view import TenantView, TenantViews
from lodestore.services.winners import Winners

ARGUMENTS = (*FILTER_ARGUMENTS, "status", "sort", "limit", "cursor")
DEFAULT_LIMIT = 20
_CURSOR_BYTES = 1_024
_LOOKS = 3


class Wanted(StrEnum):
    """Which states are listed."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ALL = "all"


class Sort(StrEnum):
    """newest: created_at, then id; important: importance, then those. All descending."""

    NEWEST = "newest"
    IMPORTANT = "important"


Position = tuple[float, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One list, understood. `after`: the position of the last row of the page before."""

    filters: Filters
    wanted: Wanted
    sort: Sort
    limit: int
    binding: str
    after: Position | None


class ListMemories:
    """The tool `list_memories`."""

    def __init__(self, views: TenantViews, winners: Winners, clock: Clock) -> None:
        self._views = views
        self._winners = winners
        self._clock = clock

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{untrusted, notice, memories, total, next_cursor?}. Raises InvalidArgument, TooLarge, Unavailable."""
        listing = _read(Arguments("list_memories", given, ARGUMENTS), caller)
        for _ in range(_LOOKS - 1):
            page = self._look(caller, listing)
            if page.whole:
                return page.answer
        return self._look(caller, listing).answer

    def _look(self, caller: Caller, listing: Listing) -> _Page:
        """One look. Not whole: a memory was gone by the time it was read, so the total was of another moment."""
        view = self._views.load(caller.tenant)
        now = self._clock.now()
        wanted = chosen_rows(view, _wanted(view, caller, listing, now))
        keys = _keys(wanted, listing.sort)
        left = None if listing.after is None else _behind(wanted, keys, listing.after)
        first = [wanted.place(at) for at in wanted.first(keys, listing.limit + 1, left)]
        page = first[: listing.limit]
        memories = self._winners.read(caller, view, page)
        rows = [
            (place, _row(view, place, memory, now))
            for place, memory in zip(page, memories, strict=True)
            if memory is not None
        ]
        end = page[-1] if len(first) > len(page) else None
        return _Page(_page(view, rows, listing, total=len(wanted), end=end), whole=len(rows) == len(page))


@dataclass(frozen=True, slots=True)
class _Page:
    answer: dict[str, object]
    whole: bool


def _read(arguments: Arguments, caller: Caller) -> Listing:
    filters = read_filters(arguments)
    wanted = arguments.choice("status", Wanted) or Wanted.ACTIVE
    sort = arguments.choice("sort", Sort) or Sort.NEWEST
    binding = digest("cursor", caller.tenant, json.dumps(caller.conversation), repr(filters), wanted, sort)[
        :16
    ]
    return Listing(
        filters=filters,
        wanted=wanted,
        sort=sort,
        limit=arguments.whole("limit", least=1, most=limits.LIST_LIMIT) or DEFAULT_LIMIT,
        binding=binding,
        after=_decode_cursor(arguments.text("cursor", most_bytes=_CURSOR_BYTES), binding),
    )


def _wanted(view: TenantView, caller: Caller, listing: Listing, now: datetime) -> columns.Masks:
    visible = columns.both(columns.visible(view, caller), columns.admitted(view, listing.filters))
    if listing.wanted is Wanted.ALL:
        return visible
    expired = columns.expired(view, now)
    if listing.wanted is Wanted.EXPIRED:
        return columns.both(visible, expired)
    standing, superseded = columns.but(visible, expired), columns.superseded(view)
    if listing.wanted is Wanted.SUPERSEDED:
        return columns.both(standing, superseded)
    return columns.but(standing, superseded)


def _page(
    view: TenantView,
    rows: list[tuple[columns.Place, dict[str, object]]],
    listing: Listing,
    *,
    total: int,
    end: columns.Place | None,
) -> dict[str, object]:
    """The answer. `end` is the last row of the page where more follow, also if it is gone by now."""
    answer: dict[str, object] = {"untrusted": True, "notice": NOTICE, "memories": [], "total": total}
    longest_cursor = "x" * 2 * limits.ID_CHARACTERS
    shown = [row for _, row in rows]
    envelope = answer | {"next_cursor": longest_cursor}
    kept = fit(shown, envelope=envelope, most_bytes=limits.ANSWER_BYTES) if shown else []
    answer["memories"] = kept
    last = end if len(kept) == len(rows) else rows[len(kept) - 1][0]
    if last is not None:
        answer["next_cursor"] = _encode_cursor(_position(view, last, listing.sort), listing.binding)
    return answer


def _row(view: TenantView, place: columns.Place, memory: Memory, now: datetime) -> dict[str, object]:
    newer = superseding(view, place, memory)
    return show_memory(memory, now=now, superseded_by=newer) | {"status": status_of(memory, newer, now)}


def _keys(rows: ChosenRows, sort: Sort) -> tuple[Array, Array]:
    """Importance, 0 where it does not matter, and time, both from below 0 up: the greatest is first."""
    important = sort is Sort.IMPORTANT
    importance = _importance(rows.column("importance")) if important else np.zeros(len(rows))
    return -importance, -rows.column("created")


def _behind(rows: ChosenRows, keys: tuple[Array, Array], after: Position) -> Positions:
    """The positions that come behind that one."""
    importance, created, memory_id = after
    greater = (keys[0] > -importance) | ((keys[0] == -importance) & (keys[1] > -created))
    equal = np.flatnonzero((keys[0] == -importance) & (keys[1] == -created))
    greater[[at for at in equal.tolist() if rows.id(at) < memory_id]] = True
    return np.flatnonzero(greater)


def _position(view: TenantView, place: columns.Place, sort: Sort) -> Position:
    segment = view.parts[place.part].segment
    importance = float(_importance(segment["importance"][place.row])) if sort is Sort.IMPORTANT else 0.0
    return (importance, int(segment["created"][place.row]), columns.id_of(view, place))


def _importance(stored: Array) -> Array:
    return np.round(stored.astype(np.float64), 6)


def _encode_cursor(position: Position, binding: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([binding, *position], separators=(",", ":")).encode()).decode()


def _decode_cursor(cursor: str | None, binding: str) -> Position | None:
    if cursor is None:
        return None
    try:
        bound, importance, milliseconds, memory_id = json.loads(
            base64.b64decode(cursor, b"-_", validate=True)
        )
        if bound != binding:
            raise ValueError("bound to another list")
        return (float(importance), int(milliseconds), str(memory_id))
    except (ValueError, TypeError, binascii.Error, RecursionError, OverflowError):
        raise InvalidArgument(
            "cursor does not belong to this list.",
            field="cursor",
            limit="the next_cursor of the page before, with the same arguments, tenant and conversation",
            got=f"text of {len(cursor)} characters",
            next_step="Start again without cursor.",
        ) from None
