"""Embedding texts, as a port.

Owns: `Embedder`. Guarantees (every adapter, held by `tests/contracts`): vectors of `dim` finite numbers, not all zero,
of length 1; the same text gives the same vector.
Gives up: nothing is retried here beyond the adapter's own bounds; a service that fails is a value of the caller's plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbeddingFailed(Exception):
    """No vectors came, or not such as the model promises; the text is for the log and holds nothing of the input."""


class Embedder(Protocol):
    """One model. Thread-safe."""

    @property
    def model(self) -> str:
        """The model's name with all that changes its vectors; vectors of two names are never compared."""
        ...

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        ...

    def reads(self, text: str) -> bool:
        """Whether the model knows the text's language well enough for a query's vector to mean something."""
        ...

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """The parts of a text that get a vector each, as [start, end) in characters; at least one, at most 64."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row for each text to be found, shape (len(texts), dim). Raises EmbeddingFailed."""
        ...

    def query(self, text: str) -> Vectors:
        """The vector of a query, shape (dim,). Raises EmbeddingFailed."""
        ...
