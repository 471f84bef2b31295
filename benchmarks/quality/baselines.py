"""What others do without a language model, on the same items and questions in the same run.

Owns: bm25s as it comes, vectors alone, reciprocal rank fusion, and a weighted formula with recency and importance.
Guarantees: vectors are of the model that the service uses. Gives up: tuning; each has the constants it is known by.

Sources: bm25s (k1 1.5, b 0.75, its own tokens); Cormack, Clarke and Büttcher 2009 (RRF, k = 60);
`s3-agent-memory` (0.7 relevance, half of it BM25, 0.15 recency, 0.15 importance).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.corpus import Corpus
from benchmarks.quality.metrics import DEPTH, Ranks
from lodestore.ports.embedder import Embedder

RRF_K = 60
RELEVANCE, RECENCY, IMPORTANCE = 0.7, 0.15, 0.15
HALF_LIFE_DAYS = 30
Scores = NDArray[np.float64]


def ranked(corpus: Corpus, embedder: Embedder | None) -> dict[str, list[Ranks]]:
    """Name of a baseline to its ranking for each question. Without an embedder: keywords only."""
    keywords = _keywords(corpus)
    answers = {"bm25s": [_ranks(corpus, row) for row in keywords]}
    if embedder is None:
        return answers
    vectors = embedder.passages([item.text for item in corpus.items])
    asked = np.stack([embedder.query(question.text) for question in corpus.questions])
    cosines = (asked @ vectors.T).astype(np.float64)
    answers["vectors"] = [_ranks(corpus, row) for row in cosines]
    both = list(zip(keywords, cosines, strict=True))
    answers[f"rrf k={RRF_K}"] = [_ranks(corpus, _rrf(*rows)) for rows in both]
    recency = _recency(corpus)
    answers["0.7/0.15/0.15"] = [_ranks(corpus, _formula(*rows, recency)) for rows in both]
    return answers


def _keywords(corpus: Corpus) -> list[Scores]:
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize([item.text for item in corpus.items], show_progress=False), show_progress=False
    )
    tokens = bm25s.tokenize(
        [question.text for question in corpus.questions], return_ids=False, show_progress=False
    )
    return [np.asarray(index.get_scores(words), dtype=np.float64) for words in tokens]


def _rrf(keywords: Scores, cosines: Scores) -> Scores:
    fused = np.zeros(len(keywords))
    for scores in (keywords, cosines):
        order = np.argsort(-scores, kind="stable")
        fused[order] += 1 / (RRF_K + 1 + np.arange(len(order)))
    return fused


def _formula(keywords: Scores, cosines: Scores, recency: Scores) -> Scores:
    # No item of a set has an importance of its own.
    relevance = 0.5 * keywords / (keywords.max() or 1) + 0.5 * np.clip(cosines, 0, 1)
    return RELEVANCE * relevance + RECENCY * recency + IMPORTANCE * 0.5


def _recency(corpus: Corpus) -> Scores:
    """0.5 ** (age / 30 days) against the newest item; 1 where no item has a time."""
    times = [item.arguments.get("valid_from") for item in corpus.items]
    days = np.array([datetime.fromisoformat(str(at)).timestamp() / 86_400 if at else np.nan for at in times])
    if np.isnan(days).all():
        return np.ones(len(days))
    ages = np.nan_to_num(np.nanmax(days) - days)
    recency: Scores = np.exp2(-ages / HALF_LIFE_DAYS)
    return recency


def _ranks(corpus: Corpus, scores: Scores) -> Sequence[frozenset[str]]:
    best = np.argsort(-scores, kind="stable")[: 5 * DEPTH]
    return [frozenset({corpus.items[row].key}) for row in best if scores[row] > 0]
