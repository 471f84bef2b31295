"""What the same work costs elsewhere: on the S3 Vectors engine, and in Amazon Bedrock AgentCore Memory.

Owns: both sums. Guarantees: the same memories, writes and recalls as in the bill. Gives up: what AgentCore's built-in
strategies do besides (a model reads each event), and what its self-managed ones leave to their owner.

Sources: the prices' own; that a query is charged for every vector of its index, with its key and filterable metadata:
Amazon S3 pricing, S3 Vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.cost.prices import GB, TB, Price
from benchmarks.cost.workloads import Workload

FIRST_VECTORS = 100_000
PUT_BYTES_LEAST = 128 * 1024
VECTORS_A_PUT = 500


@dataclass(frozen=True, slots=True)
class VectorIndexes:
    """Indexes of one size.

    stored    bytes of a vector with its key and all metadata
    scanned   the same without metadata that can't be filtered by
    """

    count: int
    vectors: int
    stored: float
    scanned: float


def vectors_month(
    held: VectorIndexes, puts: float, queries: float, prices: Mapping[str, Price]
) -> Mapping[str, float]:
    """US dollars a month by price: storage, `puts` vectors put in batches of 500, `queries` queries."""
    first, rest = min(held.vectors, FIRST_VECTORS), max(0, held.vectors - FIRST_VECTORS)
    put = puts * max(held.stored, PUT_BYTES_LEAST / VECTORS_A_PUT)
    return {
        "vectors_storage": prices["vectors_storage"].of(held.count * held.vectors * held.stored / GB),
        "vectors_put": prices["vectors_put"].of(put / GB),
        "vectors_query": prices["vectors_query"].of(queries),
        "vectors_scan_first": prices["vectors_scan_first"].of(queries * first * held.scanned / TB),
        "vectors_scan_rest": prices["vectors_scan_rest"].of(queries * rest * held.scanned / TB),
    }


def agentcore_month(work: Workload, prices: Mapping[str, Price], *, built_in: bool) -> float:
    """US dollars a month: every write an event, every memory a long-term record, every recall a retrieval."""
    record = "agentcore_record_built_in" if built_in else "agentcore_record_self_managed"
    return (
        prices["agentcore_event"].of(work.writes)
        + prices[record].of(work.memories)
        + prices["agentcore_retrieval"].of(work.recalls)
    )
