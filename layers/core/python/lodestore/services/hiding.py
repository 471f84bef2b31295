"""Hiding: whether a memory that stands is hidden from readers by another, which says something else.

Owns: that look, for who is about to answer that a text is known. Guarantees: a merged memory in the members' own words,
which nothing supersedes, hides nothing of what they say; everything else that supersedes does. Made only where the
text stands already, so storing a new one reads no index (P-FLAT-WRITES); where nothing was ever merged, it is one
listing of no entries. Gives up: what another instance wrote while this looked.
"""

from __future__ import annotations

from lodestore.domain.consolidation import is_taken_over, says_what_each_says
from lodestore.domain.memory import Memory
from lodestore.errors import Unavailable
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services import columns
from lodestore.services.ledger import Ledger, Standing
from lodestore.services.tenant_view import TenantView, TenantViews
from lodestore.services.undo_log import UndoLog


class Hiding:
    """The look of all tenants."""

    def __init__(self, ledger: Ledger, undo_log: UndoLog, views: TenantViews) -> None:
        self._ledger = ledger
        self._undo_log = undo_log
        self._views = views

    def shown_as(self, memory: Memory) -> Standing | bool:
        """True: it shows, or what it says does. False: hidden. Else the merged memory that a person changed since.

        Raises Unavailable.
        """
        # Whatever merges writes its undo record first.
        if self._undo_log.is_empty(memory.tenant):
            return True
        try:
            view = self._views.load(memory.tenant)
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read; nothing was stored.") from None
        successors = _successors(view, memory.id)
        if not successors:
            return True
        for successor in successors:
            standing = self._ledger.read(memory.tenant, successor)
            if standing is None or not isinstance(standing.record, Memory):
                continue
            merged = standing.record
            if memory.id not in merged.consolidated_from or _successors(view, successor):
                continue
            if says_what_each_says(merged):
                return True
            if is_taken_over(merged) and merged.content == memory.content:
                return standing
        return False


def _successors(view: TenantView, memory_id: str) -> list[str]:
    place = columns.place_of(view, memory_id)
    if place is None:
        return []
    # What supersedes a member supersedes the merged one too, which is no successor of itself.
    return [columns.id_of(view, one) for one in columns.successors(view, place)]
