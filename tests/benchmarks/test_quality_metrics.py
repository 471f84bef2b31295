"""The measures of retrieval quality, on rankings whose value is known by hand."""

from __future__ import annotations

import pytest

from benchmarks.quality.corpus import Asked, Corpus, Item
from benchmarks.quality.metrics import mean, measure
from benchmarks.quality.report import floors, outranked
from benchmarks.quality.served import Answered, by_group


def ranks(*shown: str) -> list[frozenset[str]]:
    """One set of keys a rank; `a+b` shows two at one."""
    return [frozenset(keys.split("+")) for keys in shown]


def test_a_perfect_ranking_measures_one_everywhere() -> None:
    measured = measure(ranks("a"), frozenset("a"))
    assert {getattr(measured, name) for name in type(measured).__dataclass_fields__} == {1.0}


def test_what_is_found_late_counts_less_and_what_is_missing_not_at_all() -> None:
    measured = measure(ranks("x", "a", "y", "z", "w", "v"), frozenset({"a", "b"}))
    assert (measured.recall_1, measured.recall_5, measured.recall_10) == (0.0, 0.5, 0.5)
    assert (measured.hit_1, measured.hit_5) == (0.0, 1.0)
    assert measured.reciprocal_rank == 0.5
    # 1/log2(3) of a best possible 1 + 1/log2(3).
    assert measured.ndcg_10 == pytest.approx(0.6309 / 1.6309, abs=1e-4)


def test_only_the_first_ten_are_looked_at() -> None:
    measured = measure(ranks(*"qwertzuiop", "a"), frozenset("a"))
    assert (measured.recall_10, measured.hit_10, measured.ndcg_10, measured.reciprocal_rank) == (0, 0, 0, 0)


def test_near_duplicates_that_are_shown_together_count_at_their_one_rank() -> None:
    measured = measure(ranks("x", "a+b"), frozenset({"a", "b"}))
    assert (measured.recall_5, measured.reciprocal_rank) == (1.0, 0.5)


def test_the_same_item_shown_twice_gains_once() -> None:
    twice, once = (measure(ranks(*shown), frozenset("a")) for shown in ("aa", "ax"))
    assert twice == once


def test_the_interval_holds_the_mean_and_is_the_same_for_the_same_seed() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    first, again = mean(values, seed=7), mean(values, seed=7)
    assert first == again
    assert 0 <= first.low < first.value == 0.6 < first.high <= 1


def test_a_group_is_shown_where_its_first_item_is() -> None:
    items = tuple(Item(key, key, {}, group=group) for key, group in (("a", "1"), ("b", "1"), ("c", "2")))
    answered = Answered(ranks("b", "a", "c"), None)
    assert by_group(answered, Corpus("s", items, ())).ranks == ranks("1", "2")


def test_the_floors_table_counts_lost_answers_and_false_ones() -> None:
    questions = [
        Asked("kept", frozenset("a"), "fact"),
        Asked("lost", frozenset("b"), "fact"),
        Asked("off", frozenset(), "off-topic"),
        Asked("near", frozenset(), "off-topic"),
    ]
    plain = [Answered(ranks(key), "LOW") for key in "abcd"]
    default = [
        Answered(ranks("a"), "HIGH"),
        Answered([], None),
        Answered([], None),
        Answered(ranks("d"), "HIGH"),
    ]
    assert floors(questions, plain, default) == [
        "answerable questions answered empty by default: 1 of 2 (50.0 %)",
        "off-topic: answered empty 1 of 2 (50.0 %), labelled HIGH 1 of 2 (50.0 %)",
    ]


def test_a_corrected_item_above_its_correction_is_counted() -> None:
    asked = [Asked("office?", frozenset("n"), "correction", frozenset("o"))] * 3
    answered = [Answered(ranks(*shown), None) for shown in ("on", "no", "x")]
    assert outranked(asked, answered) == "superseded above its successor: 1 of 3 (33.3 %)"
    assert outranked([Asked("x", frozenset("a"), "fact")], answered[:1]) is None
