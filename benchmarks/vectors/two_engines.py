"""One tenant's memories behind two processes: one that asks S3 Vectors over loopback, one that scores the shards.

Owns: `TwoEngines`: storing, indexing, forgetting, and one question put to both. Guarantees: both read the very same
stores; the one with the engine is the product's own, adapter and all; a question counts as the engine's only where the
engine served it. Gives up: the service's approximation, its distance and its price; the index on loopback is exact.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.corpus import Item
from lodestore.adapters.embedders import Unavailable
from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.s3vectors_index import connect
from lodestore.adapters.system_clock import SystemClock
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.bootstrap import Lodestore, assemble
from lodestore.domain.caller import Caller, Role
from lodestore.ports.embedder import Embedder
from lodestore.settings import parse_settings

TENANT = "bench"
LIMIT = 10


class CountingMeter:
    """Counts by name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a counter."""
        self.counts[name] += amount


@dataclass(frozen=True, slots=True)
class Both:
    """One question's first ten ids by each, best first, and the seconds it took; `used`: the engine served it."""

    engine: tuple[str, ...]
    shards: tuple[str, ...]
    engine_seconds: float
    shards_seconds: float
    used: bool


class TwoEngines:
    """The two processes. `threshold`: of memories, above which the one uses the engine."""

    def __init__(self, folder: Path, bucket: str, threshold: int, embedder: Embedder) -> None:
        self.meter = CountingMeter()
        self._folder = folder
        self._embedder: Embedder | Unavailable = embedder
        self._with = self._process({"VECTOR_BUCKET": bucket, "VECTOR_INDEX_THRESHOLD": str(threshold)})
        self._without = self._process({})

    @property
    def uses_engine(self) -> bool:
        """Whether the tenant has an index by now."""
        return self.meter.counts["vector_index_begun"] > self.meter.counts["vector_index_left"]

    def store(self, items: Sequence[Item]) -> dict[str, str]:
        """Remember the items, then index them; the item's key for each id."""
        ids: dict[str, str] = {}
        for item in items:
            caller = Caller(TENANT, _name(item.conversation), Role.ADMIN)
            answer = self._without.toolbox.call(caller, "remember", dict(item.arguments))
            ids[str(answer["id"])] = item.key
        self.index()
        return ids

    def forget(self, ids: Iterable[str]) -> None:
        """Forget memories, then index that."""
        for memory_id in ids:
            self._without.toolbox.call(_reader(), "forget", {"id": memory_id})
        self.index()

    def index(self) -> None:
        """One run of the indexer, by the process that fills the engine."""
        self._with.upkeep.index(TENANT)

    def ask(self, query: str) -> Both:
        """The question, put to both."""
        before = self.meter.counts["vector_engine_used"]
        engine, engine_seconds = _timed(self._with, query)
        used = self.meter.counts["vector_engine_used"] > before
        shards, shards_seconds = _timed(self._without, query)
        return Both(engine, shards, engine_seconds, shards_seconds, used)

    def close(self) -> None:
        """Stop the worker threads."""
        pools: tuple[Executor, ...] = (self._with.workers, self._without.workers)
        for pool in pools:
            pool.shutdown()

    def _process(self, variables: dict[str, str]) -> Lodestore:
        clock, entropy = SystemClock(), SystemEntropy()
        bucket = variables.get("VECTOR_BUCKET")
        return assemble(
            parse_settings(variables),
            FolderStore(self._folder / "state", clock, versioned=True),
            FolderStore(self._folder / "index", clock, versioned=False),
            clock=clock,
            entropy=entropy,
            meter=self.meter,
            embedder=self._embedder,
            vectors=None if bucket is None else connect(bucket, clock, entropy),
        )


def _timed(process: Lodestore, query: str) -> tuple[tuple[str, ...], float]:
    begun = time.perf_counter()
    arguments = {"query": query, "limit": LIMIT, "min_score": 0}
    answer = process.toolbox.call(_reader(), "recall", arguments)
    seconds = time.perf_counter() - begun
    hits = answer["hits"]
    assert isinstance(hits, list)
    return tuple(str(hit["id"]) for hit in hits), seconds


def _reader() -> Caller:
    return Caller(TENANT, None, Role.ADMIN)


def _name(conversation: str | None) -> str | None:
    return conversation and conversation.replace(" ", "_")
