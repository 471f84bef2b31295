"""Which services proposals and undo are made of.

Owns: putting them together from those that a process has once. Guarantees: no request is made here.
Gives up: adapters and settings, which only `bootstrap` knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from lodestore.services.carrying_out import CarryingOut, Run
from lodestore.services.deciding import DecideProposal
from lodestore.services.deriving import Deriving
from lodestore.services.handing_on import HandingOn
from lodestore.services.old_versions import OldVersions
from lodestore.services.proposal_listing import ListProposals
from lodestore.services.proposals import Proposals
from lodestore.services.releasing import Releasing
from lodestore.services.removing import Removing
from lodestore.services.supersede import Superseding
from lodestore.services.undo_log import UndoLog
from lodestore.services.undoing import Undo
from lodestore.services.wiring import Foundation, Shared
from lodestore.services.withdrawing import Withdrawing
from lodestore.settings import SecretPolicy


@dataclass(frozen=True, slots=True)
class ProposalTools:
    """The tools of this part."""

    listing: ListProposals
    deciding: DecideProposal
    undo: Undo


def wire_proposals(
    a: Foundation, s: Shared, proposals: Proposals, *, update: Run, restore: Run, secrets: SecretPolicy
) -> ProposalTools:
    """The tools that list, decide and undo; `update` and `restore` are those of the same names."""
    undo_log = UndoLog(a.index, a.meter)
    superseding = Superseding(s.ledger)
    releasing = Releasing(s.ledger, superseding, s.tombstones)
    removing = Removing(s.ledger, s.tombstones)
    handing_on = HandingOn(s.ledger, OldVersions(a.state, s.truth), a.clock)
    withdrawing = Withdrawing(s.views, s.truth, removing, handing_on, a.clock)
    deriving = Deriving(s.ledger, withdrawing)
    carrying_out = CarryingOut(s.ledger, undo_log, removing, releasing, deriving, update, a.clock)
    return ProposalTools(
        ListProposals(proposals, s.truth),
        DecideProposal(proposals, carrying_out, a.clock, secrets=secrets),
        Undo(s.ledger, undo_log, removing, releasing, restore, a.clock),
    )


def proposals_of(a: Foundation, s: Shared) -> Proposals:
    """The stored proposals."""
    return Proposals(a.index, s.views, s.truth, clock=a.clock, workers=a.workers, meter=a.meter)
