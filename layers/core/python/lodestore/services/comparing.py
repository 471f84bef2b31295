"""Comparing: what a person should look at, as proposals.

Owns: the half of consolidation that changes nothing by itself: statements that contradict each other, and those that
may say the same in other forms of the words. Guarantees: candidates come from the index, never from all pairs; each
is judged on the memories themselves; the older one is proposed to be superseded, never merged with the newer (B75);
at most so many of a kind in a sleep, and nothing that was decided comes again. Gives up: what no rule sees; a model
may judge more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lodestore.domain.memory import Memory
from lodestore.domain.proposal import PER_SLEEP, Evidence, Proposal, ProposalKind, propose
from lodestore.ports.clock import Clock
from lodestore.retrieval.contradictions import contradict, topic_of
from lodestore.retrieval.sameness import Sameness, judge, read
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

    def __init__(self, truth: Truth, proposals: Proposals, clock: Clock) -> None:
        self._truth = truth
        self._proposals = proposals
        self._clock = clock

    def run(self, tenant: str, view: TenantView, *, dry_run: bool = False) -> Compared:
        """Propose what the view shows. Raises StoreUnavailable, Unavailable."""
        now = self._clock.now()
        topics, wordings = alike(view, now, "topic"), alike(view, now, "wording")
        wanted = [
            *self._each(tenant, _some(topics, now), _contradicted),
            *self._each(tenant, _some(wordings, now), _reworded),
        ]
        # One pair may be found by both rules, and is one proposal.
        distinct = {proposal.id: proposal for proposal in reversed(wanted)}
        return Compared(
            proposed=self._proposals.propose(tenant, list(reversed(distinct.values())), dry_run=dry_run),
            groups=len(topics) + len(wordings),
            left=len(topics[RUN_GROUPS:]) + len(wordings[RUN_GROUPS:]),
        )

    def _each(self, tenant: str, groups: Sequence[Group], rule: _Rule) -> Iterator[Proposal]:
        now = self._clock.now()
        truth = self._truth.read_many(tenant, [memory_id for group in groups for memory_id in group])
        for group in groups:
            found = (truth[memory_id].record for memory_id in group)
            memories = [one for one in found if isinstance(one, Memory) and not one.expired_at(now)]
            memories.sort(key=lambda memory: (memory.holds_from, memory.updated_at, memory.id), reverse=True)
            yield from rule(memories[:GROUP_MOST], now)


_Rule = Callable[[Sequence[Memory], datetime], Iterator[Proposal]]


def _some(groups: Sequence[Group], now: datetime) -> Sequence[Group]:
    """As many as a run takes; of too many others come first every day, so that none waits for ever."""
    first = now.toordinal() * RUN_GROUPS % max(len(groups), 1)
    return [*groups[first:], *groups[:first]][:RUN_GROUPS]


def _contradicted(newest_first: Sequence[Memory], now: datetime) -> Iterator[Proposal]:
    """Each older one that says another thing of the same than the newest."""
    for older in newest_first[1:]:
        newest = newest_first[0]
        topic = topic_of(newest.content)
        if topic is not None and contradict(topic, topic_of(older.content)):
            yield _superseding(newest, older, now, f"says another {topic.kind} of the same")


def _reworded(newest_first: Sequence[Memory], now: datetime) -> Iterator[Proposal]:
    """Each older one that the newest may stand for."""
    for older in newest_first[1:]:
        if judge(read(newest_first[0].content), read(older.content)) is Sameness.WORDING:
            yield _superseding(newest_first[0], older, now, "may say the same in other forms of the words")


def _superseding(keeps: Memory, other: Memory, now: datetime, rule: str) -> Proposal:
    days = (keeps.holds_from - other.holds_from).days
    evidence: Evidence = {"rule": rule, "days between": days, "pinned": other.pinned}
    return propose(ProposalKind.SUPERSEDE, [keeps, other], at=now, keeps=keeps.id, evidence=evidence)
