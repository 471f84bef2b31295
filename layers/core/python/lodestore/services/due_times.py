"""When a tenant next has something to do by the clock alone: an expiry, the end of a forget window.

Owns: turning what the index shows into notes under `due/`. Guarantees: after each run that looked, the earliest of
both is noted, so the hour in which it comes is not missed. Gives up: the later ones; the run of that hour notes them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lodestore.ports.clock import Clock
from lodestore.services.due import Due
from lodestore.services.index_rows import IndexRows, read_index
from lodestore.services.indexing import NeedsRebuild
from lodestore.services.manifests import Manifests
from lodestore.services.segments import Segments

# Nobody has to be told of what is due when everyone is looked at anyway.
FARTHEST = timedelta(days=3_650)


class DueTimes:
    """Notes of all tenants."""

    def __init__(
        self, manifests: Manifests, segments: Segments, due: Due, clock: Clock, *, window: timedelta
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._due = due
        self._clock = clock
        self._window = window

    def note(self, tenant: str) -> datetime | None:
        """Note the next time, and give it; None: nothing comes. Raises StoreUnavailable."""
        try:
            coming = self._next(read_index(tenant, self._manifests, self._segments))
        except NeedsRebuild:
            return None
        if coming is not None:
            self._due.note(tenant, coming)
        return coming

    def _next(self, index: IndexRows) -> datetime | None:
        now = self._clock.now()
        times = [_moment(stub) + self._window for stub in index.stubs().values()]
        expiry = index.next_expiry()
        # A window that is over was purged by the run that asks; an expiry that is over was left to another.
        coming = [at for at in times if at > now]
        if expiry is not None and expiry < _milliseconds(now + FARTHEST):
            coming.append(max(_moment(expiry), now))
        return min(coming, default=None)


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
