"""Takes identifiers apart: paths, versions, addresses, error codes, camelCase, hashes.

Owns: which names an identifier can be found by besides its words.
Guarantees: the whole identifier is always one of its own names, so it outweighs a near twin that shares only
parts.
Gives up: the leading slash of a path, and substrings that no connector, capital or digit marks off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lodestore.retrieval import scripts
from lodestore.retrieval.segmentation import WORD

HASH_PREFIX_LENGTH: Final = 7
"""Hexadecimal digits that stand for a whole hash, as Git abbreviates commits."""

_WORD: Final = re.compile(WORD)
_SIGNS: Final = "+#"
_SECTION_END: Final = re.compile(r"[/\\:@#?&=]+")
_NUMBERS: Final = re.compile(r"(?:^|(?<=[^\w])|(?<=_)|(?<=\b[vV]))\d+(?:[.-]\d+)+(?=$|[^\w]|_|T)")
_ACRONYM: Final = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_HASH: Final = re.compile(r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}", re.IGNORECASE)
_LETTERS_AND_NUMBER: Final = re.compile(r"([^\W\d_]{2,})(\d+)|(\d+)([^\W\d_]{2,})")
# Before a capital that follows a small letter (getUser) or begins a small word (HTTPServer, iPhone15Pro).
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Identifier:
    """What a piece of words is found by: `names` as they stand, `words` to be folded and stemmed."""

    names: tuple[str, ...]
    words: tuple[str, ...]


def take_apart(text: str) -> Identifier:
    """The names and words of a piece of kind WORDS. Linear in its length."""
    if text.isalpha() and text[1:] == text[1:].lower():
        return Identifier((), (text,))
    if "," in text:
        return Identifier((), (text.replace(",", ""),))
    signed = [text[match.start() : match.end()] for match in _WORD.finditer(scripts.roles(text))]
    words = [word.rstrip(_SIGNS) for word in signed]
    names = [] if text == words[0] else [text]
    if len(words) > 1:
        names.extend(_names_within(text, signed))
    for word in words[:]:
        words.extend(_words_within(word))
        if _HASH.fullmatch(word):
            names.append(word[:HASH_PREFIX_LENGTH])
    return Identifier(tuple(dict.fromkeys(names)), tuple(words))


def _names_within(compound: str, words: list[str]) -> Iterator[str]:
    single = {"", *words}
    yield from (section for section in _SECTION_END.split(compound) if section not in single)
    yield from (word for word in words if word[-1] in _SIGNS)
    yield from _NUMBERS.findall(compound)
    if _ACRONYM.fullmatch(compound):
        yield compound.replace(".", "")


def _words_within(word: str) -> Iterator[str]:
    humps = _HUMP.split(word)
    if len(humps) > 1:
        yield from humps
    if match := _LETTERS_AND_NUMBER.fullmatch(word):
        yield from filter(None, match.groups())
