"""Comparing: what a person should look at, as proposals.

Owns: the half of consolidation that changes nothing by itself: statements that contradict each other, and those that
may say the same in other forms of the words. Guarantees: candidates come from the index, never from all pairs; each
is judged on the memories themselves; the older one is proposed to be superseded, never merged with the newer (B75);
at most so many of a kind in a sleep, and nothing that was decided comes again. Gives up: what no rule sees; a model
may judge more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lodestore.domain.memory import Memory
from lodestore.domain.proposal import PER_SLEEP, Evidence, Proposal, ProposalKind, propose
from lodestore.ports.clock import Clock
from lodestore.ports.judge import Judge, Judged, Pair, Verdict
from lodestore.services.merge_groups import Group, alike
from lodestore.services.proposals import Proposals, Proposed
from lodestore.services.tenant_view import TenantView
from lodestore.services.truth import Truth

# Groups looked at in one sleep, of each kind; most lead to a proposal.
RUN_GROUPS: Final = 4 * PER_SLEEP
# Of a group only so many of the newest are compared with the newest of all.
GROUP_MOST: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What one run proposed; `groups` had a topic or a wording in common."""

    proposed: Proposed
    groups: int = 0
    left: int = 0


class Comparing:
    """Comparisons of all tenants."""

    def __init__(self, truth: Truth, proposals: Proposals, judge: Judge, clock: Clock) -> None:
        self._truth = truth
        self._proposals = proposals
        self._judge = judge
        self._clock = clock

    def run(self, tenant: str, view: TenantView, *, dry_run: bool = False) -> Compared:
        """Propose what the view shows. Raises StoreUnavailable, Unavailable."""
        now = self._clock.now()
        groups = sorted({*alike(view, now, "topic"), *alike(view, now, "wording")})
        wanted = self._wanted(tenant, _some(groups, now), now)
        return Compared(
            proposed=self._proposals.propose(tenant, wanted, dry_run=dry_run),
            groups=len(groups),
            left=len(groups[RUN_GROUPS:]),
        )

    def _wanted(self, tenant: str, groups: Sequence[Group], now: datetime) -> list[Proposal]:
        truth = self._truth.read_many(tenant, [memory_id for group in groups for memory_id in group])
        pairs: list[Pair] = []
        for group in groups:
            found = (truth[memory_id].record for memory_id in group)
            memories = [one for one in found if isinstance(one, Memory) and not one.expired_at(now)]
            memories.sort(key=lambda memory: (memory.holds_from, memory.updated_at, memory.id), reverse=True)
            pairs += [(memories[0], older) for older in memories[1:GROUP_MOST]]
        judged = self._judge.judge(pairs)
        wanted = [
            self._superseding(newer, older, verdict, now)
            for (newer, older), verdict in zip(pairs, judged, strict=True)
            if verdict.verdict is not Verdict.DIFFERENT
        ]
        # One pair may share two numbers, and is one proposal.
        return list({proposal.id: proposal for proposal in wanted}.values())

    def _superseding(self, newer: Memory, older: Memory, judged: Judged, now: datetime) -> Proposal:
        days = (newer.holds_from - older.holds_from).days
        evidence: Evidence = {
            "verdict": str(judged.verdict),
            "why": judged.why,
            "judge": self._judge.name,
            "days between": days,
            "pinned": older.pinned,
        }
        return propose(ProposalKind.SUPERSEDE, [newer, older], at=now, keeps=newer.id, evidence=evidence)


def _some(groups: Sequence[Group], now: datetime) -> Sequence[Group]:
    """As many as a run takes; of too many others come first every day, so that none waits for ever."""
    first = now.toordinal() * RUN_GROUPS % max(len(groups), 1)
    return [*groups[first:], *groups[:first]][:RUN_GROUPS]
