"""Which language a text is in, as far as its stop words and scripts tell.

Owns: the languages of each script, the default of each, and how stop words count as evidence.
Guarantees: no setting, no model; the same text gives the same answer on every machine (whole-number weights,
ties by a fixed order).
Gives up: one language for each script of a text: a German quotation in an English note is stemmed as English.
A text without a stop word counts as its script's default; queries make up for that by trying more languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from lodestore.retrieval import scripts
from lodestore.retrieval.stop_words import LATIN_LANGUAGES, OTHER_LANGUAGES, stop_words

# The first language of a script is its default, and ties go to the one named first.
LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {scripts.LATIN: LATIN_LANGUAGES, **OTHER_LANGUAGES}
)

_WORD_OF_ONE_LANGUAGE: Final = 60
"""Weight of a stop word that only one language has; one that k languages share gives each 60 // k."""
STRONG_EVIDENCE: Final = 2 * _WORD_OF_ONE_LANGUAGE
"""From here on a query is in one language; below, it may be in any language of its script.

Measured on XQuAD en, es, de: 1 to 2 words' worth are alike, 0 loses 1 to 2 points on bare keywords.
"""


@dataclass(frozen=True, slots=True)
class Guess:
    """The language of a text's words in one script.

    likeliest   the language with the most evidence
    plausible   the likeliest first, then those that a text to be found may have been taken for
    """

    likeliest: str
    plausible: tuple[str, ...]


class LanguageGuesses:
    """The guess for each script of one text, from its folded words and how often each occurs."""

    def __init__(self, folded_words: Mapping[str, int]) -> None:
        self._weights = _weigh(folded_words)
        self._guesses: dict[str, Guess | None] = {}

    def of(self, script: str) -> Guess | None:
        """The language of the text's words in `script`; None for a script without languages."""
        if script not in self._guesses:
            languages = LANGUAGES.get(script)
            self._guesses[script] = self._choose(languages) if languages else None
        return self._guesses[script]

    def _choose(self, languages: tuple[str, ...]) -> Guess:
        likeliest = max(languages, key=lambda language: self._weights[language])
        others = languages[:1] if self._weights[likeliest] >= STRONG_EVIDENCE else languages
        return Guess(likeliest, tuple(dict.fromkeys((likeliest, *others))))


def _weigh(folded_words: Mapping[str, int]) -> Counter[str]:
    speakers = _languages_by_word()
    weights: Counter[str] = Counter()
    for word, count in folded_words.items():
        languages = speakers.get(word, ())
        for language in languages:
            weights[language] += count * (_WORD_OF_ONE_LANGUAGE // len(languages))
    return weights


@cache
def _languages_by_word() -> Mapping[str, tuple[str, ...]]:
    by_word: dict[str, tuple[str, ...]] = {}
    for languages in LANGUAGES.values():
        for language in languages:
            for word in stop_words(language):
                by_word[word] = (*by_word.get(word, ()), language)
    return MappingProxyType(by_word)
