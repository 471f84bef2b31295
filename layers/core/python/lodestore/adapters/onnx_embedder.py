"""The embedder of one machine: a small sentence model on this CPU, without network or key.

Owns: loading the model once, on first use, and running it. Guarantees: nothing is loaded, and no library imported,
before the first text; two threads and two runs at most, a run bounded in memory; safe for any number of callers.
Gives up: languages other than English (words that the vocabulary can't spell all look alike: two Thai sentences have
the same vector), and whatever of one passage lies behind 254 word pieces; `spans` cuts before that.

Source: the model card of all-MiniLM-L6-v2: mean of the token vectors over the attention mask, 256 word pieces.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestore.adapters.embedding_checks import mean_row, unit_rows
from lodestore.adapters.length_batches import batches
from lodestore.adapters.model_files import MODEL, ONNX_RUNTIMES, TOKENIZER, check_runtimes, locate, verify
from lodestore.adapters.onnx_runtime import Session, open_session, open_tokenizer
from lodestore.ports.embedder import EmbeddingFailed, Vectors
from lodestore.retrieval.spans import Span, Unit, split

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIM = 384
WINDOW = 256
_TEXT_PIECES = WINDOW - 2
_RUNS = 2
_END_OF_LATIN = 0x0250
_BATCH_ROWS = 32
_BATCH_PIECES = 2_048


class OnnxEmbedder:
    """all-MiniLM-L6-v2 with int8 weights; 384 numbers a vector."""

    model = f"all-MiniLM-L6-v2/int8@{MODEL.sha256[:8]}+{TOKENIZER.sha256[:8]}"
    dim = DIM

    def __init__(self, model_path: Path, tokenizer_path: Path) -> None:
        self._model_path = model_path
        self._tokenizer_path = tokenizer_path
        self._loading = threading.Lock()
        self._running = threading.BoundedSemaphore(_RUNS)
        self._loaded: tuple[Session, Tokenizer] | None = None
        self._failure: str | None = None

    def reads(self, text: str) -> bool:
        """Whether at least half of the letters are Latin: all other words look alike to this model."""
        letters = [character for character in text if character.isalpha()]
        return 2 * sum(ord(letter) < _END_OF_LATIN for letter in letters) >= len(letters) > 0

    def spans(self, text: str) -> tuple[Span, ...]:
        """Spans of at most 254 word pieces each."""
        # No piece is shorter than a byte.
        if len(text.encode()) <= _TEXT_PIECES:
            return ((0, len(text)),)
        try:
            _, tokenizer = self._load()
        except EmbeddingFailed:
            # Then no span gets a vector: `passages` says why.
            return ((0, len(text)),)
        return split(text, list(_words(text, tokenizer)), _TEXT_PIECES)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors in the order of `texts`, computed in batches of like length."""
        if not texts:
            return unit_rows([], 0, DIM)
        session, tokenizer = self._load()
        pieces = [_pieces(text, tokenizer) for text in texts]
        rows = np.empty((len(texts), DIM), dtype=np.float32)
        for batch in batches([len(row) for row in pieces], _BATCH_ROWS, _BATCH_PIECES):
            rows[batch] = self._mean_vectors(session, [pieces[row] for row in batch])
        return unit_rows(rows, len(texts), DIM)

    def query(self, text: str) -> Vectors:
        """As a passage; the mean of its spans where the text is longer than the window."""
        return mean_row(self.passages([text[start:end] for start, end in self.spans(text)]))

    def _mean_vectors(self, session: Session, pieces: Sequence[Sequence[int]]) -> np.ndarray:
        longest = max(map(len, pieces))
        ids = np.zeros((len(pieces), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(pieces):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        with self._running:
            hidden = session({"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
        sums: np.ndarray = np.einsum("rpd,rp->rd", hidden, mask.astype(np.float32))
        return np.asarray(sums / mask.sum(axis=1, keepdims=True), dtype=np.float32)

    def _load(self) -> tuple[Session, Tokenizer]:
        with self._loading:
            if self._failure is not None:
                raise EmbeddingFailed(self._failure)
            if self._loaded is None:
                try:
                    verify(MODEL, self._model_path)
                    verify(TOKENIZER, self._tokenizer_path)
                    self._loaded = open_session(self._model_path), open_tokenizer(self._tokenizer_path)
                except EmbeddingFailed as failure:
                    self._failure = str(failure)
                    raise
            return self._loaded


def connect_local() -> OnnxEmbedder:
    """The installed model, not loaded yet. Raises EmbeddingFailed where a part of it is not installed."""
    check_runtimes(ONNX_RUNTIMES)
    return OnnxEmbedder(locate(MODEL), locate(TOKENIZER))


def _words(text: str, tokenizer: Tokenizer) -> Iterator[Unit]:
    found = tokenizer.encode(text, add_special_tokens=False)
    for _, pieces in groupby(zip(found.word_ids, found.offsets, strict=True), key=lambda piece: piece[0]):
        offsets = [offset for _, offset in pieces]
        yield Unit(offsets[0][0], offsets[-1][1], len(offsets))


def _pieces(text: str, tokenizer: Tokenizer) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids[:_TEXT_PIECES]
    return [tokenizer.token_to_id("[CLS]"), *found, tokenizer.token_to_id("[SEP]")]
