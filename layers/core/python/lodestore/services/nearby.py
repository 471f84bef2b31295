"""Near-duplicates among what an instance already holds in memory.

Owns: `Nearby`, the Neighbourhood of `remember`. Guarantees: no request; only what the caller may see.
Gives up: completeness. An instance that holds nothing of a tenant finds nothing, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory
from lodestore.ports.clock import Clock
from lodestore.retrieval.bm25 import count_terms, term_overlap
from lodestore.retrieval.tokenizer import index_terms
from lodestore.services.held import Held, HeldRecords
from lodestore.services.ledger import Standing
from lodestore.services.remember import Near

SIMILAR_FROM = 0.6
SHOWN = 3
# Comparing is linear in what is held; beyond this a write would no longer cost the same at any size (P-FLAT-WRITES).
LOOKED_AT = 2_000


class Nearby:
    """What this instance holds, compared by shared terms (Jaccard over distinct terms, in [0, 1])."""

    def __init__(self, held: HeldRecords, clock: Clock) -> None:
        self._held = held
        self._clock = clock

    def near(self, caller: Caller, content: str, *, but: str) -> tuple[Sequence[Near], int]:
        """At most three visible live memories at 0.6 or above, best first, and how many were looked at."""
        terms = count_terms(index_terms(content))
        candidates = self._candidates(caller, but)
        found = [
            Near(memory, term_overlap(terms, held.terms))
            for memory, held in candidates
            if held.terms is not None
        ]
        found = [near for near in found if near.similarity >= SIMILAR_FROM]
        found.sort(key=lambda near: (-near.similarity, near.memory.id))
        return found[:SHOWN], len(candidates)

    def hold(self, standing: Standing) -> None:
        """Take in what was just written."""
        record = standing.record
        self._held.put(record.tenant, record.id, Held.of(standing.etag, record))

    def _candidates(self, caller: Caller, but: str) -> list[tuple[Memory, Held]]:
        now = self._clock.now()
        seen = (
            (held.record, held)
            for held in self._held.latest(caller.tenant, LOOKED_AT)
            if isinstance(held.record, Memory) and held.record.id != but and held.record.visible_to(caller)
        )
        return [
            (memory, held) for memory, held in seen if not memory.superseded_by and not memory.expired_at(now)
        ]
