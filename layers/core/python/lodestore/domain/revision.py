"""Revisions: ULIDs that order all states of one id.

Owns: the 26-character form and the rule by which the next one is drawn (design, section 2).
Guarantees: a revision is greater than its predecessor's, whatever the clocks say; its random part is new at every
attempt, so no two attempts, bodies or ETags are ever the same.
Gives up: order between ids; only revisions of one id are compared.
"""

from __future__ import annotations

from datetime import datetime

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}
_TIME_LETTERS = 10
REVISION_LENGTH = 26
RANDOM_BYTES = 10
_LARGEST_TIME = (1 << 48) - 1


def next_revision(now: datetime, predecessor: str | None, random: bytes) -> str:
    """A ULID whose time is max(now, the predecessor's + 1 ms). `random` is 10 fresh bytes. Source: ULID spec."""
    milliseconds = _milliseconds(now)
    if predecessor is not None:
        milliseconds = max(milliseconds, revision_time(predecessor) + 1)
    return _encode(milliseconds, _TIME_LETTERS) + _encode(
        int.from_bytes(random, "big"), REVISION_LENGTH - _TIME_LETTERS
    )


def revision_time(revision: str) -> int:
    """The time part in milliseconds since 1970."""
    total = 0
    for letter in revision[:_TIME_LETTERS]:
        total = total * 32 + _VALUES[letter]
    return total


def is_revision(text: str) -> bool:
    """Whether `text` is a revision: 26 Crockford letters with a time that fits 48 bits."""
    return (
        len(text) == REVISION_LENGTH
        and all(letter in _VALUES for letter in text)
        and revision_time(text) <= _LARGEST_TIME
    )


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000 + moment.microsecond // 1000


def _encode(number: int, letters: int) -> str:
    drawn: list[str] = []
    for _ in range(letters):
        number, value = divmod(number, 32)
        drawn.append(ALPHABET[value])
    return "".join(reversed(drawn))
