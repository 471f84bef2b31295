"""Search over any cut into segments is search over the records themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.memory import Memory, Record
from lodestore.retrieval import bm25
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_search import Mask, Part, corpus_of, keyword_scores, vector_scores
from lodestore.retrieval.tokenizer import query_terms
from lodestore.retrieval.vectors import cosines, quantise
from lodestore.services.rows import terms_of
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
