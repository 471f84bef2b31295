"""Consolidation: memories that say the same become one, and nothing is lost on the way.

Owns: the step `consolidate` and the order of writes of design section 6: undo record, then the merged memory where
nothing stands (If-None-Match), then its members read again: one that is not as it was read, and the merged one is
withdrawn. Guarantees: readers apply the same rule by themselves (services/founded), so recall finds the fact between
any two steps; the members' objects are not touched, and come back byte by byte with `undo` (P-REVERSIBLE-SLEEP); the
same merges whatever is run first, in one run or many; killed anywhere and run again it ends the same (P-IDEMPOTENT).
Gives up: other words for the same thing; those are proposed (services/comparing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from lodestore.domain.consolidation import MEMBERS_MOST, merged, says_what_each_says
from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Memory, Record, Scope, continued
from lodestore.domain.undo_record import UndoKind, UndoRecord
from lodestore.ports.clock import Clock
from lodestore.retrieval.likeness import merge_form
from lodestore.services.comparing import Compared, Comparing
from lodestore.services.ledger import Displaced, Ledger, Quarantined
from lodestore.services.ledger import Standing as Stands
from lodestore.services.merge_groups import groups_of
from lodestore.services.proposals import Proposed
from lodestore.services.tenant_view import TenantViews
from lodestore.services.truth import Truth
from lodestore.services.undo_log import UndoLog
from lodestore.services.withdrawing import BY, Withdrawing, Withdrawn

RUN_GROUPS: Final = 1_000
GROUPS_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge: the merged memory's id, and those that it is made of."""

    id: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What one run did; with `dry_run`, what it would do.

    groups, pairs   candidates: groups of memories with a form in common, and pairs within them
    kept            groups that stay as they are: too many members or tags, undone by a person, or not the same any more
    left            groups that were too many for one run
    """

    merges: tuple[Merge, ...] = ()
    withdrawn: Withdrawn = field(default_factory=Withdrawn)
    compared: Compared = field(default_factory=lambda: Compared(proposed=Proposed()))
    groups: int = 0
    pairs: int = 0
    kept: int = 0
    left: int = 0


class Consolidating:
    """The consolidation of all tenants. `at_once`: groups whose memories are read side by side."""

    def __init__(
        self,
        views: TenantViews,
        truth: Truth,
        ledger: Ledger,
        undo_log: UndoLog,
        withdrawing: Withdrawing,
        comparing: Comparing,
        clock: Clock,
        *,
        at_once: int = GROUPS_AT_ONCE,
    ) -> None:
        self._views = views
        self._truth = truth
        self._ledger = ledger
        self._undo_log = undo_log
        self._withdrawing = withdrawing
        self._comparing = comparing
        self._clock = clock
        self._at_once = at_once

    def run(
        self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True
    ) -> Consolidated:
        """Consolidate a tenant. Raises StoreUnavailable, Unavailable; what was merged by then is merged whole."""
        view = self._views.load(tenant)
        withdrawn = self._withdrawing.run(tenant, view, dry_run=dry_run)
        if withdrawn.changed:
            view = self._views.load(tenant)
        groups = groups_of(view, self._clock.now())
        taken, left = groups[:RUN_GROUPS], len(groups[RUN_GROUPS:])
        merges: list[Merge] = []
        kept = 0
        for begin in range(0, len(taken), self._at_once):
            if not going():
                left += len(taken) - begin
                break
            some = taken[begin : begin + self._at_once]
            truth = self._truth.read_many(tenant, [memory_id for group in some for memory_id in group])
            for group in some:
                records = {memory_id: truth[memory_id].record for memory_id in group}
                merge = self._merge(tenant, records, dry_run=dry_run)
                kept += merge is None
                merges += [merge] if merge is not None else []
        if merges and not dry_run:
            view = self._views.load(tenant)
        return Consolidated(
            merges=tuple(merges),
            withdrawn=withdrawn,
            compared=self._comparing.run(tenant, view, dry_run=dry_run),
            groups=len(groups),
            pairs=sum(len(group) * (len(group) - 1) // 2 for group in groups),
            kept=kept,
            left=left,
        )

    def _merge(self, tenant: str, records: Mapping[str, Record | None], *, dry_run: bool) -> Merge | None:
        """Merge what of a group is the same; None where it stays as it is."""
        same = self._same(records.values())
        members = self._members(tenant, same)
        draft = merged(members) if members is not None else None
        if draft is None:
            return None
        merge = Merge(draft.id, draft.consolidated_from)
        standing = self._ledger.read(tenant, draft.id)
        if standing is not None and not _may_replace(standing.record, draft):
            return None
        if dry_run:
            return merge
        undo = self._undo_log.ensure(_undo_record(draft, self._clock))
        if undo.undone_at is not None or not self._put(draft, standing):
            return None
        if self._withdrawing.withdraw(tenant, draft.id):
            return None
        for memory in same:
            if memory.consolidated_reads:
                self._withdrawing.withdraw(tenant, memory.id, replaced=True)
        return merge

    def _same(self, records: Iterable[Record | None]) -> list[Memory]:
        """Those memories of a group that are still alike, by the truth; the form of the smallest id decides."""
        now = self._clock.now()
        memories = [
            record
            for record in records
            if isinstance(record, Memory)
            and not record.pinned
            and not record.superseded_by
            and not record.expired_at(now)
            # What a person changed in a merged memory is in none of its members.
            and not (record.consolidated_reads and record.version > 1)
            and says_what_each_says(record)
        ]
        forms = [merge_form(memory) for memory in memories]
        return [memory for memory, form in zip(memories, forms, strict=True) if form and form == forms[0]]

    def _members(self, tenant: str, same: Sequence[Memory]) -> list[Memory] | None:
        """What they are made of in the end: a merged one counts as its own members. None: one is not as it was read."""
        if len(same) < 2:
            return None
        reads = {member.id: member for memory in same for member in memory.consolidated_reads}
        found = {memory.id: memory for memory in same if not memory.consolidated_reads}
        if len(reads) + len(found) > MEMBERS_MOST:
            return None
        for memory_id, read in self._truth.read_many(tenant, sorted(reads)).items():
            record = read.record
            if (
                not isinstance(record, Memory)
                or standing_of(reads[memory_id], record) is not Standing.AS_READ
            ):
                return None
            found[memory_id] = record
        return list(found.values())

    def _put(self, draft: Memory, standing: Stands | None) -> bool:
        """Write the merged memory; whether it stands. One that a killed run wrote stands already."""
        if standing is not None and isinstance(standing.record, Memory):
            self._ledger.ensure_marked(draft.tenant, draft.id, standing.record.revision)
            return True
        over = None if standing is None else standing.record

        def write(revision: str) -> Record:
            return replace(draft, revision=revision, recent=continued(over, revision))

        try:
            return not isinstance(self._ledger.write(draft.tenant, draft.id, standing, write), Displaced)
        except Quarantined:
            return False


def _may_replace(record: Record, draft: Memory) -> bool:
    """Over its own stub after a withdrawal, or it is there; never over what a person forgot or undid."""
    if isinstance(record, Memory):
        return record.consolidated_reads == draft.consolidated_reads
    return record.forgotten_by == BY and not record.consolidated_reads


def _undo_record(draft: Memory, clock: Clock) -> UndoRecord:
    return UndoRecord(
        id=draft.id,
        tenant=draft.tenant,
        kind=UndoKind.MERGE,
        by=BY,
        conversation=draft.conversation if draft.scope is Scope.CONVERSATION else None,
        result=draft.id,
        originals=draft.consolidated_reads,
        made_at=clock.now(),
    )
