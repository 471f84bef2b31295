"""Which services work on the index.

Owns: putting them together from those that a process has once. Guarantees: no request is made here.
Gives up: adapters and settings, which only `bootstrap` knows.
"""

from __future__ import annotations

from lodestore.services.backfill import Backfill
from lodestore.services.collection import Collection
from lodestore.services.folded_levels import FoldedLevels
from lodestore.services.indexing import Indexing
from lodestore.services.merging import Merging
from lodestore.services.rebuilding import Rebuilding
from lodestore.services.replacing import Replacing
from lodestore.services.upkeep import Upkeep
from lodestore.services.vector_wiring import wire_vectors
from lodestore.services.wiring import Foundation, IndexServices, Shared


def wire_index(a: Foundation, s: Shared) -> IndexServices:
    """The services of the index."""
    indexing = Indexing(
        s.manifests, s.segments, s.pending, s.truth, clock=a.clock, entropy=a.entropy, model=a.model
    )
    merging = Merging(s.manifests, s.segments, clock=a.clock, entropy=a.entropy, meter=a.meter, model=a.model)
    rebuilding = Rebuilding(
        s.manifests,
        s.segments,
        s.pending,
        s.truth,
        s.forgotten,
        Replacing(s.manifests, s.segments, clock=a.clock, entropy=a.entropy, model=a.model),
        indexing,
        FoldedLevels(a.index, a.meter),
        meter=a.meter,
        model=a.model,
    )
    collection = Collection(a.index, s.manifests, clock=a.clock, workers=a.workers, meter=a.meter)
    backfill = Backfill(s.views, s.ledger, s.passages, model=a.model)
    vectors = wire_vectors(a, s)
    upkeep = Upkeep(
        indexing,
        rebuilding,
        merging,
        collection,
        backfill,
        s.due,
        s.due_times,
        filling=None if vectors is None else vectors.filling,
        clock=a.clock,
        meter=a.meter,
    )
    return IndexServices(indexing, rebuilding, merging, collection, backfill, upkeep, vectors)
