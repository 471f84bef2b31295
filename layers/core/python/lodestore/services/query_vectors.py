"""The query as a vector, or why there is none.

Owns: asking the embedder for a recall. Guarantees: an embedder that fails costs the vectors, never the recall; that it
failed is said in the answer (P-SILENT-NEVER). Gives up: retries beyond the embedder's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from lodestore.ports.embedder import Embedder, EmbeddingFailed
from lodestore.ports.meter import Meter
from lodestore.retrieval.calibration import calibration_of
from lodestore.services.signals import QueryVector

NONE = "none"
USED = "used"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Asked:
    """`state` is none, used or failed; `vector` is there where it is used."""

    vector: QueryVector | None
    state: str


class QueryVectors:
    """Vectors of queries by the embedder of this process; None: there is none."""

    def __init__(self, embedder: Embedder | None, meter: Meter) -> None:
        self._embedder = embedder
        self._meter = meter

    def of(self, query: str) -> Asked:
        """The query's vector. Never raises."""
        if self._embedder is None or not self._embedder.reads(query):
            return Asked(None, NONE)
        try:
            model = self._embedder.model
            return Asked(QueryVector(self._embedder.query(query), model, calibration_of(model)), USED)
        except EmbeddingFailed:
            self._meter.count("query_embedding_failed")
            return Asked(None, FAILED)
