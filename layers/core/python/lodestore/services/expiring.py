"""Expiry: memories whose own time has passed become stubs.

Owns: finding them in the view's columns. Guarantees: only what the writer let expire goes, judged on the very object
that the stub replaces, so one that was renewed meanwhile stays (P-NO-LOST-UPDATE); readers never saw it past its time
anyway. Bounded per run; what is left is said. Gives up: what can't be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lodestore.domain.memory import Memory
from lodestore.ports.clock import Clock
from lodestore.services import columns
from lodestore.services.ledger import Quarantined
from lodestore.services.removing import Removal, Removing
from lodestore.services.tenant_view import TenantViews
from lodestore.services.truth import Truth

RUN_MEMORIES = 2_000
REASON = "expired"
BY = "expiry"


@dataclass(frozen=True, slots=True)
class Expired:
    """The ids that were (with `dry_run`: would be) made stubs, and how many of those that have expired are left."""

    ids: tuple[str, ...] = ()
    left: int = 0


class Expiring:
    """Expiry of all tenants."""

    def __init__(self, views: TenantViews, truth: Truth, removing: Removing, clock: Clock) -> None:
        self._views = views
        self._truth = truth
        self._removing = removing
        self._clock = clock

    def run(self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True) -> Expired:
        """Up to 2,000 memories of a tenant, in order of id. Raises StoreUnavailable, Unavailable."""
        now = self._clock.now()
        view = self._views.load(tenant)
        over = columns.both(columns.memories(view), columns.expired(view, now))
        due = sorted(columns.id_of(view, place) for place in columns.places(over))
        if dry_run:
            truth = self._truth.read_many(tenant, due[:RUN_MEMORIES])
            records = ((m, truth[m].record) for m in due[:RUN_MEMORIES])
            going_away = tuple(m for m, one in records if isinstance(one, Memory) and one.expired_at(now))
            return Expired(going_away, max(0, len(due) - RUN_MEMORIES))
        gone: list[str] = []
        seen = 0
        for memory_id in due[:RUN_MEMORIES]:
            if not going():
                break
            seen += 1
            if self._expire(tenant, memory_id):
                gone.append(memory_id)
        return Expired(tuple(gone), len(due) - seen)

    def _expire(self, tenant: str, memory_id: str) -> bool:
        now = self._clock.now()
        try:
            return self._removing.remove(
                tenant, memory_id, Removal(REASON, BY, now), lambda memory: memory.expired_at(now)
            )
        except Quarantined:
            return False
