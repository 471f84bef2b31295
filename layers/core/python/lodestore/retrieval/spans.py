"""Cuts a text that is longer than a model's window into spans, each of which gets a vector of its own.

Owns: where the cuts fall. Guarantees: the spans follow each other without a gap from the text's first character on;
each is within the window, in whatever unit its sizes are given (word pieces, bytes); none cuts a word; a cut falls
at a sentence's end where one lies in the window's second half; at most MOST_SPANS, packed closer where the text
would else not fit.
Gives up: what lies behind the last span. Where `spans[-1]` ends before the text does, the rest has no vector; the
keyword index still holds it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

MOST_SPANS = 64
# A window is left before its end for a sentence's sake only once this much of it is used.
_LEAST_USED = 0.5
_RUN = 32

_CLOSING = "\"'`)\\]}\u00bb\u2019\u201d\u300d\u300f\uff09"
_SENTENCE_END = re.compile(
    f"(?:[.!?\u2026][{_CLOSING}]{{0,3}}\\s|[\u3002\uff01\uff1f\u0964\u06d4\u061f\u104b\u17d4][{_CLOSING}]{{0,3}}"
    "|\n)\\s{0,8}\\Z"
)
_LOOK_BACK = 16
# From here on (CJK, kana, hangul, emoji) words are not set apart by blanks, and a cut may fall behind any character.
_WIDE = "\u2e80-\U0010ffff"
_BYTE_UNIT = re.compile(f"\\s{{1,{_RUN}}}|[{_WIDE}]|[^\\s{_WIDE}]{{1,{_RUN}}}")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a text that is never cut: [start, end) in characters, and its size as the model counts."""

    start: int
    end: int
    size: int


def byte_units(text: str) -> list[Unit]:
    """Words and blanks with their sizes in UTF-8 bytes; a longer run is taken apart every 32 characters.

    For models whose own tokenizer isn't here: none of those in use makes more tokens of a text than it has bytes.
    """
    return [Unit(*unit.span(), len(unit[0].encode())) for unit in _BYTE_UNIT.finditer(text)]


def split(text: str, units: Sequence[Unit], window: int, most: int = MOST_SPANS) -> tuple[Span, ...]:
    """Spans of at most `window` each, at most `most` of them, at least one.

    `units` are in order and do not overlap; what lies between two belongs to the first. One that is larger than the
    window is a span by itself.
    """
    totals = [0, *accumulate(unit.size for unit in units)]
    spans: list[Span] = []
    first = begin = 0
    while len(spans) < most:
        last = max(first + 1, bisect_right(totals, totals[first] + window) - 1)
        if last >= len(units):
            return (*spans, (begin, len(text)))
        share = (totals[-1] - totals[first]) / (most - len(spans))
        least = totals[first] + max(window * _LEAST_USED, share)
        first = _best_cut(text, units, totals, last, least)
        spans.append((begin, units[first].start))
        begin = units[first].start
    return tuple(spans)


def _best_cut(text: str, units: Sequence[Unit], totals: Sequence[int], last: int, least: float) -> int:
    """The number of the unit to cut before: the last one behind a sentence's end, if not too early; else `last`."""
    cut = last
    while cut > 0 and totals[cut] >= least:
        at = units[cut].start
        if _SENTENCE_END.search(text, max(0, at - _LOOK_BACK), at):
            return cut
        cut -= 1
    return last
