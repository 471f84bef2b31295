"""What ranking costs over BM25 and cosine alone, on one corpus in one run.

python -m benchmarks.quality.ranking_cost [MEMORIES]

Owns: the comparison. Guarantees: both ways search the same segment for the same queries, so that what else the
machine does falls on both; of each query the best of TRIES counts. Gives up: reads, and vectors of queries; it is the
time of the ranking alone. The memories are the turns of LoCoMo, repeated until there are enough.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.locomo import MissingData
from benchmarks.quality.corpus import Corpus
from benchmarks.quality.feature_tables import START, segment_of_corpus
from benchmarks.quality.sets import locomo
from lodestore.adapters.onnx_embedder import connect_local
from lodestore.retrieval.calibration import calibration_of
from lodestore.retrieval.fusion import fuse
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.ranking import score
from lodestore.retrieval.segment_search import Part, keyword_scores, vector_scores
from lodestore.retrieval.sessions import session_order
from lodestore.retrieval.tokenizer import query_terms
from lodestore.services.signals import QueryVector, gather

MEMORIES = 10_000
TRIES = 5
QUERIES = 40


def measure(memories: int) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """How many memories were searched, and milliseconds of each query: alone, with ranking; (queries, 2)."""
    corpora = list(locomo())
    items = [
        replace(item, key=f"{corpus.name}-{again}-{item.key}", conversation=f"{item.conversation}-{again}")
        for again in range(1 + memories // sum(len(corpus.items) for corpus in corpora))
        for corpus in corpora
        for item in corpus.items
    ][:memories]
    every = [question for corpus in corpora for question in corpus.questions]
    asked = every[:: max(1, len(every) // QUERIES)]
    embedder = connect_local()
    segment, vectors = segment_of_corpus(Corpus(f"cost-{memories}", tuple(items), tuple(asked)), embedder)
    parts = [Part(segment, np.ones(len(segment), np.bool_))]
    order, calibration = session_order([segment]), calibration_of(embedder.model)

    def alone(text: str, vector: QueryVector) -> None:
        keywords = keyword_scores(query_terms(text), parts)
        (found,) = vector_scores(vector.vector, vector.model, parts)
        cosines = None if found is None else found.astype(np.float64)
        fused = fuse(keywords.every / (keywords.ideal or 1.0), cosines, calibration.anchors)
        np.argpartition(-fused.relevance, 10)

    def ranked(text: str, vector: QueryVector) -> None:
        scored = score(gather(parts, order, read_query(text, START), vector).signals, calibration)
        np.argpartition(-scored.score, 10)

    rows = []
    for question, vector in zip(asked, vectors, strict=True):
        given = QueryVector(vector, embedder.model, calibration)
        rows.append(
            [min(_milliseconds(way, question.text, given) for _ in range(TRIES)) for way in (alone, ranked)]
        )
    return len(segment), np.array(rows)


def _milliseconds(way: Callable[[str, QueryVector], None], text: str, vector: QueryVector) -> float:
    begin = time.perf_counter()
    way(text, vector)
    return 1000 * (time.perf_counter() - begin)


def main() -> int:
    """The command. 0: measured; 1: the data is not there (said)."""
    try:
        memories, rows = measure(int(sys.argv[1]) if len(sys.argv) > 1 else MEMORIES)
    except MissingData as missing:
        print(f"ranking_cost: {missing}", file=sys.stderr)
        return 1
    added = rows[:, 1] - rows[:, 0]
    print(f"{memories:,} memories, {len(rows)} queries, best of {TRIES} each, ms: median (95 % within)")
    for name, values in (("BM25 and cosine", rows[:, 0]), ("with ranking", rows[:, 1]), ("added", added)):
        print(f"{name:<16} {np.median(values):6.2f} ({np.percentile(values, 95):.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
