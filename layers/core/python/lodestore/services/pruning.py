"""Pruning: what the operator's policies say may go.

Owns: finding it in the view, and forgetting it where the policy says so. Guarantees: nothing without a policy; the
very object that a stub replaces is judged again, so what was pinned or changed meanwhile stays (P-REVERSIBLE-SLEEP,
P-NO-LOST-UPDATE); what was pruned can be restored within FORGET_WINDOW. Bounded per run.
Gives up: proposals to decide on; a policy that does not forget only has its memories named in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.counters import Tally
from lodestore.domain.memory import Memory
from lodestore.domain.pruning import Policy
from lodestore.ports.clock import Clock
from lodestore.services import columns
from lodestore.services.counts import Counts
from lodestore.services.ledger import Quarantined
from lodestore.services.removing import Removal, Removing
from lodestore.services.tenant_view import TenantViews
from lodestore.services.truth import Truth

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

    def __init__(
        self,
        views: TenantViews,
        truth: Truth,
        counts: Counts,
        removing: Removing,
        clock: Clock,
        *,
        policies: Sequence[Policy],
    ) -> None:
        self._views = views
        self._truth = truth
        self._counts = counts
        self._removing = removing
        self._clock = clock
        self._policies = tuple(policies)

    @property
    def has_policies(self) -> bool:
        """Whether there is anything to prune by."""
        return bool(self._policies)

    def run(self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True) -> Pruned:
        """Carry out the policies, the first that admits a memory counts. Raises StoreUnavailable, Unavailable."""
        if not self._policies:
            return Pruned()
        now = self._clock.now()
        chosen = self._choose(tenant, now)
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
            if self._forget(tenant, one, now):
                gone.append(one)
        return Pruned(tuple(gone), named, left)

    def _choose(self, tenant: str, now: datetime) -> list[Chosen]:
        view = self._views.load(tenant)
        ids = sorted(columns.id_of(view, place) for place in columns.places(columns.memories(view)))
        found = self._truth.read_many(tenant, ids)
        memories = [read.record for read in found.values() if isinstance(read.record, Memory)]
        memories.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        asks_use = any(policy.never_recalled for policy in self._policies)
        used = self._counts.totals(tenant) if asks_use else {}
        chosen: dict[str, Chosen] = {}
        for policy in self._policies:
            admitted = [memory for memory in memories if _admits(policy, memory, used, now)]
            for memory in admitted[int(policy.beyond_newest or 0) :]:
                chosen.setdefault(memory.id, Chosen(memory.id, policy))
        return [chosen[memory_id] for memory_id in sorted(chosen)]

    def _forget(self, tenant: str, one: Chosen, now: datetime) -> bool:
        removal = Removal(f"pruned by the policy {one.policy.name}", BY, now)
        try:
            return self._removing.remove(
                tenant, one.id, removal, lambda memory: one.policy.admits(memory, now)
            )
        except Quarantined:
            return False


def _admits(policy: Policy, memory: Memory, used: Mapping[str, Tally], now: datetime) -> bool:
    tally = used.get(memory.id, Tally())
    in_use = tally.recalls > 0 or tally.useful > 0
    return policy.admits(memory, now) and not (policy.never_recalled and in_use)
