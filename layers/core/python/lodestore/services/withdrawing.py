"""Withdrawing: merged memories that do not hold any more, and members that were forgotten with theirs.

Owns: the repair that the sweep and the purge make whatever is switched off. Guarantees: a merged memory of which a
member is forgotten, gone or changed becomes a stub that supersedes nothing and is as old as the forgotten member's,
so that its old versions go when the member's do (P-FORGOTTEN); what a forgotten merged memory was made of is
forgotten too. Both are judged on the truth, again by every reader before this ran (services/founded), and safe to
repeat.
Gives up: making a new merged memory of the rest; the next consolidation does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Member, Memory, Stub
from lodestore.ports.clock import Clock
from lodestore.retrieval.segment import Segment
from lodestore.services.founded import row_of_values
from lodestore.services.handing_on import HandingOn
from lodestore.services.removing import Ending, Removal, Removing
from lodestore.services.tenant_view import TenantView, TenantViews
from lodestore.services.truth import Truth

BY = "consolidation"
RUN_MEMORIES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """What one run did; with `dry_run`, what it would do. `forgotten`: members of forgotten merged memories."""

    ids: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    left: int = 0

    @property
    def changed(self) -> bool:
        """Whether anything was done."""
        return bool(self.ids or self.forgotten)


class Withdrawing:
    """Withdrawals of all tenants."""

    def __init__(
        self, views: TenantViews, truth: Truth, removing: Removing, handing_on: HandingOn, clock: Clock
    ) -> None:
        self._views = views
        self._truth = truth
        self._removing = removing
        self._handing_on = handing_on
        self._clock = clock

    def run(self, tenant: str, view: TenantView | None = None, *, dry_run: bool = False) -> Withdrawn:
        """Repair a tenant's merged memories as `view` shows them. Raises StoreUnavailable, Unavailable."""
        view = view or self._views.load(tenant)
        # Whoever merged the replaced ones anew was killed before it withdrew them.
        found = sorted(_unfounded(view)), sorted(_replaced(view)), sorted(_owing(view))
        unfounded, replaced, owing = (some[:RUN_MEMORIES] for some in found)
        ids = [m for m in unfounded if self.withdraw(tenant, m, dry_run=dry_run)]
        ids += [m for m in replaced if self.withdraw(tenant, m, dry_run=dry_run, replaced=True)]
        forgotten = [m for stub in owing for m in self._forget(tenant, stub, dry_run=dry_run)]
        left = sum(len(some[RUN_MEMORIES:]) for some in found)
        return Withdrawn(ids=tuple(ids), forgotten=tuple(forgotten), left=left)

    def withdraw(self, tenant: str, memory_id: str, *, dry_run: bool = False, replaced: bool = False) -> bool:
        """Withdraw one merged memory where a member is not as read, or another was merged in its place (`replaced`)."""
        memory = self._truth.read(tenant, memory_id).record
        if not isinstance(memory, Memory) or not memory.consolidated_reads:
            return False
        replaced = replaced and memory.version == 1
        since = self._lost_since(tenant, memory.consolidated_reads)
        if since is None and not replaced:
            return False
        reason = (
            "merged anew with more" if since is None else "a memory that it was merged from does not stand"
        )
        removal = Removal(reason, BY, since or self._clock.now(), Ending.WITHDRAW)
        if dry_run:
            return True
        self._handing_on.run(memory)
        return self._removing.remove(
            tenant, memory_id, removal, lambda now: now.consolidated_reads == memory.consolidated_reads
        )

    def _lost_since(self, tenant: str, members: tuple[Member, ...]) -> datetime | None:
        """Since when a member is not as read, the earliest; None: all are."""
        truth = self._truth.read_many(tenant, [member.id for member in members])
        lost = [
            record.forgotten_at if isinstance(record := truth[member.id].record, Stub) else self._clock.now()
            for member in members
            if standing_of(member, truth[member.id].record) is not Standing.AS_READ
        ]
        return min(lost, default=None)

    def _forget(self, tenant: str, stub_id: str, *, dry_run: bool) -> tuple[str, ...]:
        stub = self._truth.read(tenant, stub_id).record
        if not isinstance(stub, Stub):
            return ()
        owed = tuple(member for member in stub.consolidated_reads if member.id in stub.supersedes)
        if dry_run:
            truth = self._truth.read_many(tenant, [member.id for member in owed])
            return tuple(m.id for m in owed if standing_of(m, truth[m.id].record) is Standing.AS_READ)
        removal = Removal(stub.reason, stub.forgotten_by, stub.forgotten_at)
        return self._removing.remove_members(tenant, owed, removal)


def _unfounded(view: TenantView) -> Iterator[str]:
    for part in view.parts:
        yield from (part.segment.text("id", row) for row in part.unfounded)


def _replaced(view: TenantView) -> Iterator[str]:
    """Merged memories that hold and share a member with one of more members."""
    merged = [
        (len(members := segment.values("members", row).tolist()), segment.text("id", row), members)
        for segment, row in _made_of_members(view, stubs=False)
    ]
    taken: set[int] = set()
    for _, memory_id, members in sorted(merged, reverse=True):
        if taken.intersection(members):
            yield memory_id
        taken.update(members)


def _owing(view: TenantView) -> Iterator[str]:
    """Stubs of forgotten merged memories of which a member stands."""
    standing = [part.segment["id_hash"][part.counts & (part.segment["stub"] == 0)] for part in view.parts]
    live = np.unique(np.concatenate([np.zeros(0, np.uint64), *standing]))
    for segment, row in _made_of_members(view, stubs=True):
        named = np.intersect1d(segment.values("members", row), segment.values("supersedes", row))
        if np.isin(named, live).any():
            yield segment.text("id", row)


def _made_of_members(view: TenantView, *, stubs: bool) -> Iterator[tuple[Segment, int]]:
    """Rows that count and name members: of stubs, or of memories."""
    for part in view.parts:
        segment = part.segment
        rows = np.unique(row_of_values(segment, "members"))
        chosen = part.counts & ((segment["stub"] != 0) == stubs)
        yield from ((segment, row) for row in rows[chosen[rows]].tolist())
