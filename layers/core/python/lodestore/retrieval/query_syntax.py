"""The syntax that people try in a query: "quotes", -word, tag:, type:, before:, after:.

Owns: what is taken for syntax, and what is left to search for. Guarantees: pure; linear; no text raises; whatever is
not exactly one of these is plain text, a flag such as `-x` or `--force` and an unknown type included; some text is
left to search for wherever the query has any.
Gives up: AND, OR, brackets, and the order of the words in quotes: a memory has to have them all.

    "a b"     what has all of these words comes first
    -word     nothing that has the word; letters only, three or more
    tag:x     only what has the tag; tag:"two words"
    type:x    only this type
    after:t, before:t     only what was stored at or after, or before, an RFC 3339 time or date
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lodestore.domain.memory import MemoryType
from lodestore.domain.moments import parse_moment

MOST_PARTS: Final = 32
"""Of each kind; what comes behind them is plain text."""

_FIELD: Final = re.compile(r'(?<!\S)(tag|type|before|after):("[^"]+"|[^\s"]+)(?!\S)', re.IGNORECASE)
_EXCLUDED: Final = re.compile(r"(?<!\S)-([^\W\d_]{3,})(?!\S)")
_FLAG: Final = re.compile(r"(?<!\S)--?\w")
_QUOTED: Final = re.compile(r'"([^"]*\w[^"]*)"|“([^“”]*\w[^“”]*)”')


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A query taken apart. `text` is what to search for, the words in quotes included.

    types          None: any
    since, until   of created_at: inclusive, exclusive
    filters        what was read as tag:, type:, before: and after:, as written
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[MemoryType, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    filters: tuple[str, ...] = ()

    @property
    def narrowing(self) -> tuple[str, ...]:
        """All that leaves something out, as written."""
        return (*self.filters, *(f"-{word}" for word in self.excluded))


def take_apart(query: str) -> Said:
    """The query's syntax and the text that is left of it."""
    fields: list[tuple[str, str]] = []
    written: list[str] = []

    def field(match: re.Match[str]) -> str:
        name, value = match[1].lower(), match[2].strip('"')
        if len(fields) >= MOST_PARTS or not _is_known(name, value):
            return match[0]
        fields.append((name, value))
        written.append(match[0])
        return " "

    text = _FIELD.sub(field, query)
    excluded = _EXCLUDED.findall(text)[:MOST_PARTS]
    left = _EXCLUDED.sub(" ", text, count=MOST_PARTS)
    if not _has_words(left) or _FLAG.search(left):
        # Nothing but exclusions, which exclude from nothing; or a command line.
        excluded, left = [], text
    if not _has_words(left):
        left = " ".join(value for _, value in fields) or query
    phrases = ["".join(found) for found in _QUOTED.findall(left)[:MOST_PARTS]]
    types = [MemoryType(value.lower()) for name, value in fields if name == "type"]
    moments = {name: parse_moment(value) for name, value in fields if name in ("after", "before")}
    return Said(
        text=" ".join(left.split()),
        phrases=tuple(dict.fromkeys(phrases)),
        excluded=tuple(dict.fromkeys(excluded)),
        tags=tuple(dict.fromkeys(value for name, value in fields if name == "tag")),
        types=tuple(dict.fromkeys(types)) or None,
        since=moments.get("after"),
        until=moments.get("before"),
        filters=tuple(dict.fromkeys(written)),
    )


def _is_known(name: str, value: str) -> bool:
    if name == "type":
        return value.lower() in tuple(MemoryType)
    if name == "tag":
        return True
    try:
        parse_moment(value)
    except ValueError:
        return False
    return True


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)
