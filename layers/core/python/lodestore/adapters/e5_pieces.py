"""The tokenizer of multilingual-e5-small: from a text to the numbers of its pieces.

Owns: the normalisation and the special pieces. Guarantees: no text can spell a special piece; pieces never cross a
blank, so a text has as many as its words have.
Gives up: composing marks by the model's own table: NFKC first, then the table's single characters, which agree on
everything but rare sequences.

Source: XLM-RoBERTa's SentencePiece unigram model (nmt_nfkc), its blanks as the first character of a word's piece.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from lodestore.adapters.e5_weights import Vocabulary
from lodestore.ports.embedder import EmbeddingFailed
from lodestore.retrieval.spans import Unit, byte_units

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_BLANKS = re.compile(" {2,}")


class Pieces:
    """Texts as numbers of pieces. Thread-safe. Raises EmbeddingFailed where the library does not take the pieces."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # The special pieces are spelt with NUL in `_tokenizer`: so none is left in a text.
        self._characters = {**vocabulary.characters, 0: ""}
        self._tokenizer = _tokenizer(vocabulary)

    def of(self, text: str, most: int) -> list[int]:
        """At most `most` pieces between the pieces for the begin and the end."""
        return [self._vocabulary.begin, *self._plain(text)[:most], self._vocabulary.end]

    def units(self, text: str) -> list[Unit]:
        """The words of a text with how many pieces each has; a blank belongs to the word behind it."""
        found = []
        blank = True
        for unit in byte_units(text):
            part = text[unit.start : unit.end]
            size = 0 if part.isspace() else len(self._numbers(" " * blank + self._normal(part)))
            found.append(Unit(unit.start, unit.end, size))
            blank = part.isspace()
        return found

    def _plain(self, text: str) -> list[int]:
        normal = self._normal(text)
        return self._numbers(normal if normal.startswith(" ") else " " + normal)

    def _normal(self, text: str) -> str:
        return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).translate(self._characters))

    def _numbers(self, normal: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(normal, add_special_tokens=False).ids
        return found


def _tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers

        pieces = list(vocabulary.pieces)
        special = {vocabulary.begin, vocabulary.end, vocabulary.padding, vocabulary.unknown, len(pieces) - 1}
        for number in special:
            pieces[number] = (f"\0{number}", -1e4)
        made = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unknown, byte_fallback=False))
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    except Exception as failure:
        # tokenizers raises bare exceptions.
        raise EmbeddingFailed(f"the tokenizer does not load: {type(failure).__name__}") from failure
    return made
