"""BM25 and cosine over several segments as if they were one.

Owns: term statistics and scores over parts. Guarantees: scores are those of one segment that holds all rows, however
the corpus is cut (tested against `bm25.score`); rows outside a part's `counted` mask appear in no statistic (P-TENANT).
Gives up: early termination; every posting of a query's terms is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval import bm25
from lodestore.retrieval.bm25 import DEFAULT_PARAMETERS, Bm25Parameters, CorpusStatistics
from lodestore.retrieval.hashing import hash64
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.segment import Array, Segment
from lodestore.retrieval.vectors import cosines, quantise

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A segment and the rows of it that count: those that the caller may see and that hold now."""

    segment: Segment
    counted: Mask


@dataclass(frozen=True, slots=True, eq=False)
class KeywordScores:
    """`rows[p]` scores each row of part p, 0 where nothing matches; `ideal` is what none can exceed."""

    rows: tuple[Floats, ...]
    ideal: float


def keyword_scores(
    query: Sequence[QueryTerm], parts: Sequence[Part], parameters: Bm25Parameters = DEFAULT_PARAMETERS
) -> KeywordScores:
    """BM25 of every row of every part. Source of the formula: `bm25`."""
    forms = {form: hash64(form) for term in query for form in term.forms}
    found = [{form: part.segment.postings(term) for form, term in forms.items()} for part in parts]
    statistics = _statistics(parts, found)
    scores = tuple(
        _part_scores(query, part, postings, statistics, parameters)
        for part, postings in zip(parts, found, strict=True)
    )
    return KeywordScores(scores, bm25.ideal(query, statistics))


def vector_scores(query: NDArray[np.float32], model: str, parts: Sequence[Part]) -> tuple[Floats | None, ...]:
    """The best cosine of each row's vectors, NaN where a row has none; None for a part of another model."""
    asked = quantise(query[None, :]).values[0]
    return tuple(_part_cosines(asked, part) if part.segment.model == model else None for part in parts)


def _statistics(
    parts: Sequence[Part], found: Sequence[Mapping[str, tuple[Array, Array]]]
) -> CorpusStatistics:
    documents = sum(int(part.counted.sum()) for part in parts)
    length = sum(int(part.segment["length"][part.counted].sum(dtype=np.int64)) for part in parts)
    frequencies: dict[str, int] = {}
    for part, postings in zip(parts, found, strict=True):
        for form, (rows, _) in postings.items():
            having = int(part.counted[rows].sum())
            if having:
                frequencies[form] = frequencies.get(form, 0) + having
    return CorpusStatistics(documents, length / documents if documents else 0.0, frequencies)


def _part_scores(
    query: Sequence[QueryTerm],
    part: Part,
    postings: Mapping[str, tuple[Array, Array]],
    statistics: CorpusStatistics,
    parameters: Bm25Parameters,
) -> Floats:
    scores = np.zeros(len(part.segment))
    for term in query:
        found = [(form, *postings[form]) for form in term.forms if len(postings[form][0])]
        best = np.zeros(len(scores)) if len(found) > 1 else scores
        for form, rows, counts in found:
            frequency = statistics.document_frequencies.get(form, 0)
            idf = bm25.inverse_document_frequency(statistics.documents, frequency)
            lengths = part.segment["length"][rows].astype(np.float64)
            saturated = bm25.saturation(
                counts.astype(np.float64), lengths, statistics.average_length, parameters
            )
            weights = idf * saturated
            best[rows] = np.maximum(best[rows], weights) if best is not scores else scores[rows] + weights
        if best is not scores:
            scores += best
    scores[~part.counted] = 0
    return scores


def _part_cosines(asked: NDArray[np.int8], part: Part) -> Floats:
    segment = part.segment
    best = np.full(len(segment), np.nan)
    if segment.vectors and segment["vector"].shape[1] == len(asked):
        rows = segment["vector_row"]
        found = np.full(len(segment), -np.inf)
        np.maximum.at(found, rows, cosines(asked, segment["vector"]))
        best[rows] = found[rows]
    best[~part.counted] = np.nan
    return best
