"""Cuts a normalised text into the pieces that become terms.

Owns: what a word is (a run of letters, marks and numbers of scripts that put spaces between words), what
binds words into an identifier, and where runs of Chinese and Japanese, Korean, Thai-like scripts and emoji
begin and end.
Guarantees: one pass of a regular expression without nested ambiguity over the roles of the characters, so the
time is linear; every letter and number of the text lies in exactly one piece (a lone letter apostrophe apart).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lodestore.retrieval import scripts


class PieceKind(Enum):
    """What a piece is, and so how its terms are made."""

    WORDS = "words"
    """A word, or several held together by connectors: an identifier, a path, a version, an address."""
    HAN_KANA = "han_kana"
    HANGUL = "hangul"
    SPACELESS = "spaceless"
    EMOJI = "emoji"


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of a normalised text. Its kind follows from its characters alone, not from where it stood."""

    kind: PieceKind
    text: str


_LETTER: Final = f"[{scripts.ALPHABETS}]"
_START: Final = f"[{scripts.ALPHABETS}{scripts.NUMBER}]"
_REST: Final = f"[{scripts.ALPHABETS}{scripts.NUMBER}{scripts.MARK}{scripts.JOINER}]*"
WORD: Final = f"{_START}{_REST}(?:{scripts.APOSTROPHE}{_LETTER}{_REST})*(?:(?:\\+\\+|#)(?!{_START}))?"
"""A word in roles, apostrophes inside it included, and the sign that ends names like C++ and C#."""

_CONNECTION: Final = r"(?!\.\.|--)[-_./\\:@#+&=?%~$]{1,3}"
_THOUSANDS: Final = f"{scripts.NUMBER}{{1,3}}(?:,{scripts.NUMBER}{{3}})+(?!{_START})"
_DOTTED: Final = f"(?<![^ ])\\.(?={_LETTER})"
_INSIDE_RUN: Final = f"{scripts.MARK}{scripts.JOINER}"
_EMOJI_UNIT: Final = (
    f"{scripts.EMOJI}[{scripts.EMOJI_MODIFIER}{scripts.VARIATION_SELECTOR}]*{scripts.EMOJI_TAG}*"
)

_PIECE: Final = re.compile(
    f"(?P<words>{_THOUSANDS}|(?:{_DOTTED})?{WORD}(?:{_CONNECTION}{WORD})*)"
    f"|(?P<han_kana>{scripts.HAN_KANA}[{scripts.HAN_KANA}{_INSIDE_RUN}]*)"
    f"|(?P<hangul>{scripts.HANGUL}[{scripts.HANGUL}{_INSIDE_RUN}]*)"
    f"|(?P<spaceless>{scripts.SPACELESS}[{scripts.SPACELESS}{_INSIDE_RUN}]*)"
    f"|(?P<emoji>{scripts.REGIONAL_INDICATOR}{{1,2}}|{_EMOJI_UNIT}(?:{scripts.JOINER}{_EMOJI_UNIT})*)"
)
_KINDS: Final = {kind.value: kind for kind in PieceKind}


def pieces(text: str) -> list[Piece]:
    """The pieces of a text that `folding.normalize` returned, in order; repeated ones are the same object."""
    roles = scripts.roles(text)
    distinct: dict[str, Piece] = {}
    found: list[Piece] = []
    for match in _PIECE.finditer(roles):
        start, end = match.span()
        cut = text[start:end]
        if cut not in distinct:
            distinct[cut] = Piece(_KINDS[match.lastgroup or ""], cut)
        found.append(distinct[cut])
    return found
