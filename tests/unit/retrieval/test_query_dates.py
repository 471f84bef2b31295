"""Dates that a query names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.retrieval.query_dates import MOST_SPANS, YEARS_BACK, date_spans, nearness

# A Wednesday.
NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)
DAY = 86_400_000


def _day(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize(
    ("query", "begin", "days"),
    [
        ("what was decided on 2025-12-24?", (2025, 12, 24), 1),
        ("notes of 2024-02", (2024, 2, 1), 29),
        ("What did she do on 7 May 2023?", (2023, 5, 7), 1),
        ("the release of May 7th, 2023", (2023, 5, 7), 1),
        ("in the week of the 3rd of September 2024", (2024, 9, 3), 1),
        ("who joined in June 2022", (2022, 6, 1), 30),
        ("what we planned in Dec. 2022", (2022, 12, 1), 31),
        ("the incident in 2021", (2021, 1, 1), 365),
        ("what broke yesterday", (2026, 3, 10), 1),
        ("what did I say today", (2026, 3, 11), 1),
        ("the meeting last Tuesday", (2026, 3, 10), 1),
        ("the meeting last Wednesday", (2026, 3, 4), 1),
        ("what broke the day before yesterday", (2026, 3, 9), 1),
        ("what broke on Wednesday of last week", (2026, 3, 4), 1),
        ("what broke Monday last week", (2026, 3, 2), 1),
        ("decided last week", (2026, 3, 2), 7),
        ("decided this month", (2026, 3, 1), 31),
        ("decided last month", (2026, 2, 1), 28),
        ("last year's budget", (2025, 1, 1), 365),
        ("what was it three days ago", (2026, 3, 8), 1),
    ],
)
def test_a_named_date_is_its_days(query: str, begin: tuple[int, int, int], days: int) -> None:
    assert date_spans(query, NOW).tolist() == [[_day(*begin), _day(*begin) + days * DAY]]


def test_a_month_without_a_year_is_of_this_year_and_those_before() -> None:
    spans = date_spans("Where did they go in July?", NOW).tolist()
    assert [begin for begin, _ in spans] == [
        _day(year, 7, 1) for year in range(NOW.year - YEARS_BACK, NOW.year + 1)
    ]


@pytest.mark.parametrize(
    "query", ["May I deploy?", "port 8080", "2025-13-45", "31 June 2024", "version 3.11", "", "marching on"]
)
def test_what_is_no_date_is_none(query: str) -> None:
    assert date_spans(query, NOW).tolist() == []


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from("may 31 2023 last of , week ago 5 in".split())).map(" ".join)
)
def test_any_text_gives_few_spans_apart_and_in_order(query: str) -> None:
    flat = date_spans(query, NOW).reshape(-1)
    assert len(flat) <= 2 * MOST_SPANS
    assert np.all(flat[:-1] < flat[1:])


def test_what_was_said_soon_after_a_day_is_near_it_and_what_was_said_before_is_not() -> None:
    spans = date_spans("on 7 May 2023", NOW)
    times = np.array([_day(2023, 5, 6), _day(2023, 5, 7), _day(2023, 5, 10), _day(2023, 5, 20)])
    before, on, after, late = nearness(spans, times, timedelta(7)).tolist()
    assert (before, on, late) == (0, 1, 0)
    assert 0 < after < 1
    assert nearness(date_spans("no date", NOW), times, timedelta(7)).tolist() == [0, 0, 0, 0]
