"""A piece of kind WORDS as the names and words that it is found by.

Owns: putting identifiers, contractions and folding together, once for each distinct piece.
Guarantees: no name, surface or word is empty; the work is linear; what is kept between texts is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from lodestore.retrieval import contractions
from lodestore.retrieval.folding import fold
from lodestore.retrieval.identifiers import take_apart
from lodestore.retrieval.scripts import script_of

MAX_TERM_LENGTH: Final = 128
"""Characters that tell a word or identifier from others: the rest is not looked at. A SHA-512 in hex fits."""
PIECES_REMEMBERED: Final = 10_000
"""Pieces kept taken apart between texts, some 5 MB: natural texts share most of theirs."""
REMEMBERED_LENGTH: Final = 24
"""Characters beyond which a piece is taken apart anew each time, so that what is kept stays bounded."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as stemmers take it, its folded surface, and its script (of `scripts`)."""

    text: str
    surface: str
    script: str


@dataclass(frozen=True, slots=True)
class Words:
    """A piece taken apart.

    names      what it is found by as a whole, folded, never stemmed
    words      what it is found by in parts
    evidence   folded words that tell its language, clitics such as French l' included
    """

    names: tuple[str, ...]
    words: tuple[Word, ...]
    evidence: tuple[str, ...]


def words_of(text: str) -> Words:
    """Take apart the text of a piece of kind WORDS."""
    return _remembered(text) if len(text) <= REMEMBERED_LENGTH else _take_apart(text)


def _take_apart(text: str) -> Words:
    identifier = take_apart(text)
    names = (fold(name[:MAX_TERM_LENGTH]) for name in identifier.names)
    split = [contractions.parts(word[:MAX_TERM_LENGTH]) for word in identifier.words]
    words = chain.from_iterable(map(contractions.contained_words, split))
    return Words(
        tuple(filter(None, names)),
        tuple(Word(word, surface, script_of(word[0])) for word in words if (surface := fold(word))),
        tuple(map(fold, chain.from_iterable(split))),
    )


_remembered = lru_cache(maxsize=PIECES_REMEMBERED)(_take_apart)
