"""BM25 and cosine over several segments as if they were one.

Owns: term statistics and scores over parts. Guarantees: scores are those of one segment that holds all rows, however
the corpus is cut (tested against `bm25.score`); rows outside a part's `counted` mask appear in no statistic (P-TENANT).
Time goes with the postings of the query's forms and the bytes of the vectors, not with what else a row holds.
Gives up: early termination; every posting of a query's terms is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

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
class Corpus:
    """Parts as one, and what no query changes of them.

    starts     where each part begins when all rows stand one after the other, and where the last ends
    counted    of all rows
    lengths    terms of each row; `average` over those that count, which are `documents`
    """

    parts: Sequence[Part]
    starts: Sequence[int]
    counted: Mask
    lengths: Floats
    documents: int
    average: float


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The counted postings of every form; form f's are at [bounds[f], bounds[f + 1]). Rows are those of all parts."""

    rows: NDArray[np.int64]
    counts: Array
    bounds: NDArray[np.int64]

    def kept(self, mask: Mask) -> Postings:
        """Those that the mask says."""
        return Postings(
            self.rows[mask], self.counts[mask], np.concatenate([_ZERO, np.cumsum(mask)])[self.bounds]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """What the scores were made of, for whoever scores the same words over more than one row.

    terms      for each term of the query the numbers of its forms
    idf        of each form
    documents  how many rows count
    """

    terms: Sequence[Sequence[int]]
    postings: Postings
    idf: Floats
    documents: int


@dataclass(frozen=True, slots=True, eq=False)
class KeywordScores:
    """`every` scores each row of all parts, one part after the other, 0 where nothing matches.

    starts   where each part begins, and where the last ends
    ideal    what no score can exceed
    identifiers   which terms of the query are names of more than letters
    """

    every: Floats
    starts: Sequence[int]
    ideal: float
    matches: Matches
    identifiers: Sequence[int] = ()

    @property
    def unknown(self) -> float:
        """The share of the query's words that no counted row has, each alike; less, where few rows could have them."""
        bounds, terms = self.matches.postings.bounds, self.matches.terms
        missing = sum(not any(bounds[f] < bounds[f + 1] for f in forms) for forms in terms)
        telling = self.matches.documents / (self.matches.documents + FEW_ROWS)
        return telling * missing / len(terms) if terms else 0.0

    def covered(self) -> Floats:
        """The share of the query's words that each row has."""
        covered: Floats = self._words() / (len(self.matches.terms) or 1)
        return covered

    @property
    def reach(self) -> float:
        """The best share of the query's words that a row has."""
        return int(self._words().max(initial=0)) / (len(self.matches.terms) or 1)

    def _words(self) -> Array:
        """How many of the query's words each row has."""
        words = np.zeros(len(self.every), np.uint32)
        for forms in self.matches.terms:
            words[self._having(forms)] += 1
        return words

    @property
    def telling(self) -> Sequence[int]:
        """Which terms of the query a memory that answers it has to have: identifiers, and words that few rows have."""
        most = bm25.inverse_document_frequency(self.matches.documents, 1)
        return [
            term
            for term, forms in enumerate(self.matches.terms)
            if term in self.identifiers or self._rarity(forms) >= RARE * most
        ]

    def _rarity(self, forms: Sequence[int]) -> float:
        """The inverse document frequency of a term's most common form; 0 where no row has any."""
        bounds, idf = self.matches.postings.bounds, self.matches.idf
        return min((float(idf[form]) for form in forms if bounds[form] < bounds[form + 1]), default=0.0)

    def whole(self) -> Mask:
        """Whether each row has all telling terms of the query."""
        has = np.ones(len(self.every), np.bool_)
        for term in self.telling:
            found = np.zeros(len(self.every), np.bool_)
            found[self._having(self.matches.terms[term])] = True
            has &= found
        return has

    def _having(self, forms: Sequence[int]) -> NDArray[np.int64]:
        """The rows that have any of these forms, each once or more."""
        postings, bounds = self.matches.postings, self.matches.postings.bounds
        return np.concatenate([_ZERO[:0], *(postings.rows[bounds[f] : bounds[f + 1]] for f in forms)])

    @property
    def rows(self) -> tuple[Floats, ...]:
        """The scores part by part."""
        return tuple(self.every[start:end] for start, end in pairwise(self.starts))


# With so many rows a word that none has says half of what it says with all rows there could be.
FEW_ROWS = 10
# As a share of the inverse document frequency of what one row has: a word of 1 % of 10,000 rows, of a third of nine.
RARE = 0.5
_ZERO = np.zeros(1, np.int64)


def corpus_of(parts: Sequence[Part]) -> Corpus:
    """The parts as one."""
    starts = tuple(accumulate((len(part.segment) for part in parts), initial=0))
    counted = np.concatenate([np.zeros(0, np.bool_), *(part.counted for part in parts)])
    lengths = np.concatenate([np.zeros(0, np.uint32), *(part.segment["length"] for part in parts)])
    documents = int(np.count_nonzero(counted))
    length = int(lengths[counted].sum(dtype=np.int64))
    average = length / documents if documents else 0.0
    return Corpus(parts, starts, counted, lengths.astype(np.float64), documents, average)


def keyword_scores(
    query: Sequence[QueryTerm], corpus: Corpus, parameters: Bm25Parameters = DEFAULT_PARAMETERS
) -> KeywordScores:
    """BM25 of every row of every part. Source of the formula: `bm25`."""
    numbers = {form: n for n, form in enumerate(dict.fromkeys(f for term in query for f in term.forms))}
    postings = _postings(corpus.parts, corpus.starts, hashes64(numbers))
    postings = postings.kept(corpus.counted[postings.rows])
    having = np.diff(postings.bounds)
    occurring = {form: n for form, n in zip(numbers, having.tolist(), strict=True) if n}
    statistics = CorpusStatistics(corpus.documents, corpus.average, occurring)
    saturated = bm25.saturation(
        postings.counts.astype(np.float64), corpus.lengths[postings.rows], corpus.average, parameters
    )
    idf = np.array([bm25.inverse_document_frequency(statistics.documents, n) for n in having.tolist()])
    terms = [[numbers[form] for form in term.forms] for term in query]
    scores = _sums(terms, postings, np.repeat(idf, having) * saturated, len(corpus.counted))
    matches = Matches(terms, postings, idf, corpus.documents)
    identifiers = [number for number, term in enumerate(query) if term.is_identifier]
    return KeywordScores(scores, corpus.starts, bm25.ideal(query, statistics), matches, identifiers)


def vector_scores(
    query: NDArray[np.float32], model: str, parts: Sequence[Part]
) -> tuple[Cosines | None, ...]:
    """The best cosine of each row's vectors, NaN where a row has none; None for a part of another model."""
    asked = quantise(query[None, :]).values[0]
    return tuple(_part_cosines(asked, part) if part.segment.model == model else None for part in parts)


def _postings(parts: Sequence[Part], starts: Sequence[int], hashes: Hashes) -> Postings:
    """The postings of these terms, counted or not."""
    found: list[list[tuple[Segment, int, slice]]] = [[] for _ in range(len(hashes))]
    for part, start in zip(parts, starts, strict=False):
        terms, offsets = part.segment["term"], part.segment["term_at"]
        at = terms.searchsorted(hashes)
        forms = (terms.take(at, mode="clip") == hashes).nonzero()[0] if len(terms) else at[:0]
        begins, ends = offsets[at[forms]].tolist(), offsets[at[forms] + 1].tolist()
        for form, begin, end in zip(forms.tolist(), begins, ends, strict=True):
            found[form].append((part.segment, start, slice(begin, end)))
    pieces = [piece for one in found for piece in one]
    sizes = [span.stop - span.start for _, _, span in pieces]
    rows = _joined([segment["posting_row"][span] for segment, _, span in pieces], np.uint32)
    counts = _joined([segment["posting_count"][span] for segment, _, span in pieces], np.uint16)
    bounds = accumulate((sum(span.stop - span.start for *_, span in one) for one in found), initial=0)
    return Postings(
        rows + np.repeat(np.array([start for _, start, _ in pieces], np.int64), sizes),
        counts,
        np.fromiter(bounds, np.int64),
    )


def _joined(pieces: Sequence[Array], kind: type[np.generic]) -> Array:
    return np.concatenate(pieces) if pieces else np.zeros(0, kind)


def _sums(terms: Sequence[Sequence[int]], postings: Postings, weights: Floats, rows: int) -> Floats:
    """For each row the sum over terms of the weight of the term's best form."""
    scores = np.zeros(rows)
    best: Floats | None = None
    spans = [slice(start, end) for start, end in pairwise(postings.bounds.tolist())]
    for forms in terms:
        having = [span for form in forms if (span := spans[form]).start < span.stop]
        if len(having) == 1:
            scores[postings.rows[having[0]]] += weights[having[0]]
        elif having:
            best = np.zeros(rows) if best is None else best
            _add_best(scores, best, [(postings.rows[span], weights[span]) for span in having])
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
    found = cosines(asked, segment["vector"], segment.norms)
    best = _best_of_rows(found, segment["vector_row"], len(segment))
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
