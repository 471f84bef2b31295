"""What services are made of, as values: what they stand on, and those that a process has once.

Owns: the names of these parts. Guarantees: nothing is made here. Gives up: choosing adapters; that is `bootstrap`'s.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta

from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.embedder import Embedder
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectStore
from lodestore.ports.vector_index import VectorIndex
from lodestore.services.backfill import Backfill
from lodestore.services.collection import Collection
from lodestore.services.counted_store import RequestCounts
from lodestore.services.due import Due
from lodestore.services.due_times import DueTimes
from lodestore.services.forgotten import Forgotten
from lodestore.services.held import HeldRecords
from lodestore.services.indexing import Indexing
from lodestore.services.ledger import Ledger
from lodestore.services.manifests import Manifests
from lodestore.services.merging import Merging
from lodestore.services.passages import Passages
from lodestore.services.pending import Pending
from lodestore.services.rebuilding import Rebuilding
from lodestore.services.segments import Segments
from lodestore.services.tenant_view import TenantViews
from lodestore.services.tombstones import Tombstones
from lodestore.services.truth import Truth
from lodestore.services.upkeep import Upkeep
from lodestore.services.vector_filling import VectorFilling
from lodestore.services.vector_reading import VectorReading
from lodestore.services.vector_sweeping import VectorSweeping


@dataclass(frozen=True, slots=True)
class VectorUse:
    """The vector engine, and whose vectors go there: of tenants with more memories than `threshold`; None: nobody's."""

    engine: VectorIndex
    threshold: int | None
    text: bool


@dataclass(frozen=True, slots=True)
class Foundation:
    """What the services stand on."""

    state: ObjectStore
    index: ObjectStore
    clock: Clock
    entropy: Entropy
    meter: Meter
    workers: Executor
    embedder: Embedder | None
    requests: RequestCounts
    window: timedelta
    vectors: VectorUse | None = None

    @property
    def model(self) -> str | None:
        """Whose vectors this process makes; None: none."""
        return None if self.embedder is None else self.embedder.model


@dataclass(frozen=True, slots=True)
class Shared:
    """Services that others are made of, with the caches that a process has once."""

    ledger: Ledger
    held: HeldRecords
    manifests: Manifests
    pending: Pending
    segments: Segments
    truth: Truth
    tombstones: Tombstones
    due: Due
    due_times: DueTimes
    views: TenantViews
    passages: Passages
    forgotten: Forgotten


@dataclass(frozen=True, slots=True)
class VectorServices:
    """What works with the vector engine."""

    filling: VectorFilling
    sweeping: VectorSweeping
    reading: VectorReading


@dataclass(frozen=True, slots=True)
class IndexServices:
    """What works on the index."""

    indexing: Indexing
    rebuilding: Rebuilding
    merging: Merging
    collection: Collection
    backfill: Backfill
    upkeep: Upkeep
    vectors: VectorServices | None
