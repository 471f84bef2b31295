"""The truth behind the rows that are about to be shown.

Owns: round trip 3 of design section 5. Guarantees: nothing is shown that is gone, hidden, expired or superseded by the
time it is read, and what is shown is the memory's own text. Gives up: counting again; a row that fell out was counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory
from lodestore.errors import Unavailable
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.columns import Place, id_of
from lodestore.services.held import Held, HeldRecords
from lodestore.services.tenant_view import TenantView
from lodestore.services.truth import Read, Truth


class Winners:
    """Reads of memories that a view's rows name."""

    def __init__(self, truth: Truth, held: HeldRecords) -> None:
        self._truth = truth
        self._held = held

    def read(self, caller: Caller, view: TenantView, places: Sequence[Place]) -> list[Memory | None]:
        """The memory of each row as it is now, None where the caller sees none there. Raises Unavailable."""
        ids = [id_of(view, place) for place in places]
        read_just_now = view.read_now & view.tail.keys()
        wanted = [memory_id for memory_id in ids if memory_id not in read_just_now]
        known = {
            m: Read(held.record, held.etag) for m, held in self._held.some(caller.tenant, wanted).items()
        }
        try:
            read = self._truth.read_many(caller.tenant, wanted, known)
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None
        for memory_id, one in read.items():
            if one is not known.get(memory_id):
                # What is gone or no record is held as such, so that the next view asks for it again.
                self._held.put(caller.tenant, memory_id, Held.of(one.etag or "", one.record))
        records = [read[m].record if m in read else view.tail[m].record for m in ids]
        return [
            record if isinstance(record, Memory) and record.visible_to(caller) else None for record in records
        ]
