"""BM25: the known formula, on the corpus that the caller may see."""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.retrieval.bm25 import (
    Bm25Parameters,
    CorpusStatistics,
    Floats,
    TermCounts,
    corpus_statistics,
    count_terms,
    ideal,
    inverse_document_frequency,
    saturation,
    score,
    term_overlap,
)
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.tokenizer import index_terms, query_terms
from tests.unit.retrieval.keyword_search import search

TERM = st.sampled_from("abcdefgh")
DOCUMENTS = st.lists(st.lists(TERM, max_size=12), min_size=1, max_size=12)


def _terms(query: Sequence[str]) -> list[QueryTerm]:
    return [QueryTerm((term,)) for term in dict.fromkeys(query)]


def _score(query: Sequence[QueryTerm], documents: Sequence[Sequence[str]]) -> Floats:
    counted = [count_terms(document) for document in documents]
    return score(query, counted, corpus_statistics(counted, query))


@settings(deadline=None)
@given(DOCUMENTS.filter(any), st.lists(TERM, min_size=1, max_size=6))
def test_scores_and_ranking_are_those_of_bm25s_on_the_same_tokens(
    documents: list[list[str]], query: list[str]
) -> None:
    distinct = list(dict.fromkeys(query))
    oracle = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    oracle.index(documents, show_progress=False)
    known = [term for term in distinct if any(term in document for document in documents)]
    expected = oracle.get_scores(known) if known else np.zeros(len(documents))
    ours = _score(_terms(distinct), documents)
    assert ours == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_the_ranking_of_real_sentences_is_that_of_bm25s() -> None:
    texts = [
        f"Memory {n}: the build {'broke' * (n % 3)} on port {8000 + n % 7} after deploy {n // 5}"
        for n in range(200)
    ]
    tokens = [index_terms(text) for text in texts]
    query = [QueryTerm((form,)) for form in ("build", "8003", "broke", "deploy")]
    oracle = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    oracle.index(tokens, show_progress=False)
    expected = oracle.get_scores([term.forms[0] for term in query])
    ours = _score(query, tokens)
    assert ours == pytest.approx(expected, rel=1e-5)
    assert (
        np.argsort(-ours.round(4), kind="stable").tolist()
        == np.argsort(-expected.round(4), kind="stable").tolist()
    )


def test_the_formula_by_hand() -> None:
    documents = [["a", "a", "b"], ["c"]]
    idf = np.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    weight = 2 / (2 + 0.9 * (1 - 0.4 + 0.4 * 3 / 2))
    assert _score(_terms("a"), documents).tolist() == pytest.approx([idf * weight, 0])


@pytest.mark.case("B57")
@pytest.mark.parametrize("texts", [["windy in Oslo", "sunny in Cairo"], ["windy in Oslo"], ["windy"] * 3])
def test_a_word_that_half_or_all_of_a_tiny_corpus_has_still_counts(texts: list[str]) -> None:
    assert search("windy", texts)[0] == texts[0]
    assert inverse_document_frequency(len(texts), len(texts)) > 0


@settings(deadline=None)
@given(DOCUMENTS, st.lists(st.lists(TERM, min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_score_is_a_share_of_the_ideal(documents: list[list[str]], forms: list[list[str]]) -> None:
    query = [QueryTerm(tuple(dict.fromkeys(one))) for one in forms]
    counted = [count_terms(document) for document in documents]
    statistics = corpus_statistics(counted, query)
    shares = score(query, counted, statistics) / ideal(query, statistics)
    assert np.all((shares >= 0) & (shares < 1))
    assert [share > 0 for share in shares] == [
        any(form in counts.frequencies for term in query for form in term.forms) for counts in counted
    ]


def test_the_ideal_grows_with_a_word_that_no_document_has() -> None:
    counted = [count_terms(["a", "b"]), count_terms(["a"])]
    known, unknown = _terms("a"), _terms("az")
    assert (
        ideal(unknown, corpus_statistics(counted, unknown))
        > ideal(known, corpus_statistics(counted, known))
        > 0
    )


def test_a_term_counts_by_its_best_form_alone() -> None:
    documents = [["painting", "paint"], ["painting"], ["paint"], ["paint", "paint", "door"]]
    both = _score([QueryTerm(("painting", "paint"))], documents)
    apart = np.maximum(_score(_terms(["painting"]), documents), _score(_terms(["paint"]), documents))
    assert both.tolist() == pytest.approx(apart.tolist())


def test_filtering_documents_changes_no_score() -> None:
    texts = ["red door", "blue door", "door door window", "a red window", "nothing"]
    counted = [count_terms(index_terms(text)) for text in texts]
    query = query_terms("red door")
    statistics = corpus_statistics(counted, query)
    whole = score(query, counted, statistics)
    assert score(query, counted[1:4], statistics).tolist() == whole[1:4].tolist()
    assert score(query, counted[::-1], statistics).tolist() == whole[::-1].tolist()


def test_statistics_are_of_what_was_passed_and_no_other() -> None:
    counted = [count_terms(["a", "a", "b"]), count_terms(["b"])]
    assert corpus_statistics(counted, _terms("abz")) == CorpusStatistics(2, 2.0, {"a": 1, "b": 2})
    assert corpus_statistics([], _terms("a")) == CorpusStatistics(0, 0.0, {})


def test_no_documents_and_no_terms_give_no_scores() -> None:
    assert _score(_terms("a"), []).tolist() == []
    assert _score([], [["a"]]).tolist() == [0.0]
    assert _score(_terms("a"), [[], []]).tolist() == [0.0, 0.0]


def test_repetition_saturates_and_length_costs_as_the_parameters_say() -> None:
    once, often = np.array([1.0]), np.array([50.0])
    flat = Bm25Parameters(k1=0.9, b=0.0)
    assert saturation(once, np.array([10.0]), 10.0) < saturation(often, np.array([10.0]), 10.0) < 1
    assert saturation(once, np.array([40.0]), 10.0) < saturation(once, np.array([10.0]), 10.0)
    assert saturation(once, np.array([40.0]), 10.0, flat) == saturation(once, np.array([10.0]), 10.0, flat)
    assert saturation(once, once, 1.0, Bm25Parameters(k1=0.0)) == 1


@pytest.mark.parametrize(
    ("first", "second", "overlap"), [("abc", "abc", 1.0), ("ab", "bc", 1 / 3), ("a", "b", 0.0), ("", "", 0.0)]
)
def test_overlap_is_the_share_of_distinct_terms_in_common(first: str, second: str, overlap: float) -> None:
    assert term_overlap(count_terms(first), count_terms(second)) == pytest.approx(overlap)


def test_counts_keep_every_repetition() -> None:
    assert count_terms(["a", "b", "a"]) == TermCounts({"a": 2, "b": 1}, 3)
