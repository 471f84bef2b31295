"""The language of a statement, where it can be told.

Owns: when a guess counts as knowledge. Guarantees: a text in a script whose words are not parted by blanks, in
several scripts of letters, or without a function word of the language has none. Gives up: statements of names alone.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from lodestore.retrieval.folding import normalize
from lodestore.retrieval.languages import LANGUAGES, LanguageGuesses
from lodestore.retrieval.scripts import script_of
from lodestore.retrieval.segmentation import PieceKind, pieces
from lodestore.retrieval.stop_words import stop_words
from lodestore.retrieval.words import words_of

_UNPARTED = (PieceKind.HAN_KANA, PieceKind.HANGUL, PieceKind.SPACELESS)


def language_of(text: str) -> str | None:
    """The language, by its function words; None where it is not known."""
    found = pieces(normalize(text))
    if any(piece.kind in _UNPARTED for piece in found):
        return None
    evidence = Counter(
        chain.from_iterable(words_of(piece.text).evidence for piece in found if piece.kind is PieceKind.WORDS)
    )
    scripts = {script_of(word[0]) for word in evidence if word[:1].isalpha()}
    # Names of products are Latin in any text; two other scripts are two languages.
    telling = scripts & LANGUAGES.keys() if len(scripts) == 1 else _beside_latin(scripts)
    if len(telling) != 1:
        return None
    guess = LanguageGuesses(evidence).of(telling.pop())
    if guess is None or not stop_words(guess.likeliest).intersection(evidence):
        return None
    return guess.likeliest


def _beside_latin(scripts: set[str]) -> set[str]:
    return {script for script in scripts if script != script_of("a")} & LANGUAGES.keys()
