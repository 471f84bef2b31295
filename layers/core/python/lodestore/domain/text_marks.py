"""Piles of combining marks: thirty on one letter are enough for any script.

Owns: the cut. Guarantees: linear time; what is cut is in Unicode's Stream-Safe form (UAX 15, section 13: at most 30
non-starters in a row), so that normalising it is linear too; it is quadratic in the height of a pile.
Gives up: the marks above the thirtieth, which no writing system has and no reader could tell apart.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MARKS_ON_A_LETTER: Final = 30


class _MarkTable(dict[int, str]):
    """`M` for combining marks, a blank for all others; fills itself as characters appear."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = "M" if unicodedata.combining(chr(code)) else " "
        return kind


_MARKS: Final = _MarkTable()
_PILE: Final = re.compile(f"M{{{MARKS_ON_A_LETTER}}}(M+)")


def without_piles(text: str) -> str:
    """The text without the marks above the thirtieth on a letter."""
    if text.isascii():
        return text
    kept: list[str] = []
    at = 0
    for pile in _PILE.finditer(text.translate(_MARKS)):
        kept.append(text[at : pile.start(1)])
        at = pile.end(1)
    return "".join((*kept, text[at:]))
