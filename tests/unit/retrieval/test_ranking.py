"""What the score of a row depends on, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lodestore.retrieval.conversation import ConversationFeatures
from lodestore.retrieval.fusion import Anchors, fuse
from lodestore.retrieval.ranking import PENALTIES, Signals, confidence, score
from lodestore.retrieval.ranking_weights import WEIGHTS, Weights

Floats = NDArray[np.float64]
ANCHORS = Anchors(unrelated=0.2, same=0.85)
shares = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 3))


def signals(keyword: list[float], cosine: list[float], drawn: list[list[float]]) -> Signals:
    """Signals of rows, each with seven features in [0, 1]."""
    window, neighbours, session, named, dated, short, question = np.array(drawn).T
    rows = len(keyword)
    assistant = np.zeros(rows, np.bool_)
    given_ = ConversationFeatures(window, neighbours, session, named, dated, short, question, assistant)
    fused = fuse(np.array(keyword), np.array(cosine), ANCHORS)
    return Signals(fused, given_, np.full(rows, 0.5), np.zeros(rows), np.full(rows, np.inf))


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[float], list[float], list[list[float]]]:
    """Two to six rows."""
    many = draw(st.integers(2, 6))

    def of(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(values, min_size=many, max_size=many))

    features = draw(st.lists(st.lists(shares, min_size=7, max_size=7), min_size=many, max_size=many))
    return of(shares), of(st.floats(-1, 1)), features


@given(rows())
def test_scores_lie_in_0_to_1_and_the_best_is_as_good_as_the_best_match_in_itself(
    drawn: tuple[list[float], list[float], list[list[float]]],
) -> None:
    found = score(signals(*drawn))
    for values in (found.score, found.own):
        assert np.all((values >= 0) & (values <= 1))
    assert np.all(found.score[found.own == 0] == 0)
    assert found.score.max() in (0, pytest.approx(found.own.max()))


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
    assert after.own[at] >= before.own[at] - 1e-9
    above = before.score <= before.score[at] + 1e-12
    assert np.all(after.score[above] <= after.score[at] + 1e-9)


@pytest.mark.parametrize("name", [name for name in Weights.__slots__ if name != "assistant"])
def test_a_part_shows_what_the_feature_adds_or_takes(name: str) -> None:
    plain = [[0.0] * 7, [0.0] * 7]
    made = signals([0.5, 0.5], [0.5, 0.5], plain)
    if name in ConversationFeatures.__slots__:
        made = replace(made, conversation=replace(made.conversation, **{name: np.array([1.0, 0.0])}))
    found = score(made)
    signed = -getattr(WEIGHTS, name) if name in PENALTIES else getattr(WEIGHTS, name)
    assert found.parts[name][0] == pytest.approx(signed)
    if name in ConversationFeatures.__slots__ and signed:
        assert (found.score[0] > found.score[1]) == (signed > 0)


def test_a_turn_of_an_assistant_stands_below_the_same_said_by_a_person() -> None:
    made = signals([0.5, 0.5], [0.5, 0.5], [[0.0] * 7, [0.0] * 7])
    said = replace(made, conversation=replace(made.conversation, assistant=np.array([True, False])))
    assistant, person = score(said).score.tolist()
    assert assistant == pytest.approx(WEIGHTS.assistant * person)


@pytest.mark.parametrize(("own", "label"), [(0.0, "LOW"), (0.25, "MEDIUM"), (0.5, "HIGH"), (1.0, "HIGH")])
def test_confidence_is_of_the_memory_itself(own: float, label: str) -> None:
    assert confidence(own) == label
