"""Proposals as stored: made, read, settled beside the memories that they are about.

Owns: `proposals/`. Guarantees: at most PER_SLEEP of a kind at once and PER_TENANT in all, the oldest lapsed ones
removed to make room, the rest counted as left; what was decided is never made again (B76); one whose memories changed,
were forgotten, superseded or expired lapses with the reason, and its words go, as do those of one whose text became a
memory that says something else by now (P-FORGOTTEN); every change is a compare-and-swap over what was read, so of two
decisions one counts (P-NO-LOST-UPDATE).
Gives up: an object that is no proposal; it is counted and left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Member, Memory
from lodestore.domain.proposal import PER_SLEEP, PER_TENANT, Proposal, ProposalKind, ProposalStatus
from lodestore.format import keys
from lodestore.format.proposals import InvalidProposal, decode_proposal, encode_proposal
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, Won
from lodestore.services import columns
from lodestore.services.tenant_view import TenantViews
from lodestore.services.truth import Read, Truth

PROPOSAL_BYTES: Final = 65_536
SUPERSEDED: Final = "superseded"
EXPIRED: Final = "expired"


@dataclass(frozen=True, slots=True)
class Stored:
    """A proposal, and the ETag that a replacement must name."""

    proposal: Proposal
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What became of proposals: `made` ones are new, `known` ones stand or were decided, `left` ones were too many."""

    made: tuple[Proposal, ...] = ()
    known: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Which lapsed, with the reason in them, and of how many decided ones the words went."""

    lapsed: tuple[Proposal, ...] = ()
    cleared: int = 0


class Proposals:
    """The proposals of all tenants."""

    def __init__(
        self,
        index: ObjectStore,
        views: TenantViews,
        truth: Truth,
        *,
        clock: Clock,
        workers: Executor,
        meter: Meter,
    ) -> None:
        self._index = index
        self._views = views
        self._truth = truth
        self._clock = clock
        self._workers = workers
        self._meter = meter

    def all(self, tenant: str) -> dict[str, Stored]:
        """Every proposal by its id. Raises StoreUnavailable."""
        ids = [
            name.id
            for page in self._index.list(keys.proposals_of(tenant))
            for entry in page.entries
            if (name := keys.parse_proposal(entry.key)) is not None
        ]
        found = self._workers.map(lambda proposal_id: self.get(tenant, proposal_id), ids)
        return {stored.proposal.id: stored for stored in found if stored is not None}

    def get(self, tenant: str, proposal_id: str) -> Stored | None:
        """One proposal; None where there is none that can be read. Raises StoreUnavailable."""
        try:
            found = self._index.get(keys.proposal(tenant, proposal_id), max_bytes=PROPOSAL_BYTES)
            if not isinstance(found, Found):
                return None
            return Stored(decode_proposal(found.body, tenant, proposal_id), found.etag)
        except (InvalidProposal, ObjectTooLarge):
            self._meter.count("proposal_quarantined")
            return None

    def propose(self, tenant: str, wanted: Sequence[Proposal], *, dry_run: bool = False) -> Proposed:
        """Make those that are new, in the order given. Call it once a sleep for each kind. Raises StoreUnavailable."""
        if not wanted:
            return Proposed()
        stored = self.all(tenant)
        room = PER_TENANT - len(stored)
        if not dry_run and room < len(wanted):
            room += self._drop_lapsed(stored, len(wanted) - max(room, 0), but={one.id for one in wanted})
        made: list[Proposal] = []
        of_kind: Counter[ProposalKind] = Counter()
        known = left = 0
        for proposal in wanted:
            before = stored.get(proposal.id)
            if before is not None and before.proposal.status is not ProposalStatus.LAPSED:
                known += 1
            elif of_kind[proposal.kind] >= PER_SLEEP or (before is None and room <= 0):
                left += 1
            elif dry_run or self._make(proposal, before):
                of_kind[proposal.kind] += 1
                room -= before is None
                made.append(proposal)
        return Proposed(made=tuple(made), known=known, left=left)

    def _drop_lapsed(self, stored: Mapping[str, Stored], most: int, *, but: Collection[str]) -> int:
        """Remove the oldest lapsed ones, which hold no words, to make room; how many went."""
        lapsed = [
            one.proposal
            for one in stored.values()
            if one.proposal.status is ProposalStatus.LAPSED and one.proposal.id not in but
        ]
        oldest = sorted(
            lapsed, key=lambda proposal: (proposal.decided_at or proposal.created_at, proposal.id)
        )
        for proposal in oldest[:most]:
            self._index.delete(keys.proposal(proposal.tenant, proposal.id))
        return len(oldest[:most])

    def replace(self, stored: Stored, proposal: Proposal) -> Stored | None:
        """Put `proposal` over what was read; None where another stands there by now. Raises StoreUnavailable."""
        key, body = keys.proposal(proposal.tenant, proposal.id), encode_proposal(proposal)
        outcome = self._index.replace(key, body, expected=stored.etag)
        if isinstance(outcome, Won):
            return Stored(proposal, outcome.etag)
        now = self.get(proposal.tenant, proposal.id)
        return now if now is not None and now.proposal == proposal else None

    def settle(self, tenant: str, *, dry_run: bool = False) -> Settled:
        """Compare all with the memories as they are. Raises StoreUnavailable, Unavailable."""
        return self.settle_these(tenant, list(self.all(tenant).values()), dry_run=dry_run)

    def settle_these(self, tenant: str, stored: Collection[Stored], *, dry_run: bool = False) -> Settled:
        """The same for these."""
        open_ones = [one for one in stored if _is_pending(one.proposal) or one.proposal.has_words]
        if not open_ones:
            return Settled()
        reasons = self._reasons(tenant, open_ones)
        replaced = self._replaced(tenant, open_ones)
        lapsed: list[Proposal] = []
        cleared = 0
        for one in open_ones:
            reason = reasons.get(one.proposal.id)
            if reason != Standing.FORGOTTEN and one.proposal.id in replaced:
                reason = Standing.CHANGED
            if reason is None:
                continue
            if _is_pending(one.proposal):
                over = one.proposal.lapsed(reason, self._clock.now())
                if dry_run or self.replace(one, over):
                    lapsed.append(over)
            elif reason in (Standing.FORGOTTEN, Standing.CHANGED):
                cleared += bool(dry_run or self.replace(one, one.proposal.without_words()))
        return Settled(lapsed=tuple(lapsed), cleared=cleared)

    def _reasons(self, tenant: str, stored: Sequence[Stored]) -> dict[str, str]:
        """Proposal id to why it no longer holds."""
        ids = {member_id for one in stored for member_id in one.proposal.member_ids}
        truth = self._truth.read_many(tenant, sorted(ids))
        view = self._views.load(tenant)
        superseded = columns.ids_among(view, columns.superseded(view), ids)
        now = self._clock.now()
        found: dict[str, str] = {}
        for one in stored:
            reasons = [_reason(member, truth, superseded, now) for member in one.proposal.members]
            # Forgotten counts before all else: then words have to go, whatever else happened.
            for reason in (Standing.FORGOTTEN, Standing.CHANGED, SUPERSEDED, EXPIRED):
                if reason in reasons:
                    found[one.proposal.id] = str(reason)
                    break
        return found

    def _replaced(self, tenant: str, stored: Sequence[Stored]) -> frozenset[str]:
        """Carried out, and what their text became was forgotten, undone or changed since: the text has to go."""
        texts = {one.proposal.id: one.proposal.text for one in stored if one.proposal.done}
        truth = self._truth.read_many(tenant, sorted(m for m, text in texts.items() if text is not None))
        return frozenset(
            memory_id
            for memory_id, read in truth.items()
            if not isinstance(read.record, Memory) or read.record.content != texts[memory_id]
        )

    def _make(self, proposal: Proposal, before: Stored | None) -> bool:
        if before is not None:
            return self.replace(before, proposal) is not None
        key = keys.proposal(proposal.tenant, proposal.id)
        if isinstance(self._index.create(key, encode_proposal(proposal)), Won):
            return True
        now = self.get(proposal.tenant, proposal.id)
        return now is not None and now.proposal == proposal


def _is_pending(proposal: Proposal) -> bool:
    return proposal.status is ProposalStatus.PENDING


def _reason(
    member: Member, truth: Mapping[str, Read], superseded: frozenset[str], now: datetime
) -> str | None:
    record = truth[member.id].record
    standing = standing_of(member, record)
    if standing is not Standing.AS_READ:
        return standing
    if member.id in superseded:
        return SUPERSEDED
    return EXPIRED if isinstance(record, Memory) and record.expired_at(now) else None
