"""BM25 in memory, with the formula in parts that any index can share.

Owns: the formula (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, in
the form of Lucene's BM25Similarity):

    score(q, d) = sum over terms t of q:  idf(t) * f(t, d) / (f(t, d) + k1 * (1 - b + b * |d| / average))
    idf(t)      = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

N documents, n(t) of them with t, f(t, d) times in d, |d| terms in d.

A query term with several forms counts by the form that scores highest in the document.
Guarantees: idf is positive, so a term scores even where every document has it; every score lies between 0 (no
form of any term occurs) and `ideal`; scores do not depend on the order of the documents, nor on those left
out of `documents`.
Gives up: phrases and nearness. Query terms count once each, however often a query repeats them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.query import QueryTerm

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25Parameters:
    """k1 >= 0: how late repetition saturates; 0 <= b <= 1: how much long documents pay.

    The defaults are those that held on LoCoMo and REALTALK at once (memories are short).
    """

    k1: float = 0.9
    b: float = 0.4


DEFAULT_PARAMETERS: Final = Bm25Parameters()


@dataclass(frozen=True, slots=True)
class TermCounts:
    """A document as BM25 sees it: how often each term occurs, and the number of all its terms."""

    frequencies: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What idf and length are measured against.

    documents             count of the corpus
    average_length        terms in a document, on average; 0 for a corpus without terms
    document_frequencies  for every form of the query that occurs: in how many documents
    """

    documents: int
    average_length: float
    document_frequencies: Mapping[str, int]


def count_terms(terms: Iterable[str]) -> TermCounts:
    """Count what `tokenizer.index_terms` returned."""
    frequencies = Counter(terms)
    return TermCounts(dict(frequencies), frequencies.total())


def term_overlap(first: TermCounts, second: TermCounts) -> float:
    """Jaccard index of the distinct terms, in [0, 1]; 0 if either has none."""
    shared = len(first.frequencies.keys() & second.frequencies.keys())
    return shared / ((len(first.frequencies) + len(second.frequencies) - shared) or 1)


def corpus_statistics(corpus: Iterable[TermCounts], query: Iterable[QueryTerm]) -> CorpusStatistics:
    """Statistics over every document that the caller may see, for the forms of `query` alone. One pass."""
    forms = {form for term in query for form in term.forms}
    documents = length = 0
    document_frequencies: Counter[str] = Counter()
    for counts in corpus:
        documents += 1
        length += counts.length
        for form in forms & counts.frequencies.keys():
            document_frequencies[form] += 1
    return CorpusStatistics(documents, length / documents if documents else 0.0, dict(document_frequencies))


def inverse_document_frequency(documents: int, document_frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)), for 0 <= n <= N: positive, greatest for a term nobody has."""
    return float(np.log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5)))


def saturation(
    frequencies: Floats,
    lengths: Floats,
    average_length: float,
    parameters: Bm25Parameters = DEFAULT_PARAMETERS,
) -> Floats:
    """f / (f + k1 * (1 - b + b * length / average length)), element by element: in [0, 1), rising in f."""
    relative = lengths / average_length if average_length else np.ones_like(lengths)
    return frequencies / (frequencies + parameters.k1 * (1 - parameters.b + parameters.b * relative))


def score(
    query: Sequence[QueryTerm],
    documents: Sequence[TermCounts],
    statistics: CorpusStatistics,
    parameters: Bm25Parameters = DEFAULT_PARAMETERS,
) -> Floats:
    """The BM25 score of each document, in their order. Zero: no term of the query occurs.

    `statistics` come from `corpus_statistics` over the whole corpus, of which `documents` may be any part.
    """
    lengths = np.fromiter((counts.length for counts in documents), np.float64, len(documents))
    postings = _postings(query, documents)
    scores = np.zeros(len(documents))
    for term in query:
        best = np.zeros(len(documents))
        for form in postings.keys() & set(term.forms):
            rows, frequencies = postings[form]
            idf = inverse_document_frequency(statistics.documents, statistics.document_frequencies[form])
            weights = idf * saturation(frequencies, lengths[rows], statistics.average_length, parameters)
            best[rows] = np.maximum(best[rows], weights)
        scores += best
    return scores


def ideal(query: Iterable[QueryTerm], statistics: CorpusStatistics) -> float:
    """What no score can exceed: every term of the query, saturated, by its rarest form that the corpus has.

    A term that no document has counts in full: a document can't be sure to answer what it lacks a word of.
    Positive unless the query is empty.
    """
    return sum((_greatest_idf(term, statistics) for term in query), 0.0)


def _greatest_idf(term: QueryTerm, statistics: CorpusStatistics) -> float:
    known = [statistics.document_frequencies.get(form, 0) for form in term.forms]
    return inverse_document_frequency(statistics.documents, min(filter(None, known), default=0))


def _postings(
    query: Iterable[QueryTerm], documents: Iterable[TermCounts]
) -> Mapping[str, tuple[NDArray[np.int64], Floats]]:
    """For every form of the query that occurs: the rows of `documents` that have it, and how often."""
    forms = {form for term in query for form in term.forms}
    rows: defaultdict[str, list[int]] = defaultdict(list)
    frequencies: defaultdict[str, list[int]] = defaultdict(list)
    for row, counts in enumerate(documents):
        for form in forms & counts.frequencies.keys():
            rows[form].append(row)
            frequencies[form].append(counts.frequencies[form])
    return {form: (np.array(rows[form], np.int64), np.array(frequencies[form], np.float64)) for form in rows}
