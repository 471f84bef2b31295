"""The search for weights: measured as the reports measure, and learned from what helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality.feature_tables import Table
from benchmarks.quality.learn_ranking import learn, left_out, measured
from benchmarks.quality.metrics import measure

NAMES = ("keywords", "window", "named", "short")
QUESTIONS, ITEMS = 40, 30


def made(seed: int) -> Table:
    """Gold items of which keywords say a little, the window much, a name nothing; most of them are not short."""
    rng = np.random.default_rng(seed)
    gold = rng.random((QUESTIONS, ITEMS)) < 0.1
    gold[:, 0] = True
    keywords, window, named, short = rng.random((4, QUESTIONS, ITEMS))
    values = np.stack([keywords + 0.1 * gold, 0.5 * window + 0.5 * gold, named, short * ~gold], axis=1)
    matching = rng.random((QUESTIONS, ITEMS)) < 0.95
    return Table(NAMES, values.astype(np.float32), matching, gold, gold.sum(axis=1))


def test_figures_are_those_of_the_reports() -> None:
    given = made(1)
    chosen = {"keywords": 1.0, "window": 0.5, "named": 0.2, "short": 0.3}
    totals = np.einsum("qfi,f->qi", given.values, np.array([1.0, 0.5, 0.2, -0.3], np.float32))
    for question, found in enumerate(measured(chosen, given)):
        order = [item for item in np.argsort(-totals[question]) if given.matching[question, item]]
        gold = frozenset(str(item) for item in np.flatnonzero(given.gold[question]))
        told = measure([frozenset({str(item)}) for item in order], gold)
        expected = (told.recall_10, told.hit_10, told.ndcg_10, told.reciprocal_rank, told.hit_1)
        assert found == pytest.approx(expected)


def test_what_helps_is_learned_and_holds_on_what_was_left_out() -> None:
    tables = [made(seed) for seed in range(4)]
    chosen = learn(tables, [1.0] * 4)
    assert chosen["keywords"] == 1
    assert chosen["window"] > chosen["named"]
    assert chosen["short"] > 0
    words_alone = dict.fromkeys(NAMES, 0.0) | {"keywords": 1.0}
    for given, left in zip(tables, left_out([[(one, 1.0)] for one in tables]), strict=True):
        assert left.figures[0][:, 2].mean() > measured(words_alone, given)[:, 2].mean()
    assert learn(tables, [1.0] * 4) == chosen


def test_what_counts_for_more_is_learned_more_from() -> None:
    helps, does_not = made(1), made(2)
    does_not = replace(does_not, gold=np.roll(does_not.gold, 7, axis=1))
    weighed = [learn([helps, does_not], worths)["window"] for worths in ([9.0, 1.0], [1.0, 9.0])]
    assert weighed[0] > weighed[1]
