"""Dates that a query names, as spans of time.

Owns: RFC 3339 dates, days and months by their English names ("7 May 2023", "May 7th", "in June"), years, and what is
said relative to now ("yesterday", "last Tuesday", "Wednesday of last week", "3 weeks ago", "this month"). Guarantees:
pure; linear; never raises on any text; at most MOST_SPANS spans, apart from each other and ascending; days are of UTC.
Gives up: other languages, "May" as a verb at the start of a question, dates such as 7/5/23 that are read in two ways. A
day without a year is taken of this year and the YEARS_BACK before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

Spans = NDArray[np.int64]
MOST_SPANS = 64
YEARS_BACK = 10
NO_SPANS: Spans = np.zeros((0, 2), np.int64)
_MONTHS = ("january february march april may june july august september october november december").split()
_DAYS = ("monday tuesday wednesday thursday friday saturday sunday").split()
_NAMED = {"today": 0, "yesterday": 1, "the day before yesterday": 2}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_MONTH = "(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + r")\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?P<year>(?:19|20)\d\d)-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?\b",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}",
        rf"\b(?:in|during|of|since|last|this|early|late|mid)[\s-]+{_MONTH}",
        rf"\b{_YEAR}",
        r"\b(?P<named>the day before yesterday|today|yesterday)\b",
        rf"\b(?P<weekday>{'|'.join(_DAYS)})\s+(?:of\s+)?last\s+(?P<of_week>week)\b",
        rf"\b(?:last|on|this)\s+(?P<weekday>{'|'.join(_DAYS)})\b",
        r"\b(?P<which>last|this)\s+(?P<unit>week|month|year)\b",
        rf"\b(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?P<ago>days?|weeks?|months?|years?)\s+ago\b",
    )
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Span = tuple[datetime, datetime]


def date_spans(query: str, now: datetime) -> Spans:
    """The spans in milliseconds since 1970, (spans, 2): from, and up to but without."""
    text = query.lower()
    found: set[_Span] = set()
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            # A 31st of June, or a year before the first, is no date.
            with suppress(ValueError, OverflowError):
                found.update(_spans(match.groupdict(), now.astimezone(UTC)))
        text = pattern.sub(" | ", text)
    spans = [(_milliseconds(begin), _milliseconds(end)) for begin, end in sorted(found)[-MOST_SPANS:]]
    return np.array(_apart(spans), np.int64).reshape(-1, 2)


def nearness(spans: Spans, times: NDArray[np.int64], fades: timedelta) -> NDArray[np.float64]:
    """1 for a time in a span; behind its end, when people tell of it, falling to 0 within `fades`; else 0."""
    near = np.zeros(len(times))
    if len(spans):
        at = np.searchsorted(spans[:, 0], times, "right") - 1
        behind = (times - spans[at, 1]) / (fades / timedelta(milliseconds=1))
        near = np.where(at >= 0, 1.0 - np.clip(behind, 0.0, 1.0), 0.0)
    return near


def _spans(said: dict[str, str | None], now: datetime) -> Iterator[_Span]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    day, year = said.get("day"), said.get("year")
    month = said.get("month") or said.get("number")
    if month is not None:
        number = int(month) if month.isdigit() else _numbered(month)
        for one in [int(year)] if year else range(now.year - YEARS_BACK, now.year + 1):
            with suppress(ValueError):
                yield _of_day(one, number, int(day)) if day else _of_month(one, number)
    elif year is not None:
        yield datetime(int(year), 1, 1, tzinfo=UTC), datetime(int(year) + 1, 1, 1, tzinfo=UTC)
    else:
        yield _relative(said, today)


def _relative(said: dict[str, str | None], today: datetime) -> _Span:
    unit, count = said.get("unit"), said.get("count")
    if named := said.get("named"):
        return _days(today - timedelta(_NAMED[named]), 1)
    if said.get("of_week"):
        return _days(today - timedelta(today.weekday() + 7 - _DAYS.index(str(said["weekday"]))), 1)
    if weekday := said.get("weekday"):
        return _days(today - timedelta((today.weekday() - _DAYS.index(weekday) - 1) % 7 + 1), 1)
    if count is not None:
        days = _UNITS[str(said["ago"]).rstrip("s")]
        back = (_NUMBERS[count] if count in _NUMBERS else int(count)) * days
        return _days(today - timedelta(back + days // 4), 1 + 2 * (days // 4))
    last = said.get("which") == "last"
    if unit == "week":
        return _days(today - timedelta(today.weekday() + 7 * last), 7)
    if unit == "month":
        first = today.replace(day=1)
        return _of_month(*((first - timedelta(1)) if last else first).timetuple()[:2])
    begin = today.year - last
    return datetime(begin, 1, 1, tzinfo=UTC), datetime(begin + 1, 1, 1, tzinfo=UTC)


def _numbered(month: str) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(month[:3]))


def _of_day(year: int, month: int, day: int) -> _Span:
    return _days(datetime(year, month, day, tzinfo=UTC), 1)


def _of_month(year: int, month: int) -> _Span:
    begin = datetime(year, month, 1, tzinfo=UTC)
    return begin, (begin + timedelta(31)).replace(day=1)


def _days(begin: datetime, count: int) -> _Span:
    return begin, begin + timedelta(count)


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch each other as one."""
    apart: list[tuple[int, int]] = []
    for begin, end in spans:
        if apart and begin <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((begin, end))
    return apart
