"""BM25 and cosine over several segments as if they were one.

Owns: term statistics and scores over parts. Guarantees: scores are those of one segment that holds all rows, however
the corpus is cut (tested against `bm25.score`); rows outside a part's `counted` mask appear in no statistic (P-TENANT).
Time goes with the postings of the query's forms and the bytes of the vectors, not with what else a row holds.
Gives up: early termination; every posting of a query's terms is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval import bm25
from lodestore.retrieval.bm25 import DEFAULT_PARAMETERS, Bm25Parameters, CorpusStatistics
from lodestore.retrieval.hashing import Hashes, hashes64
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.segment import Array, Segment
from lodestore.retrieval.vectors import cosines, quantise

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Cosines = NDArray[np.float32]


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


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """The counted postings of all forms in one part; form f's are at [bounds[f], bounds[f + 1])."""

    rows: Array
    counts: Array
    bounds: NDArray[np.int64]

    def of(self, form: int) -> slice:
        return slice(int(self.bounds[form]), int(self.bounds[form + 1]))


def keyword_scores(
    query: Sequence[QueryTerm], parts: Sequence[Part], parameters: Bm25Parameters = DEFAULT_PARAMETERS
) -> KeywordScores:
    """BM25 of every row of every part. Source of the formula: `bm25`."""
    numbers = {form: n for n, form in enumerate(dict.fromkeys(f for term in query for f in term.forms))}
    hashes = hashes64(numbers)
    found = [_postings(part, hashes) for part in parts]
    having = sum((np.diff(postings.bounds) for postings in found), np.zeros(len(numbers), np.int64))
    statistics = _statistics(parts, dict(zip(numbers, having.tolist(), strict=True)))
    idf = [bm25.inverse_document_frequency(statistics.documents, n) for n in having.tolist()]
    terms = [[numbers[form] for form in term.forms] for term in query]
    scores = []
    for part, postings in zip(parts, found, strict=True):
        lengths = part.segment["length"][postings.rows].astype(np.float64)
        counts = postings.counts.astype(np.float64)
        saturated = bm25.saturation(counts, lengths, statistics.average_length, parameters)
        weights = np.repeat(idf, np.diff(postings.bounds)) * saturated
        scores.append(_sums(terms, postings, weights, len(part.segment)))
    return KeywordScores(tuple(scores), bm25.ideal(query, statistics))


def vector_scores(
    query: NDArray[np.float32], model: str, parts: Sequence[Part]
) -> tuple[Cosines | None, ...]:
    """The best cosine of each row's vectors, NaN where a row has none; None for a part of another model."""
    asked = quantise(query[None, :]).values[0]
    return tuple(_part_cosines(asked, part) if part.segment.model == model else None for part in parts)


def _postings(part: Part, hashes: Hashes) -> _Postings:
    segment = part.segment
    terms, offsets = segment["term"], segment["term_at"]
    if not len(terms):
        nothing = np.zeros(0, np.intp)
        return _Postings(nothing, nothing, np.zeros(len(hashes) + 1, np.int64))
    at = np.minimum(np.searchsorted(terms, hashes), len(terms) - 1)
    known = np.flatnonzero(terms[at] == hashes)
    spans = [slice(*offsets[place : place + 2].tolist()) for place in at[known].tolist()]
    rows = _joined(segment["posting_row"], spans)
    counts = _joined(segment["posting_count"], spans)
    sizes = np.zeros(len(hashes), np.int64)
    sizes[known] = [span.stop - span.start for span in spans]
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    kept = part.counted[rows]
    if not kept.all():
        rows, counts = rows[kept], counts[kept]
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[bounds]
    return _Postings(rows, counts, bounds)


def _joined(values: Array, spans: Sequence[slice]) -> Array:
    return np.concatenate([values[:0], *(values[span] for span in spans)])


def _statistics(parts: Sequence[Part], frequencies: Mapping[str, int]) -> CorpusStatistics:
    documents = sum(int(np.count_nonzero(part.counted)) for part in parts)
    length = sum(int(part.segment["length"][part.counted].sum(dtype=np.int64)) for part in parts)
    occurring = {form: having for form, having in frequencies.items() if having}
    return CorpusStatistics(documents, length / documents if documents else 0.0, occurring)


def _sums(terms: Sequence[Sequence[int]], postings: _Postings, weights: Floats, rows: int) -> Floats:
    """For each row the sum over terms of the weight of the term's best form."""
    scores = np.zeros(rows)
    best: Floats | None = None
    for forms in terms:
        spans = [span for form in forms if (span := postings.of(form)).start < span.stop]
        if len(spans) == 1:
            scores[postings.rows[spans[0]]] += weights[spans[0]]
        elif spans:
            best = np.zeros(rows) if best is None else best
            _add_best(scores, best, [(postings.rows[span], weights[span]) for span in spans])
    return scores


def _add_best(scores: Floats, best: Floats, forms: Sequence[tuple[Array, Floats]]) -> None:
    """Add to each row the weight of its best form. `best` is zero everywhere, before and after."""
    for rows, weights in forms:
        best[rows] = np.maximum(best[rows], weights)
    touched = np.concatenate([rows for rows, _ in forms])
    # A row that is touched twice is set to one and the same sum twice.
    scores[touched] += best[touched]
    best[touched] = 0


def _part_cosines(asked: NDArray[np.int8], part: Part) -> Cosines:
    segment = part.segment
    if not segment.vectors or segment["vector"].shape[1] != len(asked):
        return np.full(len(segment), np.nan, np.float32)
    best = _best_of_rows(cosines(asked, segment["vector"]), segment["vector_row"], len(segment))
    np.copyto(best, np.nan, where=~part.counted)
    return best


def _best_of_rows(found: Cosines, at: Array, rows: int) -> Cosines:
    """The highest of each row's values, NaN where a row has none. `at` is the row of each value, in any order."""
    begins = at[1:] > at[:-1]
    if len(at) == rows and begins.all():
        return found
    if np.any(at[1:] < at[:-1]):
        order = np.argsort(at, kind="stable")
        found, at = found[order], at[order]
        begins = at[1:] > at[:-1]
    starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(begins) + 1])
    best = np.full(rows, np.nan, np.float32)
    best[at[starts]] = np.maximum.reduceat(found, starts)
    return best
