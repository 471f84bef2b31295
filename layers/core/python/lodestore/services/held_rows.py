"""The live rows of a tenant, held as long as they are the same.

Owns: what is held. Guarantees: the live rows of the very view and moment that are asked for: held rows serve only where
the parts are the same objects and nothing has expired since. Thread-safe; at most HELD_MOST times live rows, of at most
HELD_ROWS rows in all, or the last alone.
Gives up: recalls with `as_of`: theirs are made anew.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.caller import Caller
from lodestore.domain.moments import milliseconds
from lodestore.retrieval.segment import NO_EXPIRY
from lodestore.retrieval.segment_search import Part
from lodestore.services import columns
from lodestore.services.columns import Masks
from lodestore.services.live_rows import LiveRows, live_rows
from lodestore.services.session_orders import SessionOrders
from lodestore.services.tenant_view import TenantView, ViewPart

HELD_MOST = 32
# About 200 bytes each.
HELD_ROWS = 250_000


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Live rows of these parts, the same at every moment from `since` on and before `until`, in milliseconds."""

    parts: tuple[ViewPart, ...]
    since: int
    until: int
    rows: LiveRows


class HeldRows:
    """Live rows by tenant, conversation and whether superseded ones count."""

    def __init__(self) -> None:
        self._orders = SessionOrders()
        self._held: dict[Hashable, _Held] = {}
        self._lock = threading.Lock()

    def of(
        self,
        view: TenantView,
        caller: Caller,
        now: datetime,
        *,
        as_of: datetime | None = None,
        superseded: bool = False,
    ) -> LiveRows:
        """What the caller may see of what holds now, or held `as_of`. `superseded`: also what is superseded."""
        if as_of is not None:
            live = columns.both(columns.visible(view, caller), columns.held_from(view, as_of))
            live = live if superseded else columns.but(live, columns.superseded(view, as_of))
            return self._made(view, columns.but(live, columns.expired(view, as_of)))
        key, moment = (caller.tenant, caller.conversation, superseded), milliseconds(now)
        with self._lock:
            last = self._held.get(key)
        if last is not None and last.parts is view.parts and last.since <= moment < last.until:
            return last.rows
        standing = columns.visible(view, caller)
        if not superseded:
            standing = columns.but(standing, columns.superseded(view))
        rows = self._made(view, columns.but(standing, columns.expired(view, now)))
        self._hold(key, _Held(view.parts, moment, _next_expiry(view, standing, moment), rows))
        return rows

    def _made(self, view: TenantView, live: Masks) -> LiveRows:
        parts = [Part(part.segment, mask) for part, mask in zip(view.parts, live, strict=True)]
        return live_rows(parts, self._orders.of(view))

    def _hold(self, key: Hashable, held: _Held) -> None:
        with self._lock:
            self._held.pop(key, None)
            self._held[key] = held
            while len(self._held) > 1 and self._is_too_much():
                self._held.pop(next(iter(self._held)))

    def _is_too_much(self) -> bool:
        rows = sum(len(held.rows.corpus.counted) for held in self._held.values())
        return len(self._held) > HELD_MOST or rows > HELD_ROWS


def _next_expiry(view: TenantView, standing: Masks, moment: int) -> int:
    """When the first of these rows expires that has not yet."""
    ends = [NO_EXPIRY]
    for part, mask in zip(view.parts, standing, strict=True):
        expires = part.segment["expires"]
        coming = expires[mask & (expires > moment)]
        ends.append(int(coming.min(initial=NO_EXPIRY)))
    return min(ends)
