"""Terms of a text and of a query: one code for both, in any language, without settings.

Owns: how pieces of a text become terms. Modules beside it own the steps: `folding`, `segmentation`,
`words`, `ngrams`, `languages`, `stemming`.

A word is indexed under its folded surface and, unless it is a stop word, under its stem in the text's own
language where that differs.
A query word is looked up under all forms it may have been indexed under (`QueryTerm.forms`), and counts once,
by its best form: so a query too short to tell its language still meets texts of every language, and exact
words win over inflected ones. Against stems alone that costs 20 to 60 % more postings; it gains little on whole
questions (XQuAD hit@1 0.2 to 0.4 points) and much on keywords (one bare Spanish word: 13 to 37).

Guarantees: never raises on any `str`; terms are never empty, and never longer than three times
`words.MAX_TERM_LENGTH`; linear time; NFC and NFD spellings give the same terms; any word of a text finds it.
Gives up: for characters newer than the interpreter's Unicode version see `scripts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from lodestore.retrieval import ngrams, scripts
from lodestore.retrieval.folding import normalize
from lodestore.retrieval.languages import Guess, LanguageGuesses
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.segmentation import Piece, PieceKind, pieces
from lodestore.retrieval.stemming import stem
from lodestore.retrieval.stop_words import stop_words
from lodestore.retrieval.words import Words, words_of

TOKENIZER_VERSION: Final = 1
"""Raised whenever the terms of any text change: what was indexed under another version is tokenised again."""
MIN_GUESSED_STEM_LENGTH: Final = 3
"""Shorter stems in a language that a query is only guessed to be in meet too many unrelated words."""


def index_terms(text: str) -> list[str]:
    """The terms of a text to be found, with repetitions, in the order of the text."""
    parts = _read(text)
    guesses = _guess_languages(parts)
    terms: list[str] = []
    for part in parts:
        terms.extend(_word_terms(part, guesses) if isinstance(part, Words) else ngrams.index_terms(part))
    return terms


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """The distinct terms of a query, in its order, without stop words; with them, where there is nothing else.

    Empty if the text has no letter, number or emoji: such a query matches nothing. A term said twice counts
    once, so that no query can raise a document by repetition, and so that scores of queries compare.
    """
    return terms_and_language(text)[0]


def terms_and_language(text: str) -> tuple[tuple[QueryTerm, ...], str | None]:
    """`query_terms`, and the likeliest language of the Latin words: English where nothing tells, None without any."""
    parts = _read(text)
    guesses = _guess_languages(parts)
    topic: dict[QueryTerm, None] = {}
    function: dict[QueryTerm, None] = {}
    for part in parts:
        for term, is_function_term in _query_terms(part, guesses):
            (function if is_function_term else topic)[term] = None
    scripts_used = {word.script for part in parts if isinstance(part, Words) for word in part.words}
    guess = guesses.of(scripts.LATIN) if scripts.LATIN in scripts_used else None
    return tuple(topic or function), guess.likeliest if guess is not None else None


def _read(text: str) -> list[Words | Piece]:
    """The pieces of a text in order, those of kind WORDS taken apart."""
    return [
        words_of(piece.text) if piece.kind is PieceKind.WORDS else piece for piece in pieces(normalize(text))
    ]


def _guess_languages(parts: Iterable[Words | Piece]) -> LanguageGuesses:
    evidence = (part.evidence for part in parts if isinstance(part, Words))
    return LanguageGuesses(Counter(chain.from_iterable(evidence)))


def _word_terms(part: Words, guesses: LanguageGuesses) -> Iterator[str]:
    yield from part.names
    for word in part.words:
        yield word.surface
        guess = guesses.of(word.script)
        if guess and word.surface not in stop_words(guess.likeliest):
            stemmed = stem(word.text, guess.likeliest)
            if stemmed not in ("", word.surface):
                yield stemmed


def _query_terms(part: Words | Piece, guesses: LanguageGuesses) -> Iterator[tuple[QueryTerm, bool]]:
    """The terms of a part of a query, and whether each is grammar rather than topic."""
    if isinstance(part, Piece):
        for term in ngrams.query_terms(part):
            yield term, ngrams.is_function_term(term)
        return
    for name in part.names:
        yield QueryTerm((name,)), False
    for word in part.words:
        guess = guesses.of(word.script)
        stems = _plausible_stems(word.text, guess) if guess else ()
        is_stop_word = guess is not None and word.surface in stop_words(guess.likeliest)
        yield QueryTerm(tuple(dict.fromkeys((word.surface, *stems)))), is_stop_word


def _plausible_stems(word: str, guess: Guess) -> Iterator[str]:
    for language in guess.plausible:
        stemmed = stem(word, language)
        if len(stemmed) >= (1 if language == guess.likeliest else MIN_GUESSED_STEM_LENGTH):
            yield stemmed
