"""Deciding: an admin accepts or declines a proposal.

Owns: the tool `decide_proposal`. Guarantees: the decision is stored before anything is done, and once: a repeat gives
the same answer and finishes what a killed call began, another decision is refused; what lapsed can't be accepted; what
is accepted is done, or lapses with the reason. Gives up: changing one's mind; what was accepted is undone by `undo`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.proposal import Proposal, ProposalStatus
from lodestore.errors import Conflict, InvalidArgument, NotFound, Unavailable
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.arguments import Arguments
from lodestore.services.carrying_out import CarryingOut, Overtaken
from lodestore.services.proposal_listing import shows
from lodestore.services.proposals import Proposals, Stored
from lodestore.services.statements import Screen
from lodestore.settings import SecretPolicy

ARGUMENTS = ("id", "accept", "note")
_TRIES = 8


class DecideProposal:
    """The tool `decide_proposal`."""

    def __init__(
        self, proposals: Proposals, carrying_out: CarryingOut, clock: Clock, *, secrets: SecretPolicy
    ) -> None:
        self._proposals = proposals
        self._carrying_out = carrying_out
        self._clock = clock
        self._secrets = secrets

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{id, kind, status, done, undo}. Raises InvalidArgument, NotFound, Conflict, Unavailable."""
        arguments = Arguments("decide_proposal", given, ARGUMENTS)
        proposal_id = arguments.required_identifier()
        accept = arguments.flag("accept")
        if accept is None:
            raise InvalidArgument("accept is required.", field="accept", limit="true or false")
        note = Screen(self._secrets).text("note", arguments.text("note", most_bytes=limits.REASON_BYTES))
        try:
            stored = self._decided(caller, proposal_id, accept=accept, note=note)
            if accept and not stored.proposal.done:
                stored = self.carry_out(stored)
        except StoreUnavailable:
            # Where it failed is not known here: the decision may stand already.
            raise Unavailable("The store did not answer.", written="unknown") from None
        return _answer(stored.proposal)

    def carry_out(self, stored: Stored) -> Stored:
        """Do what was accepted, and say so in the proposal. Raises Conflict where it lapsed; Unavailable."""
        proposal = stored.proposal
        try:
            self._carrying_out.run(proposal)
        except Overtaken as overtaken:
            self._proposals.replace(stored, proposal.lapsed(overtaken.reason, self._clock.now()))
            raise _lapsed(proposal.id, overtaken.reason) from None
        return self._proposals.replace(stored, replace(proposal, done=True)) or stored

    def _decided(self, caller: Caller, proposal_id: str, *, accept: bool, note: str | None) -> Stored:
        """The proposal once it is stored as decided this way, by this call or an earlier one."""
        wanted = ProposalStatus.ACCEPTED if accept else ProposalStatus.DECLINED
        for _ in range(_TRIES):
            stored = self._proposals.get(caller.tenant, proposal_id)
            if stored is None or not shows(stored.proposal, caller):
                raise _not_found(proposal_id)
            proposal = stored.proposal
            if proposal.status is wanted:
                return stored
            if proposal.status is ProposalStatus.LAPSED:
                raise _lapsed(proposal_id, str(proposal.reason))
            if proposal.status is not ProposalStatus.PENDING:
                raise _decided_otherwise(proposal)
            if self._proposals.settle_these(caller.tenant, [stored]).lapsed:
                continue
            if accept:
                self._carrying_out.check_room(proposal)
            decided = proposal.decided(accept=accept, by=str(caller.role), at=self._clock.now(), note=note)
            if (after := self._proposals.replace(stored, decided)) is not None:
                return after
        raise Unavailable("Too many decisions at once on this proposal; this one was not stored.")


def _answer(proposal: Proposal) -> dict[str, object]:
    return {
        "id": proposal.id,
        "kind": str(proposal.kind),
        "status": str(proposal.status),
        "done": proposal.done,
        "undo": proposal.id if proposal.done else None,
    }


def _decided_otherwise(proposal: Proposal) -> Conflict:
    return Conflict(
        f"This proposal was {proposal.status} before.",
        memory_id=proposal.id,
        current_version=None,
        field="accept",
        next_step="What was accepted is taken back with undo; what was declined can be done by hand.",
    )


def _lapsed(proposal_id: str, reason: str) -> Conflict:
    return Conflict(
        f"This proposal lapsed: a memory of it is {reason}.",
        memory_id=proposal_id,
        current_version=None,
        field="id",
        next_step="Call list_proposals for those that hold.",
    )


def _not_found(proposal_id: str) -> NotFound:
    return NotFound(
        f"No proposal {proposal_id!r} is visible here.",
        field="id",
        got=proposal_id,
        next_step="Call list_proposals to get a current id.",
    )
