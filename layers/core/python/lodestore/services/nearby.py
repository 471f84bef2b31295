"""Near-duplicates among what an instance already holds in memory.

Owns: `Nearby`, the Neighbourhood of `remember`. Guarantees: it looks only at what is held, so a write costs the same at
any size; what it then shows is asked for once more, so that no forgotten, superseded or changed text comes back by a
hint (P-FORGOTTEN, decision 0011). At most three small conditional reads, and none where nothing is alike.
Gives up: completeness. An instance that holds nothing of a tenant finds nothing, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import StoreUnavailable
from lodestore.retrieval.bm25 import TermCounts, count_terms, term_overlap
from lodestore.retrieval.tokenizer import index_terms
from lodestore.services.held import Held, HeldRecords
from lodestore.services.ledger import Standing
from lodestore.services.remember import Near
from lodestore.services.truth import Read, Truth

SIMILAR_FROM = 0.6
SHOWN = 3
LOOKED_AT = 2_000


class Nearby:
    """What this instance holds, compared by shared terms (Jaccard over distinct terms, in [0, 1])."""

    def __init__(self, held: HeldRecords, truth: Truth, clock: Clock, meter: Meter) -> None:
        self._held = held
        self._truth = truth
        self._clock = clock
        self._meter = meter

    def near(self, caller: Caller, content: str, *, but: str) -> tuple[Sequence[Near], int]:
        """At most three visible live memories at 0.6 or above, best first, and how many were looked at."""
        terms = count_terms(index_terms(content))
        candidates = [
            held
            for held in self._held.latest(caller.tenant, LOOKED_AT)
            if held.record is not None and held.record.id != but and self._is_live(caller, held.record)
        ]
        alike = sorted(_alike(terms, candidates), key=lambda near: (-near.similarity, near.memory.id))[:SHOWN]
        return self._still(caller, terms, alike), len(candidates)

    def hold(self, standing: Standing) -> None:
        """Take in what was just written."""
        record = standing.record
        self._held.put(record.tenant, record.id, Held.of(standing.etag, record))

    def _still(self, caller: Caller, terms: TermCounts, alike: Sequence[Near]) -> list[Near]:
        """Those of them that stand as they are held, or as alike by now."""
        known = self._held.some(caller.tenant, [near.memory.id for near in alike])
        try:
            truth = self._truth.read_many(
                caller.tenant, known, {name: Read(held.record, held.etag) for name, held in known.items()}
            )
        except StoreUnavailable:
            # What was asked for is stored; a hint is not worth an error.
            self._meter.count("near_duplicates_not_checked")
            return []
        now = {name: Held.of(read.etag or "", read.record) for name, read in truth.items()}
        for name, held in now.items():
            self._held.put(caller.tenant, name, held)
        return _alike(terms, [held for held in now.values() if self._is_live(caller, held.record)])

    def _is_live(self, caller: Caller, record: object) -> bool:
        return (
            isinstance(record, Memory)
            and record.visible_to(caller)
            and not record.superseded_by
            and not record.expired_at(self._clock.now())
        )


def _alike(terms: TermCounts, held: Iterable[Held]) -> list[Near]:
    found = [
        Near(one.record, term_overlap(terms, one.terms))
        for one in held
        if isinstance(one.record, Memory) and one.terms is not None
    ]
    return [near for near in found if near.similarity >= SIMILAR_FROM]
