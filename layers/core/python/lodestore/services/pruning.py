"""Pruning: what the operator's policies say may go.

Owns: finding it in the view, and forgetting it where the policy says so. Guarantees: nothing without a policy; the
very object that a stub replaces is judged again, so what was pinned or changed meanwhile stays (P-REVERSIBLE-SLEEP,
P-NO-LOST-UPDATE); what was pruned can be restored within FORGET_WINDOW. Bounded per run; a memory that stays costs no
request. Gives up: use that was counted after the policies were judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.counters import KnownUse
from lodestore.domain.pruning import UNUSED, Policy
from lodestore.ports.clock import Clock
from lodestore.services.counts import Counts
from lodestore.services.ledger import Quarantined
from lodestore.services.prunable import prunable
from lodestore.services.removing import Removal, Removing
from lodestore.services.tenant_view import TenantViews

RUN_MEMORIES = 2_000
BY = "pruning"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A memory that a policy admits."""

    id: str
    policy: Policy


@dataclass(frozen=True, slots=True)
class Pruned:
    """What one run forgot, what it only names, and how many more there are than a run takes."""

    forgotten: tuple[Chosen, ...] = ()
    named: tuple[Chosen, ...] = ()
    left: int = 0


class Pruning:
    """The pruning of all tenants."""

    def __init__(self, views: TenantViews, counts: Counts, removing: Removing, clock: Clock) -> None:
        self._views = views
        self._counts = counts
        self._removing = removing
        self._clock = clock

    def run(
        self,
        tenant: str,
        policies: Sequence[Policy],
        *,
        dry_run: bool = False,
        going: Callable[[], bool] = lambda: True,
    ) -> Pruned:
        """Carry out the policies, the first that admits a memory counts. Raises StoreUnavailable, Unavailable."""
        if not policies:
            return Pruned()
        now = self._clock.now()
        asks_use = any(policy.asks_use for policy in policies)
        known = self._counts.known(tenant) if asks_use else KnownUse()
        chosen = self._choose(tenant, policies, known, now)
        taken, left = chosen[:RUN_MEMORIES], len(chosen[RUN_MEMORIES:])
        named = tuple(one for one in taken if not one.policy.forget)
        going_away = [one for one in taken if one.policy.forget]
        if dry_run:
            return Pruned(tuple(going_away), named, left)
        gone: list[Chosen] = []
        for number, one in enumerate(going_away):
            if not going():
                left += len(going_away) - number
                break
            if self._forget(tenant, one, known, now):
                gone.append(one)
        return Pruned(tuple(gone), named, left)

    def _choose(
        self, tenant: str, policies: Sequence[Policy], known: KnownUse, now: datetime
    ) -> list[Chosen]:
        view = self._views.load(tenant)
        chosen: dict[str, Chosen] = {}
        for policy in policies:
            for memory_id in prunable(view, policy, known, now):
                chosen.setdefault(memory_id, Chosen(memory_id, policy))
        return [chosen[memory_id] for memory_id in sorted(chosen)]

    def _forget(self, tenant: str, one: Chosen, known: KnownUse, now: datetime) -> bool:
        removal = Removal(f"pruned by the policy {one.policy.name}", BY, now)
        use = known.levels.get(one.id, UNUSED)
        try:
            return self._removing.remove(
                tenant, one.id, removal, lambda memory: one.policy.admits(memory, now, use)
            )
        except Quarantined:
            return False
