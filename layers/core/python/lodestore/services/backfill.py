"""Back-fill: vectors for memories that have none, or those of another model.

Owns: finding them in the index's columns and writing their vectors. Guarantees: only the vectors of a memory change, by
compare-and-swap over the very text that was embedded, so a newer write is never undone (P-NO-LOST-UPDATE); version and
times stay. Bounded per run. A memory that got no vectors is tried again by the next run.
Gives up: speed. An embedder that fails once ends the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lodestore.domain.memory import Embedding, Memory, Record, continued
from lodestore.services import columns
from lodestore.services.ledger import Displaced, Ledger, Quarantined
from lodestore.services.passages import Passages
from lodestore.services.tenant_view import TenantView, TenantViews

RUN_MEMORIES = 1_000


@dataclass(frozen=True, slots=True)
class Backfilled:
    """What one run did: `filled` memories got vectors, `left` are still without.

    failed   the embedder did not answer, and the run ended there
    """

    filled: int = 0
    left: int = 0
    failed: bool = False


class Backfill:
    """The back-fill of all tenants. `model` None: this process has no embedder, and there is nothing to fill."""

    def __init__(self, views: TenantViews, ledger: Ledger, passages: Passages, *, model: str | None) -> None:
        self._views = views
        self._ledger = ledger
        self._passages = passages
        self._model = model

    def run(
        self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True
    ) -> Backfilled:
        """Fill up to 1,000 memories of a tenant. Raises Unavailable."""
        if self._model is None:
            return Backfilled()
        wanted = missing(self._views.load(tenant), self._model)
        if dry_run:
            return Backfilled(left=len(wanted))
        filled = 0
        for memory_id in wanted[:RUN_MEMORIES]:
            if not going():
                break
            done = self._fill(tenant, memory_id)
            if done is None:
                return Backfilled(filled, len(wanted) - filled, failed=True)
            filled += done
        return Backfilled(filled, len(wanted) - filled)

    def _fill(self, tenant: str, memory_id: str) -> bool | None:
        """Whether the memory has vectors now; None: the embedder failed."""
        try:
            standing = self._ledger.read(tenant, memory_id)
        except Quarantined:
            return False
        memory = standing.record if standing is not None else None
        if standing is None or not isinstance(memory, Memory):
            return False
        if memory.embedding is not None and memory.embedding.model == self._model:
            return True
        embedding = self._passages.of(memory.content, memory.source)
        if embedding is None:
            return None
        # Whoever displaces this write brings vectors of its own, or is found by the next run.
        result = self._ledger.write(tenant, memory_id, standing, _with_vectors(memory, embedding))
        return not isinstance(result, Displaced)


def missing(view: TenantView, model: str) -> list[str]:
    """Ids of memories that have no vectors of the model."""
    return [columns.id_of(view, place) for place in columns.places(columns.without_vectors(view, model))]


def _with_vectors(memory: Memory, embedding: Embedding) -> Callable[[str], Record]:
    def draft(revision: str) -> Record:
        return replace(memory, embedding=embedding, revision=revision, recent=continued(memory, revision))

    return draft
