"""Search as S3 Vectors ranks it, without its approximation: vectors by distance, texts by BM25, both by rank fusion.

Owns: the three orders. Guarantees: exact; ties in the order of keys. Source: botocore's service model, QueryVectors,
which names BM25 and Reciprocal Rank Fusion; the constants are those of the two methods' papers.
Gives up: the service's analyzers; a text is its words in lower case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tests.s3vectors.limits import Vector

RRF_K = 60
_K1, _B = 1.2, 0.75


def distances(query: Vector, stored: NDArray[np.float32], metric: str) -> NDArray[np.float64]:
    """Of each row. Cosine: 1 - cosine similarity, 0 to 2. Euclidean: the length of the difference."""
    one, others = query.astype(np.float64), stored.astype(np.float64)
    if metric == "euclidean":
        return np.asarray(np.linalg.norm(others - one, axis=1))
    return np.asarray(1 - others @ one / (np.linalg.norm(others, axis=1) * np.linalg.norm(one)))


def bm25(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Key to score, of texts that share a word with the query. Statistics are those of all the texts."""
    words = {key: Counter(_words(text)) for key, text in texts.items()}
    average = sum(counts.total() for counts in words.values()) / max(1, len(words)) or 1.0
    scores: dict[str, float] = {}
    for word in set(_words(query)):
        having = {key: counts for key, counts in words.items() if counts[word]}
        idf = math.log(1 + (len(words) - len(having) + 0.5) / (len(having) + 0.5))
        for key, counts in having.items():
            norm = _K1 * (1 - _B + _B * counts.total() / average)
            scores[key] = scores.get(key, 0) + idf * counts[word] * (_K1 + 1) / (counts[word] + norm)
    return scores


def ranked(scores: Mapping[str, float], *, ascending: bool) -> list[str]:
    """Keys, best first."""
    return sorted(scores, key=lambda key: (scores[key] if ascending else -scores[key], key))


def fused(rankings: Sequence[Sequence[str]]) -> dict[str, float]:
    """Key to the sum of 1 / (60 + rank) over the rankings that hold it."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0) + 1 / (RRF_K + rank)
    return scores


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
