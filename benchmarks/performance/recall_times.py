"""Times of one corpus, in a process of its own: JSON on standard output.

Owns: the measuring loop of `recall_work`. Guarantees: ours is `Recall`'s own ranking, from a question to ranked rows,
not a copy of it; its steps are timed where it calls them, in other runs than the whole.
Gives up: threads; the caller sets the environment before numpy is loaded.

    python -m benchmarks.performance.recall_times FOLDER LAYOUT MEMORIES QUERIES
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.performance import recall_work
from benchmarks.performance.recall_corpus import read_segments, read_theirs, their_tokens
from benchmarks.performance.synthetic import MODEL, queries, vector_of
from benchmarks.performance.tenants import CALLER
from lodestore.retrieval.calibration import KEYWORDS_ALONE, Calibration, calibration_of
from lodestore.retrieval.fusion import Anchors
from lodestore.services import held_rows, recall, scoring, signals
from lodestore.services.arguments import Arguments
from lodestore.services.held_rows import HeldRows
from lodestore.services.index_view import resolve
from lodestore.services.query_vectors import USED, Asked
from lodestore.services.recall import ARGUMENTS, Question, Recall, read_question
from lodestore.services.scoring import Ranking
from lodestore.services.signals import QueryVector
from lodestore.services.tenant_view import TenantView, ViewPart
from tests.services.world import FakeClock

# What `Recall` calls, and the step that it is.
CALLS: tuple[tuple[ModuleType | type, str, str], ...] = (
    (held_rows.HeldRows, "of", "live rows"),
    (recall, "read_query", "query terms"),
    (signals, "keyword_scores", "BM25"),
    (signals, "all_cosines", "cosines"),
    (signals, "fuse", "fusion"),
    (signals, "features", "conversation"),
    (scoring, "score", "score"),
    (scoring, "_order", "order"),
)
TRIES = 3
# Of the dearest, which hardly depends on the query, so many queries are enough.
FIRST_MOST = 10
CALIBRATION = calibration_of(MODEL)
# At or below -1 no two vectors have nothing in common.
EVERYTHING = replace(KEYWORDS_ALONE, anchors=Anchors(unrelated=-1.01, same=1.0))


class Ours:
    """A view over a layout's segments, and the ranking that a recall makes of it."""

    def __init__(self, folder: Path) -> None:
        self.manifest, self.segments = read_segments(folder)
        index = resolve(self.manifest, self.segments)
        parts = tuple(ViewPart(listed.segment, listed.counts) for listed in index.listed)
        self.view = TenantView(parts, {}, self.manifest, frozenset())
        nothing: Any = None
        self._recall = Recall(
            nothing,
            nothing,
            nothing,
            FakeClock(),
            vectors=nothing,
            engine=None,
            versions=nothing,
            workers=nothing,
            rows=HeldRows(),
        )

    def first(self, question: Question, vector: np.ndarray[Any, Any]) -> Ranking:
        """As `rank`, where the index has changed since the last recall, and its segments are in memory."""
        resolve(self.manifest, self.segments)
        self._recall._rows = HeldRows()
        return self.rank(question, vector)

    def rank(
        self, question: Question, vector: np.ndarray[Any, Any], calibration: Calibration = CALIBRATION
    ) -> Ranking:
        """What `Recall` makes of the question."""
        asked = Asked(QueryVector(vector, MODEL, calibration), USED)
        return self._recall._rank(CALLER, self.view, question, asked, None)[0]


def question_of(query: str) -> Question:
    """The query as `Recall` reads it."""
    return read_question(Arguments("recall", {"query": query}, ARGUMENTS))


def main(folder: Path, layout: str, memories: int, count: int) -> dict[str, object]:
    """Milliseconds: of each query the best of TRIES in a row, of these the median."""
    ours = Ours(folder / layout)
    index, matrix = read_theirs(folder)
    times: defaultdict[str, list[float]] = defaultdict(list)
    for query in queries(memories, count):
        question, vector = question_of(query), vector_of(query)
        (tokens,) = their_tokens([query])
        scores, product = index.get_scores(tokens), matrix @ vector
        work: dict[str, Callable[[], object]] = {
            "tokens": partial(their_tokens, [query]),
            "bm25": partial(index.get_scores, tokens),
            "product": partial(np.matmul, matrix, vector),
            "ten best": partial(_ten_best, scores, product),
            "ours": partial(ours.rank, question, vector),
            "every": partial(ours.rank, question, vector, EVERYTHING),
        }
        if len(times["first"]) < FIRST_MOST:
            work["first"] = partial(ours.first, question, vector)
        for name, run in work.items():
            times[name].append(min(_milliseconds(run) for _ in range(TRIES)))
        for step, spent in min(
            (_by_step(work["ours"]) for _ in range(TRIES)), key=lambda steps: sum(steps.values())
        ).items():
            times[step].append(spent)
    return {name: median(values) for name, values in times.items()}


def _ten_best(scores: np.ndarray[Any, Any], product: np.ndarray[Any, Any]) -> object:
    fused = scores / (scores.max() or 1) + product
    return np.argpartition(-fused, min(10, len(fused) - 1))[:10]


def _milliseconds(work: Callable[[], object]) -> float:
    begun = time.process_time_ns()
    work()
    return (time.process_time_ns() - begun) / 1e6


def _by_step(work: Callable[[], object]) -> dict[str, float]:
    """Milliseconds of each step of our work."""
    spent = dict.fromkeys(recall_work.STEPS, 0.0)

    def measured(step: str, called: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            begun = time.process_time_ns()
            try:
                return called(*arguments, **named)
            finally:
                spent[step] += (time.process_time_ns() - begun) / 1e6

        return call

    with ExitStack() as patches:
        for module, name, step in CALLS:
            patches.enter_context(patch.object(module, name, measured(step, getattr(module, name))))
        whole = _milliseconds(work)
    spent["the rest"] = whole - sum(spent.values())
    return spent


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
