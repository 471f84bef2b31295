"""Cleaning: from whatever a client sends to text that shows all it holds.

Owns: what is taken out of a text before it is scanned for secrets, hashed and stored (`interface.md`, "Limits").
Guarantees: linear time; `clean(clean(x)) == clean(x)`; a cleaned text is in the form that ids are made from, holds
no lone surrogate, no control character but line feed and tab, nothing that reorders or hides text.
Gives up: form feeds, vertical tabs and C1 controls go without a space in their place; direction marks, soft hyphens
and invisible operators go everywhere; look-alike letters (Latin a, Cyrillic a) and private-use characters stay.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from lodestore.domain import text_characters as characters
from lodestore.domain.text_marks import without_piles


class LoneSurrogate(ValueError):
    """A text holds half of a surrogate pair, which no encoding of Unicode can carry. `position`: its index."""

    def __init__(self, position: int) -> None:
        super().__init__(f"lone surrogate at character {position}")
        self.position = position


def clean(text: str) -> str:
    """The text in NFC with `\\n` line endings, without what hides or shows nothing, trimmed.

    Removed everywhere: controls but `\\n` and `\\t`, direction marks, overrides and isolates, zero-width spaces, byte
    order marks, word joiners, soft hyphens, other default-ignorable characters, noncharacters. Removed where they
    stand alone: joiners outside emoji sequences and the scripts that need them, variation selectors without a base
    of theirs, tag characters outside a subdivision flag, combining marks above the thirtieth. May return "".
    Raises LoneSurrogate.
    """
    _refuse_lone_surrogates(text)
    # Composed first, so that a singleton such as the Kelvin sign is what it will be when its neighbours are judged.
    composed = unicodedata.normalize("NFC", without_piles(text))
    visible = characters.LINE_ENDING.sub("\n", characters.ALWAYS_REMOVED.sub("", composed))
    if characters.REMOVED_WHERE_ALONE.search(visible) is not None:
        visible = _without_strays(visible)
    return unicodedata.normalize("NFC", without_piles(visible)).strip()


def normalise_for_identity(text: str) -> str:
    """What ids are derived from: NFC, `\\n` line endings, no outer white space (`interface.md`, "Normalised").

    Never case, inner white space, or which characters there are. A cleaned text is already normalised, so for one
    `normalise_for_identity(clean(x)) == clean(x)`; it is for texts that are stored and did not come through `clean`.
    """
    return unicodedata.normalize("NFC", characters.LINE_ENDING.sub("\n", text)).strip()


def byte_length(text: str) -> int:
    """Its length in bytes of UTF-8. Raises LoneSurrogate."""
    _refuse_lone_surrogates(text)
    return len(text.encode())


def _refuse_lone_surrogates(text: str) -> None:
    lone = characters.LONE_SURROGATE.search(text)
    if lone is not None:
        raise LoneSurrogate(lone.start())


@dataclass(slots=True)
class _Kept:
    """What was kept so far. A base is the last letter or symbol; its marks are known only as "a virama or not",
    because normalising may still change their order."""

    pieces: list[str] = field(default_factory=list)
    previous: str = ""
    before: str = ""
    base: str = ""
    has_virama: bool = False

    def add(self, character: str) -> None:
        self.pieces.append(character)
        self.before, self.previous = self.previous, character
        combining = unicodedata.combining(character)
        if combining == characters.VIRAMA_CLASS:
            self.has_virama = True
        elif combining == 0 and characters.REMOVED_WHERE_ALONE.match(character) is None:
            self.base, self.has_virama = character, False


def _without_strays(text: str) -> str:
    kept = _Kept()
    at = 0
    while at < len(text):
        flag = characters.SUBDIVISION_FLAG.match(text, at) if text[at] == characters.BLACK_FLAG else None
        if flag is not None:
            kept.pieces.append(flag[0])
            kept.before, kept.previous, kept.base, kept.has_virama = "", "", "", False
            at = flag.end()
            continue
        character, following = text[at], text[at + 1 : at + 2]
        if characters.REMOVED_WHERE_ALONE.match(character) is None or _belongs(character, kept, following):
            kept.add(character)
        at += 1
    return "".join(kept.pieces)


def _belongs(character: str, kept: _Kept, following: str) -> bool:
    # A neighbour that could itself be removed never justifies a character; else a second cleaning would differ.
    if characters.REMOVED_WHERE_ALONE.match(following) is not None:
        following = ""
    if characters.JOINERS.match(character):
        return _joins_letters(character, kept, following) or _joins_emoji(character, kept, following)
    if characters.SELECTORS.match(character):
        return _selects(character, kept.previous, following)
    if characters.IDEOGRAPH_SELECTORS.match(character):
        return characters.IDEOGRAPHS.match(kept.previous) is not None
    if characters.MONGOLIAN_SELECTORS.match(character):
        return characters.MONGOLIAN_LETTERS.match(kept.previous) is not None
    if character == "\u115f":
        return characters.VOWEL_JAMO.match(following) is not None
    if character == "\u1160":
        return characters.LEADING_JAMO.match(kept.previous) is not None
    return False


def _joins_letters(joiner: str, kept: _Kept, following: str) -> bool:
    if characters.JOINING_SCRIPTS.match(kept.base) is None or characters.JOINERS.match(kept.previous):
        return False
    # A joiner may end a word (Malayalam chillu, Persian abbreviations); a non-joiner does so after a virama only.
    # Which mark follows may change with normalising, so any mark counts as a letter that follows.
    is_followed = following != "" and (
        unicodedata.combining(following) != 0 or characters.JOINING_SCRIPTS.match(following) is not None
    )
    return joiner == characters.ZWJ or kept.has_virama or is_followed


def _joins_emoji(joiner: str, kept: _Kept, following: str) -> bool:
    emoji = kept.before if kept.previous == "\ufe0f" else kept.previous
    return (
        joiner == characters.ZWJ
        and characters.PICTOGRAPHS.match(emoji) is not None
        and characters.PICTOGRAPHS.match(following) is not None
    )


def _selects(selector: str, base: str, following: str) -> bool:
    if characters.EMOJI_SELECTORS.match(selector):
        keycap = base != "" and base in "0123456789#*" and following == characters.KEYCAP
        return keycap or characters.PICTOGRAPHS.match(base) is not None
    return (
        base > "\x7f"
        and not base.isspace()
        and unicodedata.combining(base) == 0
        and characters.REMOVED_WHERE_ALONE.match(base) is None
    )
