"""Levels of use: the same however counts are folded, bounded, and fading by themselves."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.use_levels import (
    DAY_MILLISECONDS,
    HALF_LIFE_DAYS,
    NEVER,
    UseLevels,
    height,
    lifted,
)

NOW = 1_773_000_000_000
HALF_LIFE = round(HALF_LIFE_DAYS * DAY_MILLISECONDS)
moments = st.integers(NOW - 400 * DAY_MILLISECONDS, NOW)
counts = st.lists(st.tuples(moments, st.integers(1, 40)), min_size=1, max_size=12)


def level_of(counted: list[tuple[int, int]]) -> int:
    return reduce(lambda level, one: lifted(level, one[0], one[1]), counted, NEVER)


def test_two_counts_are_one_of_a_half_life_later_and_a_count_of_a_half_life_ago_is_worth_half() -> None:
    assert lifted(NEVER, NOW, 1) == NOW
    assert lifted(NEVER, NOW, 2) == NOW + HALF_LIFE
    assert lifted(NOW, NOW, 1) == NOW + HALF_LIFE
    assert lifted(lifted(NEVER, NOW, 1), NOW + HALF_LIFE, 3) == NOW + HALF_LIFE + round(
        HALF_LIFE * 1.807354922
    )
    assert lifted(NOW, NOW, 0) == NOW


@given(counts)
def test_in_whatever_order_and_in_however_many_runs_counts_are_folded_the_level_is_the_same(
    counted: list[tuple[int, int]],
) -> None:
    together = level_of(counted)
    assert level_of(sorted(counted, reverse=True)) == pytest.approx(together, abs=len(counted) + 1)
    one_by_one = [(at, 1) for at, count in counted for _ in range(count)]
    assert level_of(one_by_one) == pytest.approx(together, abs=len(one_by_one) + 1)


@given(st.lists(moments, min_size=1, max_size=40))
def test_a_height_lies_in_0_to_1_and_only_falls_as_time_goes_by(used: list[int]) -> None:
    level = level_of([(at, 1) for at in used])
    heights = [height(level, NOW + days * DAY_MILLISECONDS) for days in range(0, 400, 20)]
    assert all(0.0 <= value <= 1.0 for value in heights)
    assert all(after <= before for before, after in pairwise(heights))
    assert heights[-1] == 0.0 or len(used) > 1


def test_one_count_now_is_six_tenths_sixteen_are_all_there_is_and_none_is_nothing() -> None:
    assert height(NEVER, NOW) == 0.0
    assert height(NOW, NOW) == pytest.approx(0.6)
    assert height(lifted(NEVER, NOW, 16), NOW) == 1.0
    assert height(lifted(NEVER, NOW, 10_000), NOW) == 1.0
    assert height(NOW - 180 * DAY_MILLISECONDS, NOW) == 0.0


def test_the_last_use_is_of_recalls_and_of_what_was_found_useful() -> None:
    levels = UseLevels().lifted(NOW, recalls=0, useful=0, not_useful=2)
    assert (levels.last_used, levels.not_useful) == (NEVER, NOW + HALF_LIFE)
    assert levels.lifted(NOW + 5, recalls=0, useful=1, not_useful=0).last_used == NOW + 5
