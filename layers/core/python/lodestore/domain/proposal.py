"""Proposals: what maintenance would do to the meaning of memories, and does only when an admin says so.

Owns: `Proposal`, its id and its course: pending, then accepted, declined or lapsed. Guarantees: an id follows from
kind, members and their contents, so the same proposal is known again and is never made twice once it is decided;
words (texts, evidence, a note) stay only as long as every member says what was read (P-FORGOTTEN), and evidence by
its rule holds none of a memory. Values never change.
Gives up: carrying out; `services/carrying_out` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from lodestore.domain.identity import digest
from lodestore.domain.member import member_of
from lodestore.domain.memory import Member, Memory, Scope

Evidence = Mapping[str, str | int | float | bool]
# Of one kind, in one sleep.
PER_SLEEP: Final = 50
# Of one tenant, decided ones included, since they are what keeps a proposal from coming again.
PER_TENANT: Final = 5_000
MEMBERS_MOST: Final = 32
TEXT_BYTES: Final = 8_000
EVIDENCE_MOST: Final = 16
EVIDENCE_CHARACTERS: Final = 200
_DERIVED_HEX: Final = 32


class ProposalKind(StrEnum):
    """What would be done.

    supersede   `keeps` takes the place of the others
    prune       the one member is forgotten
    merge       one memory with the proposal's text takes the place of all, which say the same
    summary     the same, of old events that it sums up
    """

    SUPERSEDE = "supersede"
    PRUNE = "prune"
    MERGE = "merge"
    SUMMARY = "summary"


# What a model wrote a text for; the memory made of it has the proposal's id.
WITH_TEXT: Final = frozenset({ProposalKind.MERGE, ProposalKind.SUMMARY})


class ProposalStatus(StrEnum):
    """Where it stands. What is lapsed comes again where its reason is gone; what was decided never does."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One proposal.

    members       as they were read, by id
    conversation  whose notes they are; None: they are the whole project's
    keeps         the member that stands afterwards; None where none of them does
    text          of the kinds WITH_TEXT: what a model wrote, to stand for the members
    evidence      why, in figures and fixed words; never a word of a memory
    reason        why it lapsed
    done          an accepted one: whether it is carried out
    """

    id: str
    tenant: str
    kind: ProposalKind
    status: ProposalStatus
    members: tuple[Member, ...]
    conversation: str | None
    keeps: str | None
    text: str | None = None
    evidence: Evidence = field(default_factory=dict)
    created_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    note: str | None = None
    reason: str | None = None
    done: bool = False

    @property
    def member_ids(self) -> tuple[str, ...]:
        """The ids of its members."""
        return tuple(member.id for member in self.members)

    @property
    def has_words(self) -> bool:
        """Whether it holds anything that a person or a model wrote."""
        return bool(self.evidence) or self.note is not None or self.text is not None

    def without_words(self) -> Proposal:
        """The proposal with ids, digests and its course alone."""
        return replace(self, evidence={}, note=None, text=None)

    def lapsed(self, reason: str, at: datetime) -> Proposal:
        """The proposal as lapsed."""
        return replace(self.without_words(), status=ProposalStatus.LAPSED, reason=reason, decided_at=at)

    def decided(self, *, accept: bool, by: str, at: datetime, note: str | None) -> Proposal:
        """The proposal as an admin decided."""
        status = ProposalStatus.ACCEPTED if accept else ProposalStatus.DECLINED
        return replace(self, status=status, decided_by=by, decided_at=at, note=note)


def propose(
    kind: ProposalKind,
    members: Sequence[Memory],
    *,
    at: datetime,
    keeps: str | None = None,
    text: str | None = None,
    evidence: Evidence | None = None,
) -> Proposal:
    """A new proposal about these memories of one tenant, and of one conversation where they are scoped.

    Raises ValueError for members that no proposal can have; that is a fault of the caller's.
    """
    ordered = sorted(members, key=lambda memory: memory.id)
    conversations = {
        memory.conversation if memory.scope is Scope.CONVERSATION else None for memory in ordered
    }
    if not 1 <= len({memory.id for memory in ordered}) == len(ordered) <= MEMBERS_MOST:
        raise ValueError(f"1 to {MEMBERS_MOST} different members")
    if len({memory.tenant for memory in ordered}) > 1 or len(conversations) > 1:
        raise ValueError("members of one tenant and one scope")
    if keeps is not None and keeps not in {memory.id for memory in ordered}:
        raise ValueError("what is kept is a member")
    if (text is not None) is not (kind in WITH_TEXT) or not _fits(text):
        raise ValueError(f"a text of at most {TEXT_BYTES} bytes, for a merge or a summary alone")
    return Proposal(
        id=proposal_id(kind, ordered, keeps),
        tenant=ordered[0].tenant,
        kind=kind,
        status=ProposalStatus.PENDING,
        members=tuple(member_of(memory) for memory in ordered),
        conversation=conversations.pop(),
        keeps=keeps,
        text=text,
        evidence=checked_evidence(evidence or {}),
        created_at=at,
    )


def checked_evidence(evidence: Evidence) -> Evidence:
    """The evidence, bounded. Raises ValueError for more than is shown; that is a fault of the caller's."""
    texts = [*evidence, *(value for value in evidence.values() if isinstance(value, str))]
    if len(evidence) > EVIDENCE_MOST or any(len(text) > EVIDENCE_CHARACTERS for text in texts):
        raise ValueError(f"at most {EVIDENCE_MOST} items of {EVIDENCE_CHARACTERS} characters")
    return dict(evidence)


def proposal_id(kind: ProposalKind, members: Sequence[Memory], keeps: str | None = None) -> str:
    """By contents and not by revisions: a note or a new tag is no reason to ask again what was decided."""
    ordered = sorted(members, key=lambda memory: memory.id)
    parts = [part for memory in ordered for part in (memory.id, memory.content)]
    return f"p{digest('proposal', kind, keeps or '', *parts)[:_DERIVED_HEX]}"


def _fits(text: str | None) -> bool:
    return text is None or 0 < len(text.encode()) <= TEXT_BYTES
