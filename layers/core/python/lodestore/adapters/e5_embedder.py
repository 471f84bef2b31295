"""The embedder of one machine for many languages: multilingual-e5-small on this CPU, without network or key.

Owns: loading the model once, on first use, and running it. Guarantees: nothing is loaded, and no library imported,
before the first text; two runs at most, each on one thread and bounded in memory; safe for any number of callers; no
code of the package that carries the weights is run.
Gives up: speed: about three times the time of all-MiniLM-L6-v2 for a text. numpy's products stay on one thread in the
whole process once the model is loaded.

Source: the model card of intfloat/multilingual-e5-small: "query: " and "passage: " before every text, 512 pieces.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lodestore.adapters.e5_encoder import Encoder
from lodestore.adapters.e5_pieces import Pieces
from lodestore.adapters.e5_weights import Weights
from lodestore.adapters.embedding_checks import mean_row, unit_rows
from lodestore.adapters.length_batches import batches
from lodestore.adapters.model_files import E5, E5_RUNTIMES, check_runtimes, locate, verify
from lodestore.ports.embedder import EmbeddingFailed, Vectors
from lodestore.retrieval.spans import Span, split

DIM = 384
# Of the model's 512 pieces, so that a span is about as sharp as those of the other local model.
WINDOW = 256
# The begin, the end, the prefix ("passage", ":", a blank: at most 4 pieces), and a blank at the text's end.
_TEXT_PIECES = WINDOW - 2 - 4 - 1
_QUERY, _PASSAGE = "query: ", "passage: "
_RUNS = 2
_BATCH_ROWS = 32
_BATCH_PIECES = 2_048


class E5Embedder:
    """multilingual-e5-small with 4-bit weights; 384 numbers a vector."""

    model = f"multilingual-e5-small/q4@{E5.sha256[:8]}"
    dim = DIM

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loading = threading.Lock()
        self._running = threading.BoundedSemaphore(_RUNS)
        self._loaded: tuple[Pieces, Encoder] | None = None
        self._failure: str | None = None

    def reads(self, text: str) -> bool:
        """Whether it has letters at all: the vocabulary was learned on a hundred languages."""
        return any(character.isalpha() for character in text)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Spans of at most 249 pieces each."""
        # No piece is shorter than a byte.
        if len(text.encode()) <= _TEXT_PIECES:
            return ((0, len(text)),)
        try:
            pieces, _ = self._load()
        except EmbeddingFailed:
            # Then no span gets a vector: `passages` says why.
            return ((0, len(text)),)
        return split(text, pieces.units(text), _TEXT_PIECES)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors in the order of `texts`, computed in batches of like length."""
        return self._vectors(texts, _PASSAGE)

    def query(self, text: str) -> Vectors:
        """The mean of its spans where the text is longer than the window."""
        return mean_row(self._vectors([text[start:end] for start, end in self.spans(text)], _QUERY))

    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        if not texts:
            return unit_rows([], 0, DIM)
        pieces, encoder = self._load()
        rows = [pieces.of(prefix + text, WINDOW - 2) for text in texts]
        found = np.empty((len(texts), DIM), np.float32)
        for batch in batches([len(row) for row in rows], _BATCH_ROWS, _BATCH_PIECES):
            with self._running:
                found[batch] = encoder.mean_vectors([rows[row] for row in batch])
        return unit_rows(found, len(texts), DIM)

    def _load(self) -> tuple[Pieces, Encoder]:
        with self._loading:
            if self._failure is not None:
                raise EmbeddingFailed(self._failure)
            if self._loaded is None:
                try:
                    verify(E5, self._path)
                    _one_thread_a_product()
                    weights = Weights(self._path)
                    self._loaded = Pieces(weights.vocabulary), Encoder(weights)
                except EmbeddingFailed as failure:
                    self._failure = str(failure)
                    raise
            return self._loaded


def connect_multilingual() -> E5Embedder:
    """The installed model, not loaded yet. Raises EmbeddingFailed where a part of it is not installed."""
    check_runtimes(E5_RUNTIMES)
    return E5Embedder(locate(E5))


def _one_thread_a_product() -> None:
    # OpenBLAS threads wait in a busy loop: on two busy cores a text of 20 words took 30 times the CPU time.
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")
