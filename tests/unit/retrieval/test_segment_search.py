"""Search over any cut into segments is search over the records themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.memory import Memory, Record
from lodestore.retrieval import bm25
from lodestore.retrieval.near_rows import all_cosines
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_search import Mask, Part, corpus_of, keyword_scores, vector_scores
from lodestore.retrieval.tokenizer import query_terms
from lodestore.retrieval.vectors import cosines, quantise
from lodestore.services.rows import row_of, segment_of, terms_of
from tests.unit.retrieval.random_records import (
    DIM,
    MEMORY,
    MODEL,
    WORDS,
    corpora,
    cuts,
    row,
    segment,
    vectors,
)

queries = st.lists(st.sampled_from((*WORDS, "nowhere", "Deploys", "err")), max_size=4).map(" ".join)


@st.composite
def seen_parts(draw: st.DrawFn) -> list[tuple[list[Record], list[bool]]]:
    """A corpus cut into parts, and of each record whether it counts."""
    parts = draw(cuts(draw(corpora())))
    return [(part, [draw(st.booleans()) for _ in part]) for part in parts]


def mask_of(made: Segment, part: list[Record], counted: list[bool]) -> Mask:
    """The rows of the counted memories. A stub has no text, and counts nowhere."""
    ids = {
        record.id
        for record, counts in zip(part, counted, strict=True)
        if counts and isinstance(record, Memory)
    }
    return np.array([made.text("id", at) in ids for at in range(len(made))], np.bool_)


@pytest.mark.promise("P-TENANT")
@settings(deadline=None, max_examples=50)
@given(seen_parts(), queries)
def test_keyword_scores_are_bm25_of_the_counted_records_however_they_are_cut(
    cut: list[tuple[list[Record], list[bool]]], query: str
) -> None:
    parts = []
    for records, counted in cut:
        made = segment(records)
        parts.append(Part(made, mask_of(made, records, counted)))
    found = keyword_scores(query_terms(query), corpus_of(parts))

    visible = [
        record
        for records, counted in cut
        for record, counts in zip(records, counted, strict=True)
        if counts and isinstance(record, Memory)
    ]
    terms = [counts for record in visible if (counts := terms_of(record)) is not None]
    statistics = bm25.corpus_statistics(terms, query_terms(query))
    scores = bm25.score(query_terms(query), terms, statistics)
    expected = {record.id: float(score) for record, score in zip(visible, scores, strict=True)}

    for part, rows in zip(parts, found.rows, strict=True):
        for at, score in enumerate(rows):
            assert score == pytest.approx(expected.get(part.segment.text("id", at), 0.0))
    assert found.ideal == pytest.approx(bm25.ideal(query_terms(query), statistics))


@settings(deadline=None, max_examples=30)
@given(seen_parts(), st.integers(0, 100))
def test_a_row_scores_by_the_best_of_its_vectors_to_within_what_int8_costs(
    cut: list[tuple[list[Record], list[bool]]], seed: int
) -> None:
    query = vectors(1, seed)[0] + np.float32(0.25)
    for records, counted in cut:
        made = segment(records)
        mask = mask_of(made, records, counted)
        (scores,) = vector_scores(query, MODEL, [Part(made, mask)])
        assert scores is not None
        for record in records:
            at = next(at for at in range(len(made)) if made.text("id", at) == record.id)
            having = row(record).vectors
            if having is None or not mask[at]:
                assert np.isnan(scores[at])
            else:
                lengths = np.linalg.norm(having, axis=1) * np.linalg.norm(query)
                assert scores[at] == pytest.approx(float((having @ query / lengths).max()), abs=0.02)


@pytest.mark.promise("P-SILENT-NEVER")
def test_vectors_of_another_model_or_dimension_are_never_compared() -> None:
    made = segment([MEMORY])
    every = np.ones(1, np.bool_)
    assert vector_scores(vectors(1, 1)[0], "another-model", [Part(made, every)]) == (None,)
    (scores,) = vector_scores(np.ones(DIM + 1, np.float32), MODEL, [Part(made, every)])
    assert scores is None or np.isnan(scores).all()


def _with_vectors(first: int, rows: int, dim: int = DIM) -> Segment:
    """Rows of one vector each."""
    told = [replace(MEMORY, id=f"one-{first + at}") for at in range(rows)]
    drawn = np.random.default_rng([first, rows]).normal(size=(rows, dim)).astype(np.float32)
    made = [row_of(memory, '"e"', model=None) for memory in told]
    return segment_of([replace(one, vectors=drawn[at : at + 1]) for at, one in enumerate(made)], model=MODEL)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([DIM, DIM, DIM, DIM + 1])), max_size=4),
    seen_parts(),
    st.booleans(),
    st.integers(0, 100),
)
def test_cosines_of_all_parts_at_once_are_those_of_each_by_itself(
    sizes: list[tuple[int, int]],
    cut: list[tuple[list[Record], list[bool]]],
    mixed: bool,
    seed: int,
) -> None:
    made = [_with_vectors(100 * n, size, dim) for n, (size, dim) in enumerate(sizes)]
    made += [segment(records) for records, _ in cut] if mixed else []
    parts = [Part(one, np.ones(len(one), np.bool_)) for one in made]
    query = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
    alone = [one for part in parts for one in vector_scores(query, MODEL, [part]) if one is not None]
    together = all_cosines(query, MODEL, parts)
    assert together == pytest.approx(np.concatenate([np.zeros(0), *alone]), abs=1e-6, nan_ok=True)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**31), st.integers(1, 40))
def test_int8_keeps_the_cosine_of_real_dimensions_to_within_a_hundredth(seed: int, count: int) -> None:
    drawn = np.random.default_rng(seed).normal(size=(count + 1, 384)).astype(np.float32)
    query, stored = drawn[0], drawn[1:]
    exact = stored @ query / np.linalg.norm(stored, axis=1) / np.linalg.norm(query)
    kept = quantise(stored)
    assert cosines(quantise(query[None, :]).values[0], kept.values) == pytest.approx(exact, abs=0.01)
    assert kept.values * kept.scales[:, None] == pytest.approx(stored, abs=float(kept.scales.max()))


def test_a_vector_of_zeros_is_kept_and_compared_without_harm() -> None:
    kept = quantise(np.zeros((1, 4), np.float32))
    assert kept.values.tolist() == [[0, 0, 0, 0]]
    assert np.isfinite(kept.scales).all()
    assert cosines(kept.values[0], kept.values).tolist() == [0]


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("port of the production database", {0}),
        ("port of the staging database", set()),
        ("coffee machine in the Oslo office", {3}),
        ("coffee machine in the Frankfurt office", set()),
        ("retry limit of the payment service", {2}),
        ("retry limit of the checkout service", set()),
        ("the team of Lena", {4}),
        ("what does the team of Ivo prefer", set()),
    ],
)
def test_a_row_that_lacks_a_rare_word_of_the_query_is_not_whole_and_a_common_one_may_be_lacking(
    query: str, whole: set[int]
) -> None:
    contents = [
        "The production database listens on port 5432.",
        "The staging cluster of team Ivo runs in Frankfurt.",
        "The retry limit of payment is 3.",
        "The office in Oslo has a coffee machine.",
        "Lena leads search; the team prefers dark mode.",
        "The checkout is written in Go.",
        *(f"The service number {number} is a service of the platform" for number in range(20)),
    ]
    made = segment([replace(MEMORY, id=f"m{n:02}", content=c) for n, c in enumerate(contents)], model=None)
    part = Part(made, np.ones(len(made), np.bool_))
    found = keyword_scores(query_terms(query), corpus_of([part])).whole()
    assert {int(made.text("id", int(at))[1:]) for at in np.flatnonzero(found)} == whole
