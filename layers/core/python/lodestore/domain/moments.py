"""Times: UTC, to the millisecond, written with `Z`.

Owns: reading RFC 3339 and writing it. Guarantees: a naive time or a bare date is UTC whatever the machine's zone
(B42); what is written sorts as text. Gives up: finer than a millisecond, and years outside 1 to 9999.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?")


def parse_moment(text: str) -> datetime:
    """The time that `text` names, in UTC, cut to the millisecond. Raises ValueError."""
    text = text.strip()
    if _DATE.fullmatch(text):
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    if not _TIME.fullmatch(text):
        raise ValueError("not an RFC 3339 time")
    moment = datetime.fromisoformat(_cut_fraction(text.upper().replace(",", ".")))
    return to_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def to_utc(moment: datetime) -> datetime:
    """The same moment in UTC, cut to the millisecond. Raises ValueError where UTC has no such year."""
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("outside the years 1 to 9999") from error
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def format_moment(moment: datetime) -> str:
    """`2026-03-09T01:30:00.000Z`. `moment` must be in UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").rjust(20, "0") + f"{moment.microsecond // 1000:03d}Z"


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970."""
    since = moment - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def describe_age(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit: `just now`, `5 minutes`, `3 days`, `2 years`; a future time is `in the future`."""
    seconds = int((now - moment).total_seconds())
    if seconds < 0:
        return "in the future"
    for unit, size in (
        ("year", 31_557_600),
        ("month", 2_629_800),
        ("day", 86_400),
        ("hour", 3_600),
        ("minute", 60),
    ):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "just now"


def _cut_fraction(text: str) -> str:
    # Python 3.11 reads at most six digits of a second's fraction.
    return re.sub(r"(\.\d{6})\d+", r"\1", text)
