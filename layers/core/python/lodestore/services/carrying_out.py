"""Carrying out an accepted proposal, by its kind.

Owns: the order of each: the undo record, then the write that does it, then a look at the members again. Guarantees:
where a member is no longer as the admin saw it, what was done is taken back and the proposal lapses with the reason,
so no newer statement is hidden by a decision about an older one (P-NO-LOST-UPDATE); safe to repeat from any point.
Gives up: deciding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lodestore.domain.caller import Caller, Role
from lodestore.domain.limits import SUPERSEDES
from lodestore.domain.member import Standing, digest_of, standing_of
from lodestore.domain.memory import Member, Memory
from lodestore.domain.proposal import Proposal, ProposalKind
from lodestore.domain.undo_record import UndoKind, UndoRecord
from lodestore.errors import Conflict, TooLarge, Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.deriving import Deriving
from lodestore.services.ledger import Ledger
from lodestore.services.releasing import Releasing
from lodestore.services.removing import Removal, Removing
from lodestore.services.undo_log import UndoLog

_TRIES = 8
Run = Callable[[Caller, Mapping[str, object]], dict[str, object]]


class Overtaken(Exception):
    """A member was not as it was read; nothing of the proposal stands. `reason`: what became of it."""

    def __init__(self, reason: Standing) -> None:
        super().__init__(reason)
        self.reason = reason


class CarryingOut:
    """Carries out proposals. `update` is the tool `update_memory`."""

    def __init__(
        self,
        ledger: Ledger,
        undo_log: UndoLog,
        removing: Removing,
        releasing: Releasing,
        deriving: Deriving,
        update: Run,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._undo_log = undo_log
        self._removing = removing
        self._releasing = releasing
        self._deriving = deriving
        self._update = update
        self._clock = clock
        self._by_kind: Mapping[ProposalKind, tuple[UndoKind, Callable[[Proposal], None]]] = {
            ProposalKind.SUPERSEDE: (UndoKind.SUPERSEDE, self._supersede),
            ProposalKind.PRUNE: (UndoKind.FORGET, self._prune),
            ProposalKind.MERGE: (UndoKind.MERGE, self._derive),
            ProposalKind.SUMMARY: (UndoKind.MERGE, self._derive),
        }

    def run(self, proposal: Proposal) -> None:
        """Do it. Raises Overtaken, Unavailable, Conflict and InvalidArgument (a cycle, too many superseded)."""
        undo_kind, act = self._by_kind[proposal.kind]
        self._check(proposal)
        others = tuple(member for member in proposal.members if member.id != proposal.keeps)
        if proposal.kind is ProposalKind.SUPERSEDE:
            others = self._with_members(proposal.tenant, others)
        record = UndoRecord(
            id=proposal.id,
            tenant=proposal.tenant,
            kind=undo_kind,
            by=proposal.id,
            conversation=proposal.conversation,
            result=proposal.id if undo_kind is UndoKind.MERGE else proposal.keeps,
            originals=others,
            made_at=self._clock.now(),
        )
        # One that was undone since is not done again by a late repeat of the decision.
        if self._undo_log.ensure(record).undone_at is None:
            act(proposal)

    def _with_members(self, tenant: str, others: tuple[Member, ...]) -> tuple[Member, ...]:
        """Also what merged ones among them were merged from: that is superseded, and released, with them."""
        found = self._ledger.read_many(tenant, tuple(member.id for member in others)).values()
        reads = (
            read
            for stands in found
            if stands is not None and isinstance(stands.record, Memory)
            for read in stands.record.consolidated_reads
        )
        return tuple({member.id: member for member in (*reads, *others)}.values())

    def check_room(self, proposal: Proposal) -> None:
        """Before it is decided. Raises TooLarge where what is kept would supersede more than a memory may."""
        if proposal.kind is not ProposalKind.SUPERSEDE or proposal.keeps is None:
            return
        current = self._ledger.read(proposal.tenant, proposal.keeps)
        before = () if current is None else current.record.supersedes
        wanted = len({*before, *proposal.member_ids} - {proposal.keeps})
        if wanted > SUPERSEDES:
            raise TooLarge(
                f"With this, {proposal.keeps} would supersede {wanted} memories; at most {SUPERSEDES}.",
                field="id",
                limit=SUPERSEDES,
                got=wanted,
                next_step="Decline this proposal, and forget the memory that no longer holds.",
            )

    def _check(self, proposal: Proposal) -> None:
        """Raises Overtaken where a member is another than it was; what this proposal itself forgot is none."""
        for member in proposal.members:
            standing = self._standing(proposal.tenant, member)
            pruned = proposal.kind is ProposalKind.PRUNE and standing is Standing.FORGOTTEN
            if standing is not Standing.AS_READ and not pruned:
                raise Overtaken(standing)

    def _supersede(self, proposal: Proposal) -> None:
        assert proposal.keeps is not None
        others = tuple(member.id for member in proposal.members if member.id != proposal.keeps)
        self._add(proposal, proposal.keeps, others)
        try:
            self._check(proposal)
        except Overtaken:
            reads = tuple(member for member in proposal.members if member.id != proposal.keeps)
            released = tuple(member.id for member in self._with_members(proposal.tenant, reads))
            self._releasing.release(proposal.tenant, proposal.keeps, released)
            raise

    def _add(self, proposal: Proposal, successor: str, others: tuple[str, ...]) -> None:
        caller = Caller(proposal.tenant, proposal.conversation, Role.ADMIN)
        for _ in range(_TRIES):
            current = self._ledger.read(proposal.tenant, successor)
            if current is None or not isinstance(current.record, Memory):
                raise Overtaken(Standing.FORGOTTEN)
            memory = current.record
            wanted = list(dict.fromkeys([*memory.supersedes, *others]))
            given = {"id": successor, "expected_version": memory.version, "supersedes": wanted}
            try:
                self._update(caller, given)
            except Conflict as error:
                if error.field != "expected_version":
                    raise
                continue
            return
        raise Unavailable("Too many writers at once on the memory that is kept; nothing was superseded.")

    def _prune(self, proposal: Proposal) -> None:
        (member,) = proposal.members
        removal = Removal(f"pruned by proposal {proposal.id}", str(Role.ADMIN), self._clock.now())
        if self._removing.remove(
            proposal.tenant, member.id, removal, lambda memory: digest_of(memory) == member.digest
        ):
            return
        standing = self._standing(proposal.tenant, member)
        if standing is not Standing.FORGOTTEN:
            raise Overtaken(standing)

    def _derive(self, proposal: Proposal) -> None:
        self._deriving.put(proposal)
        try:
            self._check(proposal)
        except Overtaken:
            # Readers leave it out by themselves from the moment that a member changed.
            self._deriving.take_back(proposal)
            raise

    def _standing(self, tenant: str, member: Member) -> Standing:
        current = self._ledger.read(tenant, member.id)
        return standing_of(member, None if current is None else current.record)
