"""A world with a vector engine: every tenant above the threshold has an index of its own in it.

Owns: `EngineWorld`, and what its tests ask of it. Guarantees: the indexer runs after each call, so vectors follow at
once; `plain` is the same data seen by a process without the engine, which scores from the shards.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from lodestore.domain.manifest import Manifest
from lodestore.domain.sleep_report import SleepReport
from lodestore.format import keys
from tests.s3vectors.memory_index import MemoryIndex
from tests.services.stand_in_embedder import WordEmbedder
from tests.services.world import Answer, Instance, World, rows

BUCKET = {"VECTOR_BUCKET": "vectors", "VECTOR_INDEX_THRESHOLD": "0"}
# Longer than any recall takes; what was replaced before may be swept.
A_WHILE = timedelta(seconds=61)


class EngineWorld(World):
    """A world whose tenants all use the engine, unless `threshold` says otherwise."""

    def __init__(self, folder: Path, threshold: int = 0, *, text: bool = False) -> None:
        super().__init__(folder, "on")
        self.vectors = MemoryIndex()
        self.engine = self.vectors
        self.embedder = WordEmbedder()
        self.variables = BUCKET | {"VECTOR_INDEX_THRESHOLD": str(threshold), "VECTOR_TEXT": str(int(text))}

    def plain(self, tenant: str = "acme", conversation: str | None = None) -> Instance:
        """A fresh process without an engine."""
        engine, variables = self.engine, self.variables
        self.engine, self.variables = None, {}
        try:
            return self.instance(tenant, conversation=conversation)
        finally:
            self.engine, self.variables = engine, variables

    def name(self, tenant: str = "acme") -> str:
        """The name of the tenant's index for the model in use."""
        assert self.embedder is not None
        return keys.vector_index(tenant, self.embedder.model)

    def stored(self, tenant: str = "acme") -> set[str]:
        """The keys that are in the tenant's index."""
        index = self.vectors.indexes.get(self.name(tenant))
        return set() if index is None else set(index.vectors)

    def ids(self, tenant: str = "acme") -> set[str]:
        """The ids of which vectors are there."""
        return {key.partition("~")[0] for key in self.stored(tenant)}

    def manifest(self, tenant: str = "acme") -> Manifest:
        """The manifest as it stands."""
        loaded = self.plain(tenant).lodestore.indexing._manifests.load(tenant).manifest
        assert loaded is not None
        return loaded

    def sleep(self, tenant: str = "acme", *steps: str, dry_run: bool = False) -> SleepReport:
        """One sleep, some time after what was done last."""
        self.clock.advance(A_WHILE)
        sleeping = self.instance(tenant).lodestore.sleeping
        return sleeping.run(tenant, steps, dry_run=dry_run).report if steps else sleeping.run(tenant).report

    def agrees(self, query: str, tenant: str = "acme", /, **arguments: object) -> list[str]:
        """What recall finds, after it was found alike, with like scores, by the engine and by the shards."""
        by_engine = self.instance(tenant).call("recall", query=query, **arguments)
        by_shards = self.plain(tenant).call("recall", query=query, **arguments)
        one, other = (rows(answer, "hits") for answer in (by_engine, by_shards))
        assert [hit["id"] for hit in one] == [hit["id"] for hit in other]
        for hit, same in zip(one, other, strict=True):
            assert abs(float(str(hit["score"])) - float(str(same["score"]))) < 0.001
        return [str(hit["content"]) for hit in one]


def degraded(answer: Answer) -> bool:
    """Whether the answer says that it had to do without something."""
    freshness = answer["freshness"]
    assert isinstance(freshness, dict)
    return bool(freshness["degraded"])
