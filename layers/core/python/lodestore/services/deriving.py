"""Deriving: the memory that an accepted text of a model becomes.

Owns: the write of a merge or a summary that an admin accepted, under the proposal's id. Guarantees: it is a merged
memory like those of consolidation: it lists what it was made of, holds for every reader only while each member says
what was read (P-FORGOTTEN), and `undo` with its id takes it back; nothing of another's is written over; safe to repeat.
Gives up: deciding, and judging the text; the guard did before it was proposed.
"""

from __future__ import annotations

from dataclasses import replace

from lodestore.domain.consolidation import summed_up, worded
from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Memory, Record, continued
from lodestore.domain.proposal import Proposal, ProposalKind
from lodestore.errors import Conflict, Unavailable
from lodestore.services.ledger import Displaced, Ledger, Quarantined
from lodestore.services.withdrawing import BY, Withdrawing


class Deriving:
    """Writes of all tenants."""

    def __init__(self, ledger: Ledger, withdrawing: Withdrawing) -> None:
        self._ledger = ledger
        self._withdrawing = withdrawing

    def put(self, proposal: Proposal) -> None:
        """Write it; where a member is gone by now, nothing is. Raises Conflict, Unavailable."""
        draft = self._draft(proposal)
        if draft is None:
            return
        standing = self._ledger.read(proposal.tenant, proposal.id)
        over = None if standing is None else standing.record
        if isinstance(over, Memory) and over.consolidated_reads == draft.consolidated_reads:
            self._ledger.ensure_marked(proposal.tenant, proposal.id, over.revision)
            return
        # Its own stub, of a run that was overtaken, may go.
        if over is not None and (isinstance(over, Memory) or over.forgotten_by != BY):
            raise _taken(proposal.id)

        def write(revision: str) -> Record:
            return replace(draft, revision=revision, recent=continued(over, revision))

        try:
            if isinstance(self._ledger.write(proposal.tenant, proposal.id, standing, write), Displaced):
                raise Unavailable("Another writer was there at once; decide again.", written="unknown")
        except Quarantined:
            raise _taken(proposal.id) from None

    def take_back(self, proposal: Proposal) -> None:
        """Withdraw it, where it stands and a member does not. Raises StoreUnavailable, Unavailable."""
        self._withdrawing.withdraw(proposal.tenant, proposal.id)

    def _draft(self, proposal: Proposal) -> Memory | None:
        """None where a member is not as it was read; the look at the members that follows says so."""
        found = self._ledger.read_many(proposal.tenant, proposal.member_ids)
        memories: list[Memory] = []
        for member in proposal.members:
            stands = found[member.id]
            record = None if stands is None else stands.record
            # The text was written of what was read, and may stand for nothing newer.
            if standing_of(member, record) is not Standing.AS_READ or not isinstance(record, Memory):
                return None
            memories.append(record)
        if proposal.text is None:
            return None
        if proposal.kind is ProposalKind.SUMMARY:
            return summed_up(proposal.id, memories, proposal.text)
        return worded(proposal.id, memories, proposal.text)


def _taken(proposal_id: str) -> Conflict:
    return Conflict(
        f"Something else stands under the id {proposal_id}.",
        memory_id=proposal_id,
        current_version=None,
        field="id",
        next_step="Forget that memory, or decline this proposal.",
    )
