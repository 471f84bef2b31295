"""What the score of a row depends on, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lodestore.retrieval.calibration import (
    FALL,
    HIGH_FROM,
    MEDIUM_FROM,
    MOST_LEAD,
    NO_RIVAL,
    confidence,
    lead,
)
from lodestore.retrieval.conversation import ConversationFeatures
from lodestore.retrieval.fusion import Anchors, fuse
from lodestore.retrieval.ranking import PENALTIES, Signals, score, standing
from lodestore.retrieval.ranking_weights import WEIGHTS, Weights

Floats = NDArray[np.float64]
ANCHORS = Anchors(unrelated=0.2, same=0.85)
NAMES = tuple(name for name in ConversationFeatures.__slots__ if name != "assistant")
MANY = len(NAMES)
shares = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 3))


def signals(keyword: list[float], cosine: list[float], drawn: list[list[float]]) -> Signals:
    """Signals of rows, each with as many features in [0, 1] as `ConversationFeatures` has but the last."""
    rows = len(keyword)
    return Signals(
        fused=fuse(np.array(keyword), np.array(cosine), ANCHORS),
        conversation=ConversationFeatures(
            **dict(zip(NAMES, np.array(drawn).T, strict=True)), assistant=np.zeros(rows, np.bool_)
        ),
        standing=standing(np.full(rows, 0.5), np.zeros(rows), np.full(rows, np.inf), np.zeros(rows)),
        reach=max(keyword),
        unknown=0.0,
    )


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[float], list[float], list[list[float]]]:
    """Two to six rows."""
    many = draw(st.integers(2, 6))

    def of(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(values, min_size=many, max_size=many))

    features = draw(st.lists(st.lists(shares, min_size=MANY, max_size=MANY), min_size=many, max_size=many))
    return of(shares), of(st.floats(-1, 1)), features


@given(rows())
def test_scores_lie_in_0_to_1_and_are_0_exactly_where_nothing_matches(
    drawn: tuple[list[float], list[float], list[list[float]]],
) -> None:
    found = score(signals(*drawn))
    assert 0 <= found.known <= 1
    assert np.all((found.score >= 0) & (found.score <= 1))
    assert np.array_equal(found.score > 0, found.matching)


@settings(max_examples=300)
@given(rows(), st.integers(0, 5), shares, st.booleans())
def test_more_relevance_never_lowers_a_row_below_another_nor_its_score(
    drawn: tuple[list[float], list[float], list[list[float]]], at: int, more: float, words: bool
) -> None:
    keyword, cosine, features = drawn
    at %= len(keyword)
    before = score(signals(keyword, cosine, features))
    raised = [list(keyword), list(cosine)]
    leg = raised[0 if words else 1]
    leg[at] = max(leg[at], min(1.0, leg[at] + more))
    after = score(signals(raised[0], raised[1], features))
    assert after.score[at] >= before.score[at] - 1e-9
    above = before.score <= before.score[at] + 1e-12
    assert np.all(after.score[above] <= after.score[at] + 1e-9)


@pytest.mark.parametrize("name", [name for name in Weights.__slots__ if name != "assistant"])
def test_a_part_shows_what_the_feature_adds_or_takes(name: str) -> None:
    plain = [[0.0] * MANY, [0.0] * MANY]
    made = signals([0.5, 0.5], [0.5, 0.5], plain)
    if name in ConversationFeatures.__slots__:
        made = replace(made, conversation=replace(made.conversation, **{name: np.array([1.0, 0.0])}))
    found = score(made)
    signed = -getattr(WEIGHTS, name) if name in PENALTIES else getattr(WEIGHTS, name)
    assert found.parts[name][0] == pytest.approx(signed * made.features()[name][0])
    if name in ConversationFeatures.__slots__ and signed:
        assert (found.score[0] > found.score[1]) == (signed > 0)


def test_a_turn_of_an_assistant_stands_below_the_same_said_by_a_person() -> None:
    made = signals([0.5, 0.5], [0.5, 0.5], [[0.0] * MANY, [0.0] * MANY])
    said = replace(made, conversation=replace(made.conversation, assistant=np.array([True, False])))
    assistant, person = score(said).score.tolist()
    assert 0 < assistant == pytest.approx(WEIGHTS.assistant**FALL * person)


@pytest.mark.parametrize(
    ("score_", "whole", "label"),
    [
        (0.0, True, "LOW"),
        (MEDIUM_FROM, True, "MEDIUM"),
        (MEDIUM_FROM, False, "MEDIUM"),
        (HIGH_FROM, True, "HIGH"),
        (1.0, True, "HIGH"),
        (1.0, False, "MEDIUM"),
    ],
)
def test_high_needs_every_identifier_that_was_asked_for(score_: float, whole: bool, label: str) -> None:
    assert confidence(score_, whole=whole) == label


def test_what_is_stored_alone_has_no_lead_over_others() -> None:
    assert lead(2.0, 0.0) == NO_RIVAL
    assert lead(2.0, 1.9) == pytest.approx(0.05)
    assert lead(2.0, 0.1) == MOST_LEAD


@pytest.mark.parametrize(("language", "worth"), [("english", 1.0), (None, 1.0), ("german", 0.4)])
def test_a_vector_of_a_language_that_the_model_was_not_made_for_counts_for_less(
    language: str | None, worth: float
) -> None:
    english = Anchors(unrelated=0.0, same=1.0, languages=frozenset({"english"}), abroad=0.4)
    found = fuse(np.array([0.0]), np.array([0.5]), english, language)
    assert found.vector[0] == pytest.approx(0.5 * worth)
