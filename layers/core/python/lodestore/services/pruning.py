"""Pruning: what the operator's policies say may go.

Owns: finding it in the view, forgetting it where the policy says so, and proposing it otherwise. Guarantees: nothing
without a policy; the very object that a stub replaces is judged again, so what was pinned or changed meanwhile stays
(P-REVERSIBLE-SLEEP, P-NO-LOST-UPDATE); what was pruned can be restored within FORGET_WINDOW. Bounded per run; a memory
that stays costs no request. Gives up: use that was counted after the policies were judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.counters import KnownUse, Tally
from lodestore.domain.memory import Memory
from lodestore.domain.proposal import EVIDENCE_CHARACTERS, Evidence, Proposal, ProposalKind, propose
from lodestore.domain.pruning import Policy, memory_value
from lodestore.domain.use_levels import UseLevels, levels_of
from lodestore.ports.clock import Clock
from lodestore.services.counts import Counts
from lodestore.services.ledger import Quarantined
from lodestore.services.proposals import Proposals
from lodestore.services.prunable import prunable
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
    """What one run did; with `dry_run`, what it would do.

    forgotten   memories that were
    proposed    memories that proposals were made of; of `known` ones there were, whether or not they were decided
    left        more than a run takes
    """

    forgotten: tuple[Chosen, ...] = ()
    proposed: tuple[Chosen, ...] = ()
    known: int = 0
    left: int = 0


class Pruning:
    """The pruning of all tenants."""

    def __init__(
        self,
        views: TenantViews,
        truth: Truth,
        counts: Counts,
        removing: Removing,
        proposals: Proposals,
        clock: Clock,
    ) -> None:
        self._views = views
        self._truth = truth
        self._counts = counts
        self._removing = removing
        self._proposals = proposals
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
        asks_use = any(policy.asks_use or not policy.forget for policy in policies)
        known = self._counts.known(tenant) if asks_use else KnownUse()
        chosen = self._choose(tenant, policies, known, now)
        taken, left = chosen[:RUN_MEMORIES], len(chosen[RUN_MEMORIES:])
        going_away = [one for one in taken if one.policy.forget]
        if dry_run:
            gone = [one for _, one, _ in self._judged(tenant, going_away, known, now)]
        else:
            gone, cut = self._forget_all(tenant, going_away, known, now, going)
            left += cut
        wanted = self._wanted(tenant, [one for one in taken if not one.policy.forget], known, now)
        chosen_by = {proposal.id: one for proposal, one in wanted}
        proposed = self._proposals.propose(tenant, [proposal for proposal, _ in wanted], dry_run=dry_run)
        return Pruned(
            forgotten=tuple(gone),
            proposed=tuple(chosen_by[made.id] for made in proposed.made),
            known=proposed.known,
            left=left + proposed.left,
        )

    def _choose(
        self, tenant: str, policies: Sequence[Policy], known: KnownUse, now: datetime
    ) -> list[Chosen]:
        view = self._views.load(tenant)
        chosen: dict[str, Chosen] = {}
        for policy in policies:
            for memory_id in prunable(view, policy, known, now):
                chosen.setdefault(memory_id, Chosen(memory_id, policy))
        return [chosen[memory_id] for memory_id in sorted(chosen)]

    def _forget_all(
        self,
        tenant: str,
        chosen: Sequence[Chosen],
        known: KnownUse,
        now: datetime,
        going: Callable[[], bool],
    ) -> tuple[list[Chosen], int]:
        """Those that were forgotten, and for how many there was no time."""
        gone: list[Chosen] = []
        for number, one in enumerate(chosen):
            if not going():
                return gone, len(chosen) - number
            if self._forget(tenant, one, known, now):
                gone.append(one)
        return gone, 0

    def _forget(self, tenant: str, one: Chosen, known: KnownUse, now: datetime) -> bool:
        removal = Removal(f"pruned by the policy {one.policy.name}", BY, now)
        try:
            return self._removing.remove(
                tenant, one.id, removal, lambda memory: one.policy.admits(memory, now, _use(known, memory))
            )
        except Quarantined:
            return False

    def _wanted(
        self, tenant: str, named: Sequence[Chosen], known: KnownUse, now: datetime
    ) -> list[tuple[Proposal, Chosen]]:
        """Proposals to forget them, what is worth least first."""
        judged = self._judged(tenant, named, known, now)
        judged.sort(key=lambda item: (item[0], item[1].id))
        return [
            (
                propose(
                    ProposalKind.PRUNE, [memory], at=now, evidence=_evidence(one, memory, value, known, now)
                ),
                one,
            )
            for value, one, memory in judged
        ]

    def _judged(
        self, tenant: str, chosen: Sequence[Chosen], known: KnownUse, now: datetime
    ) -> list[tuple[float, Chosen, Memory]]:
        """Those that their policy admits as they stand now, with the memory and what it is worth."""
        truth = self._truth.read_many(tenant, [one.id for one in chosen])
        found: list[tuple[float, Chosen, Memory]] = []
        for one in chosen:
            memory = truth[one.id].record
            if isinstance(memory, Memory) and one.policy.admits(memory, now, use := _use(known, memory)):
                found.append((memory_value(memory, use, now), one, memory))
        return found


def _use(known: KnownUse, memory: Memory) -> UseLevels:
    return levels_of(known.levels, (memory.id, *memory.consolidated_from))


def _evidence(one: Chosen, memory: Memory, value: float, known: KnownUse, now: datetime) -> Evidence:
    tally = known.tallies.get(one.id, Tally())
    return {
        "policy": str(one.policy)[:EVIDENCE_CHARACTERS],
        "days since it was stated": (now - memory.updated_at).days,
        "importance": memory.importance,
        "recalls": tally.recalls,
        "useful": tally.useful,
        "not useful": tally.not_useful,
        "value": round(value, 4),
    }
