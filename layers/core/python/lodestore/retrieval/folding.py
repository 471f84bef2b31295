"""One form for the ways a text can be typed: compatibility, case, accents, digits.

Owns: `normalize` (a whole text) and `fold` (one word).
Guarantees: NFC and NFD spellings of a text give the same result; both functions are linear in the text,
whatever marks it piles up; marks that carry a letter stay: Indic vowel signs, Thai vowels and tones, Japanese
dakuten, Hangul composed, Cyrillic short i and short u.
Gives up: language-bound spellings (`Mueller` is not `Müller`), and the difference between letters that only a
mark parts in Latin, Greek, Cyrillic, Hebrew and Arabic script (`resume`, `résumé`).
Sources: Unicode Standard Annex 15 (normalisation forms, Stream-Safe Text Format).
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

from lodestore.retrieval.scripts import INVISIBLE

MAX_MARKS_IN_A_ROW: Final = 30
"""Combining marks on one letter before a grapheme joiner is put between them (UAX 15, section 13).

Canonical ordering is quadratic in that number: 8,000 marks on one letter cost CPython 0.4 s.
"""

_GRAPHEME_JOINER: Final = "\u034f"
_END_OF_SCRIPTS_WITH_OPTIONAL_MARKS: Final = "\u0780"
_NUKTA: Final = "\u093c"
_BREVE: Final = "\u0306"
_LETTERS_WITH_BREVE: Final = frozenset("иу")
_ZERO_WIDTH_JOINER: Final = "\u200d"
_TATWEEL: Final = "\u0640"
_DOTTED_I: Final = "i\u0307"

# Letters whose stroke, hook or ligature does not decompose; and Persian letters typed as their Arabic twins.
_LOOKALIKES: Final = str.maketrans(
    {
        "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "ŧ": "t", "ŋ": "n", "æ": "ae", "œ": "oe",
        "þ": "th", "ß": "ss", "ی": "ي", "ى": "ي", "ک": "ك", "ہ": "ه", "ە": "ه", "ँ": "ं",
        _ZERO_WIDTH_JOINER: None, _GRAPHEME_JOINER: None, _TATWEEL: None,
    }
)  # fmt: skip


class _VisibleTable(dict[int, int | None]):
    """Every character itself, invisible ones nothing; fills itself, for `translate` is slow on keys it lacks."""

    def __missing__(self, code: int) -> int | None:
        shown = self[code] = None if code in INVISIBLE else code
        return shown


class _StarterTable(dict[int, str]):
    """`M` for combining marks, a blank for starters; fills itself as characters appear."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = "M" if unicodedata.combining(chr(code)) else " "
        return kind


_VISIBLE: Final = _VisibleTable()
_STARTERS: Final = _StarterTable()
_PILE: Final = re.compile(f"M{{{MAX_MARKS_IN_A_ROW}}}(?=M)")


def normalize(text: str) -> str:
    """The NFKC form of `text` without invisible characters; piles of marks are parted first."""
    if text.isascii():
        return text
    text = text.translate(_VISIBLE)
    cuts = [match.end() for match in _PILE.finditer(text.translate(_STARTERS))]
    if cuts:
        bounds = pairwise([0, *cuts, len(text)])
        text = _GRAPHEME_JOINER.join(text[start:end] for start, end in bounds)
    return unicodedata.normalize("NFKC", text)


def casefold(word: str) -> str:
    """`word` without case but with its accents: what stemmers expect. Composed (NFC)."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", folded).replace(_DOTTED_I, "i").replace(_ZERO_WIDTH_JOINER, "")


def fold(word: str) -> str:
    """`word` without case, optional accents, invisible characters and national digit shapes.

    Of a word made of nothing but marks that fold away, nothing is left: callers drop empty results.
    """
    folded = word.casefold()
    if folded.isascii():
        return folded
    kept: list[str] = []
    base = ""
    for character in unicodedata.normalize("NFD", folded.translate(_LOOKALIKES)):
        category = unicodedata.category(character)
        if category[0] != "M":
            base = character
            kept.append(str(unicodedata.decimal(character)) if category == "Nd" else character)
        elif not _is_optional(character, base):
            kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_LOOKALIKES)


def _is_optional(mark: str, base: str) -> bool:
    if mark == _BREVE and base in _LETTERS_WITH_BREVE:
        return False
    return mark == _NUKTA or base < _END_OF_SCRIPTS_WITH_OPTIONAL_MARKS
