"""The groups of old events that a model is asked to sum up, and the proposals that follow.

Owns: from a group to a proposal of one summary. Guarantees: what is proposed, was decided or was refused before is not
asked again; the events are read from the truth before they are sent. Gives up: groups over GROUP_BYTES, whose events
are taken in fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from itertools import accumulate
from typing import Final

from lodestore.domain.memory import Memory
from lodestore.domain.proposal import Evidence, ProposalKind, ProposalStatus, proposal_id, propose
from lodestore.ports.clock import Clock
from lodestore.services.asking import Asking, OverBudget
from lodestore.services.model_summaries import PROMPT, sum_up
from lodestore.services.old_events import old_events
from lodestore.services.proposals import Proposals
from lodestore.services.review_findings import Findings
from lodestore.services.tenant_view import TenantView
from lodestore.services.truth import Truth

RUN_GROUPS: Final = 5
GROUP_BYTES: Final = 24_000
SUMS_UP: Final = "sums up old events, written by the model"


class ReviewSummaries:
    """Summaries of all tenants."""

    def __init__(self, truth: Truth, proposals: Proposals, clock: Clock) -> None:
        self._truth = truth
        self._proposals = proposals
        self._clock = clock

    def count(self, view: TenantView) -> int:
        """How many groups of old events there are."""
        return len(old_events(view, self._clock.now()))

    def run(
        self,
        tenant: str,
        view: TenantView,
        asking: Asking,
        refused: Collection[str],
        going: Callable[[], bool],
    ) -> Findings:
        """Ask for summaries. Raises StoreUnavailable."""
        now = self._clock.now()
        found = Findings()
        groups = old_events(view, now)
        for number, group in enumerate(groups):
            if (
                not going()
                or found.asked >= RUN_GROUPS
                or not self._ask(tenant, group, asking, refused, found, now)
            ):
                found.left = len(groups) - number
                break
        return found

    def _ask(
        self,
        tenant: str,
        group: tuple[str, ...],
        asking: Asking,
        refused: Collection[str],
        found: Findings,
        now: datetime,
    ) -> bool:
        """Ask about one group; False where the run has to end."""
        events = self._events(tenant, group)
        if len(events) < 2:
            return True
        wanted = proposal_id(ProposalKind.SUMMARY, events)
        if wanted in refused or self._is_known(tenant, wanted):
            return True
        text = sum_up(asking, events)
        if isinstance(text, OverBudget):
            return False
        if not isinstance(text, str):
            found.disappointed(wanted, text)
            return found.stopped is None
        found.asked += 1
        evidence: Evidence = {
            "judge": asking.name[:200],
            "prompt": PROMPT.label,
            "why": SUMS_UP,
            "events": len(events),
            "days between": (events[-1].holds_from - events[0].holds_from).days,
        }
        found.wanted.append(propose(ProposalKind.SUMMARY, events, at=now, text=text, evidence=evidence))
        return True

    def _events(self, tenant: str, group: tuple[str, ...]) -> list[Memory]:
        """What of the group stands, as much as one question holds."""
        truth = self._truth.read_many(tenant, group)
        records = (truth[memory_id].record for memory_id in group)
        events = [
            record for record in records if isinstance(record, Memory) and not record.consolidated_reads
        ]
        sizes = accumulate(len(event.content.encode()) for event in events)
        return [event for event, size in zip(events, sizes, strict=True) if size <= GROUP_BYTES]

    def _is_known(self, tenant: str, wanted: str) -> bool:
        stored = self._proposals.get(tenant, wanted)
        return stored is not None and stored.proposal.status is not ProposalStatus.LAPSED


def refused_ids(found: Findings) -> tuple[str, ...]:
    """Proposals whose text was refused or could not be had: not to be asked for again, unless the service was away."""
    failed = () if found.stopped is not None else found.failures
    return tuple(wanted for wanted, _ in [*found.refusals, *failed])
