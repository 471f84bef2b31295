"""What ranking costs over BM25 and cosine alone, on one corpus in one run.

python -m benchmarks.quality.ranking_cost [MEMORIES]

Owns: the comparison. Guarantees: both ways search the same segment for the same queries, so that what else the
machine does falls on both; of each query the best of TRIES counts. Gives up: reads, and vectors of queries; it is the
CPU time of the ranking alone. The memories are the turns of LoCoMo, repeated until there are enough.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import MissingData
from benchmarks.quality.corpus import Asked, Corpus
from benchmarks.quality.feature_tables import START, segment_of_corpus
from benchmarks.quality.sets import locomo
from lodestore.adapters.onnx_embedder import connect_local
from lodestore.ports.embedder import Embedder
from lodestore.retrieval.calibration import calibration_of
from lodestore.retrieval.fusion import fuse
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.ranking import score
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_search import Part, keyword_scores, vector_scores
from lodestore.retrieval.sessions import session_order
from lodestore.retrieval.tokenizer import query_terms
from lodestore.services.signals import QueryVector, gather

MEMORIES = 10_000
TRIES = 5
QUERIES = 40


def measure(memories: int) -> tuple[int, NDArray[np.float64]]:
    """How many memories were searched, and milliseconds of CPU of each query: alone, with ranking; (queries, 2)."""
    corpora, embedder = list(locomo()), connect_local()
    held, asked = _segments(corpora, embedder, memories)
    parts = [Part(segment, np.ones(len(segment), np.bool_)) for segment in held]
    order, calibration = session_order(held), calibration_of(embedder.model)

    def alone(text: str, vector: QueryVector) -> None:
        keywords = keyword_scores(query_terms(text), parts)
        found = vector_scores(vector.vector, vector.model, parts)
        cosines = np.concatenate([one for one in found if one is not None]).astype(np.float64)
        fused = fuse(keywords.every / (keywords.ideal or 1.0), cosines, calibration.anchors)
        np.argpartition(-fused.relevance, 10)

    def ranked(text: str, vector: QueryVector) -> None:
        scored = score(gather(parts, order, read_query(text, START), vector).signals, calibration)
        np.argpartition(-scored.score, 10)

    rows = []
    for question, vector in asked[:: max(1, len(asked) // QUERIES)]:
        given = QueryVector(vector, embedder.model, calibration)
        rows.append(
            [min(_milliseconds(way, question.text, given) for _ in range(TRIES)) for way in (alone, ranked)]
        )
    return sum(map(len, held)), np.array(rows)


def _segments(
    corpora: Sequence[Corpus], embedder: Embedder, memories: int
) -> tuple[list[Segment], list[tuple[Asked, NDArray[np.float32]]]]:
    """A segment for each conversation, again and again until there are enough memories; questions with vectors."""
    held: list[Segment] = []
    asked: list[tuple[Asked, NDArray[np.float32]]] = []
    while sum(map(len, held)) < memories:
        again = len(held) // len(corpora)
        for corpus in corpora:
            items = tuple(
                replace(item, key=f"{item.key}-{again}", conversation=f"{item.conversation}-{again}")
                for item in corpus.items
            )
            segment, vectors = segment_of_corpus(replace(corpus, items=items), embedder)
            held.append(segment)
            if not again:
                asked += zip(corpus.questions, vectors, strict=True)
    return held, asked


def _milliseconds(way: Callable[[str, QueryVector], None], text: str, vector: QueryVector) -> float:
    begin = time.process_time()
    way(text, vector)
    return 1000 * (time.process_time() - begin)


def main() -> int:
    """The command. 0: measured; 1: the data is not there (said)."""
    try:
        memories, rows = measure(int(sys.argv[1]) if len(sys.argv) > 1 else MEMORIES)
    except MissingData as missing:
        print(f"ranking_cost: {missing}", file=sys.stderr)
        return 1
    added = rows[:, 1] - rows[:, 0]
    print(
        f"{memories:,} memories, {len(rows)} queries, best of {TRIES} each, ms of CPU: median (95 % within)"
    )
    for name, values in (("BM25 and cosine", rows[:, 0]), ("with ranking", rows[:, 1]), ("added", added)):
        print(f"{name:<16} {np.median(values):6.2f} ({np.percentile(values, 95):.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
