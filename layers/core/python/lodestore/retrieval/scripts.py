"""Which script a character belongs to, and what part it plays in a word.

Owns: one letter per character (its `role`) and the ranges behind it. Scripts and emoji go by fixed code-point
ranges, so they do not move with the Unicode version of the interpreter; only "letter, mark, number or
neither" asks `unicodedata`.
Guarantees: every character has a role; the roles of a text are found in one linear pass.
Gives up: characters that an older interpreter does not know yet (Python 3.11 has Unicode 14, 3.13 has 15.1)
count as letters there, so a new script's punctuation may stick to its words on that interpreter. Only scripts
with rules of their own are told apart; all others share `OTHER`.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from typing import Final

LATIN: Final = "L"
GREEK: Final = "G"
CYRILLIC: Final = "Y"
ARMENIAN: Final = "R"
HEBREW: Final = "H"
ARABIC: Final = "A"
DEVANAGARI: Final = "D"
TAMIL: Final = "T"
OTHER: Final = "O"
"""Any other script whose words have spaces between them."""
HAN_KANA: Final = "C"
HANGUL: Final = "K"
SPACELESS: Final = "S"
"""Thai, Lao, Khmer, Burmese and kin: words without spaces, letters with marks."""

NUMBER: Final = "N"
MARK: Final = "M"
EMOJI: Final = "E"
EMOJI_MODIFIER: Final = "P"
REGIONAL_INDICATOR: Final = "F"
EMOJI_TAG: Final = "W"
VARIATION_SELECTOR: Final = "V"
JOINER: Final = "J"
"""Zero-width joiner: glues emoji, and is invisible inside words."""
APOSTROPHE: Final = "'"
CONNECTORS: Final = "-_./\\:@#+&=?%~$,"
"""Characters that may hold the parts of an identifier together; each is its own role."""
BREAK: Final = " "
"""White space and all other punctuation and symbols: stands between words."""

ALPHABETS: Final = LATIN + GREEK + CYRILLIC + ARMENIAN + HEBREW + ARABIC + DEVANAGARI + TAMIL + OTHER
"""Scripts that put spaces between words."""

# First code point of each range, its script; a range ends where the next begins.
_SCRIPT_RANGES: Final = (
    (0x0000, LATIN),
    (0x0370, GREEK),
    (0x0400, CYRILLIC),
    (0x0530, ARMENIAN),
    (0x0590, HEBREW),
    (0x0600, ARABIC),
    (0x0700, OTHER),
    (0x0750, ARABIC),
    (0x0780, OTHER),
    (0x0860, ARABIC),
    (0x0900, DEVANAGARI),
    (0x0980, OTHER),
    (0x0B80, TAMIL),
    (0x0C00, OTHER),
    (0x0E00, SPACELESS),  # Thai, Lao
    (0x0F00, OTHER),
    (0x1000, SPACELESS),  # Burmese
    (0x10A0, OTHER),
    (0x1100, HANGUL),
    (0x1200, OTHER),
    (0x1780, SPACELESS),  # Khmer
    (0x1800, OTHER),
    (0x1950, SPACELESS),  # Tai Le, New Tai Lue
    (0x19E0, SPACELESS),  # Khmer symbols
    (0x1A00, OTHER),
    (0x1A20, SPACELESS),  # Tai Tham
    (0x1AB0, OTHER),
    (0x1B00, SPACELESS),  # Balinese
    (0x1B80, OTHER),
    (0x1C80, CYRILLIC),
    (0x1C90, OTHER),
    (0x1D00, LATIN),
    (0x1F00, GREEK),
    (0x2000, LATIN),
    (0x2C00, OTHER),
    (0x2C60, LATIN),
    (0x2C80, OTHER),
    (0x2DE0, CYRILLIC),
    (0x2E00, OTHER),
    (0x2E80, HAN_KANA),
    (0x3130, HANGUL),
    (0x3190, HAN_KANA),
    (0xA4D0, OTHER),
    (0xA640, CYRILLIC),
    (0xA6A0, OTHER),
    (0xA720, LATIN),
    (0xA800, OTHER),
    (0xA8E0, DEVANAGARI),
    (0xA900, OTHER),
    (0xA960, HANGUL),
    (0xA980, SPACELESS),  # Javanese, Burmese extended
    (0xAA00, OTHER),
    (0xAA60, SPACELESS),  # Burmese extended, Tai Viet
    (0xAAE0, OTHER),
    (0xAB30, LATIN),
    (0xAB70, OTHER),
    (0xAC00, HANGUL),
    (0xD800, OTHER),
    (0xF900, HAN_KANA),
    (0xFB00, LATIN),
    (0xFB13, ARMENIAN),
    (0xFB1D, HEBREW),
    (0xFB50, ARABIC),
    (0xFE00, OTHER),
    (0xFE70, ARABIC),
    (0xFF00, LATIN),
    (0xFF66, HAN_KANA),
    (0xFFA0, HANGUL),
    (0xFFE0, OTHER),
    (0x16FE0, HAN_KANA),  # Tangut, Khitan, kana supplements
    (0x1B300, OTHER),
    (0x20000, HAN_KANA),
    (0x40000, OTHER),
)
_RANGE_STARTS: Final = tuple(start for start, _ in _SCRIPT_RANGES)

INVISIBLE: Final = frozenset(
    {0x00AD, 0x05F3, 0x05F4, 0x061C, 0x180E, 0x200C, 0x200E, 0x200F, 0x2060, 0xFEFF}
    | {*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)}
)
"""Code points that show nothing and part nothing: soft hyphen, non-joiner, bidi marks, variants of a glyph.

Hebrew geresh and gershayim are among them: acronyms are found with and without.
"""

_SPECIAL: Final = (
    dict.fromkeys(map(ord, "'\u2018\u2019\u02bc\u02bb\uff07"), APOSTROPHE)
    | dict.fromkeys(range(0x3005, 0x3008), HAN_KANA)
    | {ord(connector): connector for connector in CONNECTORS}
    | dict.fromkeys((0x2010, 0x2011), "-")
    | {0x200D: JOINER, 0xFE0E: VARIATION_SELECTOR, 0xFE0F: VARIATION_SELECTOR}
    | dict.fromkeys(range(0x1F3FB, 0x1F400), EMOJI_MODIFIER)
    | dict.fromkeys(range(0x1F1E6, 0x1F200), REGIONAL_INDICATOR)
    | dict.fromkeys(range(0xE0020, 0xE0080), EMOJI_TAG)
)
# Pictures, not text symbols: clocks and media keys, weather to dingbats, squares and stars, and the emoji
# planes with room for those to come.
_EMOJI_RANGES: Final = (
    (0x231A, 0x231B),
    (0x23E9, 0x23FA),
    (0x25FB, 0x25FE),
    (0x2600, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B55),
    (0x1F000, 0x1F0FF),
    (0x1F170, 0x1F19A),
    (0x1F300, 0x1F3FA),
    (0x1F400, 0x1FAFF),
)


def script_of(character: str) -> str:
    """The script of a letter: one of the script constants of this module."""
    return _SCRIPT_RANGES[bisect_right(_RANGE_STARTS, ord(character)) - 1][1]


def _role_of(code: int) -> str:
    special = _SPECIAL.get(code)
    if special is not None:
        return special
    if any(first <= code <= last for first, last in _EMOJI_RANGES):
        return EMOJI
    category = unicodedata.category(chr(code))
    if category[0] == "M":
        return MARK
    if category[0] == "N":
        return NUMBER
    if category[0] == "L" or (category == "Cn" and code & 0xFFFE != 0xFFFE):
        return script_of(chr(code))
    return BREAK


class _RoleTable(dict[int, str]):
    """Fills itself as characters appear; at most one entry per code point."""

    def __missing__(self, code: int) -> str:
        role = self[code] = _role_of(code)
        return role


_ROLES: Final = _RoleTable()


def roles(text: str) -> str:
    """The role of every character, as a string of the same length. One linear pass."""
    return text.translate(_ROLES)
