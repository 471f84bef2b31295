"""A shortened text keeps its budget and never breaks what a reader sees as one character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.text import clean, shorten, shorten_to_characters
from lodestore.domain.text_shortening import ELLIPSIS, WALK_BACK

_FAMILY = "👨‍👩‍👧‍👦"
_CLUSTERS = [
    _FAMILY,
    "👩🏽‍💻",
    "🇩🇪",
    "1️⃣",
    "e\u0323\u0301",
    "क्ष",
    "한",
    "\u1112\u1161\u11ab",
    "ന്‍",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "x",
    "年",
]


def test_a_text_within_the_budget_is_not_touched() -> None:
    assert shorten("Jörg", 5) == ("Jörg", False)
    assert shorten("", 0) == ("", False)


def test_a_cut_text_ends_in_an_ellipsis_and_says_so() -> None:
    assert shorten("The quick brown fox", 12) == ("The quick" + ELLIPSIS, True)
    assert shorten("The quick brown fox", 13) == ("The quick" + ELLIPSIS, True)
    assert shorten("年会年会", 10) == ("年会" + ELLIPSIS, True)


@pytest.mark.parametrize(("budget", "shown"), [(0, ""), (2, ""), (3, ELLIPSIS), (4, "a" + ELLIPSIS)])
def test_a_tiny_budget_is_kept(budget: int, shown: str) -> None:
    assert shorten("abcdef", budget) == (shown, True)


def test_a_negative_or_empty_budget_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="max_bytes must be 0 or more, not -1"):
        shorten("a", -1)
    with pytest.raises(ValueError, match="max_characters must be 1 or more, not 0"):
        shorten_to_characters("a", 0)


@pytest.mark.parametrize("cluster", _CLUSTERS, ids=ascii)
def test_a_cluster_stays_whole_or_goes_whole(cluster: str) -> None:
    text = "ab " + cluster * 3 + " and the rest of the sentence"
    whole = {"ab", "ab " + cluster, "ab " + cluster * 2, "ab " + cluster * 3}
    for budget in range(5, 3 + 3 * len(cluster.encode()) + 3):
        shown, cut = shorten(text, budget)
        assert cut
        assert shown.removesuffix(ELLIPSIS) in whole | {"a"}


def test_a_cluster_without_end_is_cut_rather_than_dropped() -> None:
    stacked = "a" + "\u0301" * 10 * WALK_BACK
    shown, cut = shorten(stacked, 400)
    assert cut
    assert 300 < len(shown.encode()) <= 400


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(_CLUSTERS) | st.text(max_size=3), max_size=12).map("".join), st.integers(0, 80)
)
def test_the_budget_holds_for_any_text(text: str, budget: int) -> None:
    shown, cut = shorten(text, budget)
    assert len(shown.encode()) <= budget
    assert cut == (len(text.encode()) > budget)
    assert text.startswith(shown.removesuffix(ELLIPSIS) if cut else shown)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_CLUSTERS), max_size=12).map("".join), st.integers(1, 40))
def test_a_shortened_clean_text_is_clean_and_within_its_characters(text: str, budget: int) -> None:
    shown, _ = shorten_to_characters(clean(text), budget)
    assert len(shown) <= budget
    assert clean(shown) == shown
