"""Order of revisions, and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.moments import describe_age, format_moment, parse_moment
from lodestore.domain.revision import is_revision, next_revision, revision_time

NOW = datetime(2026, 3, 9, 1, 30, 0, 123000, tzinfo=UTC)
CHANCE = st.binary(min_size=10, max_size=10)


def test_the_time_part_is_that_of_a_ulid() -> None:
    assert (
        next_revision(datetime(2016, 7, 30, 23, 54, 10, 259000, tzinfo=UTC), None, b"\0" * 10)
        == "01ARZ3NDEK" + "0" * 16
    )


@given(one=CHANCE, other=CHANCE, back=st.timedeltas(timedelta(days=-10_000), timedelta(days=10_000)))
def test_a_revision_is_greater_than_its_predecessor_whatever_the_clocks_say(
    one: bytes, other: bytes, back: timedelta
) -> None:
    first = next_revision(NOW, None, one)
    second = next_revision(NOW - back, first, other)
    assert second > first
    assert is_revision(second)
    assert revision_time(second) > revision_time(first)


@pytest.mark.parametrize("text", ["", "0" * 25, "0" * 27, "I" * 26, "8" + "0" * 25, "o" * 26, "0" * 25 + "é"])
def test_what_is_no_ulid_is_no_revision(text: str) -> None:
    assert not is_revision(text)


@pytest.mark.case("B42")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-09", "2026-03-09T00:00:00.000Z"),
        ("2026-03-09T01:30", "2026-03-09T01:30:00.000Z"),
        ("2026-03-09 01:30:00", "2026-03-09T01:30:00.000Z"),
        ("2026-03-09T01:30:00Z", "2026-03-09T01:30:00.000Z"),
        ("2026-03-09t01:30:00z", "2026-03-09T01:30:00.000Z"),
        ("2026-03-09T01:30:00.1239999999Z", None),
        ("2026-03-09T01:30:00.123999999Z", "2026-03-09T01:30:00.123Z"),
        ("2026-03-09T01:30:00.5+02:00", "2026-03-08T23:30:00.500Z"),
        ("2026-03-08T17:30:00-0800", "2026-03-09T01:30:00.000Z"),
        ("0001-01-01T00:00:00+01:00", None),
        ("2026-02-30", None),
        ("2026-03-09T25:00Z", None),
        ("20260309", None),
        ("1773019800", None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_times_are_read_as_utc_or_refused(text: str, shown: str | None) -> None:
    if shown is None:
        with pytest.raises(ValueError, match=r".*"):
            parse_moment(text)
    else:
        assert format_moment(parse_moment(text)) == shown


EARLIEST = datetime.fromisoformat("0002-01-01T00:00:00")


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-8))]), min_value=EARLIEST))
def test_a_written_time_is_read_back_and_sorts_as_text(moment: datetime) -> None:
    written = format_moment(parse_moment(moment.isoformat()))
    assert format_moment(parse_moment(written)) == written
    assert len(written) == 24
    later = format_moment(parse_moment(written) + timedelta(milliseconds=1)) if moment.year < 9999 else "A"
    assert written < later


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "in the future"),
        (0, "just now"),
        (61, "1 minute"),
        (7200, "2 hours"),
        (86_400 * 40, "1 month"),
        (10**9, "31 years"),
    ],
)
def test_an_age_is_said_in_one_unit(seconds: int, shown: str) -> None:
    assert describe_age(NOW, NOW + timedelta(seconds=seconds)) == shown
