"""Stems of words by the Snowball algorithms (snowballstem.org) of PyStemmer.

Owns: which algorithm serves which language.
Guarantees: stems are folded as surface words are; no stemmer is shared, since Snowball's are not safe to share
between threads and take a microsecond to make.
Gives up: stems change with PyStemmer's release: `tokenizer.TOKENIZER_VERSION` is raised with it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import Stemmer

from lodestore.retrieval.folding import casefold, fold

STEMS_REMEMBERED: Final = 20_000
"""Stems kept between texts, some 4 MB: natural texts share most of their words."""

_ALGORITHMS: Final = {
    **{
        language: language
        for language in (
            "english", "spanish", "french", "german", "portuguese", "italian", "dutch", "swedish",
            "norwegian", "danish", "finnish", "romanian", "turkish", "hungarian", "polish", "czech",
            "catalan", "indonesian", "russian", "greek", "armenian", "hindi", "nepali", "tamil", "arabic",
            "persian",
        )
    },
    "ukrainian": "russian",
}  # fmt: skip


@lru_cache(maxsize=STEMS_REMEMBERED)
def stem(word: str, language: str) -> str:
    """The folded stem of `word`; its folded surface where the language has no stemmer."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return fold(word)
    stemmed: str = Stemmer.Stemmer(algorithm).stemWord(casefold(word))
    return fold(stemmed)
