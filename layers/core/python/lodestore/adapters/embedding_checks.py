"""What every embedder does with the vectors it got, wherever they come from.

Owns: the checks of a vector, and the bound of an answer that holds vectors. Guarantees: what passes has the right
shape, is finite, is not zero and has length 1. Gives up: whether the vectors mean anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestore.ports.embedder import EmbeddingFailed, Vectors

# A number in JSON takes up to 25 characters, and Titan sends each twice; a service may send the texts back, escaped.
_BYTES_A_NUMBER = 64
_BYTES_A_BYTE = 8
_BYTES_BESIDE = 65_536


def unit_rows(rows: object, count: int, dim: int) -> Vectors:
    """`rows` as (count, dim), each row divided by its length. Raises EmbeddingFailed."""
    if count == 0:
        return np.zeros((0, dim), dtype=np.float32)
    try:
        found = np.asarray(rows)
    except ValueError:
        raise EmbeddingFailed("the vectors are not all of one length") from None
    if found.shape != (count, dim):
        raise EmbeddingFailed(f"vectors of shape {found.shape} came, not ({count}, {dim})")
    if found.dtype.kind not in "fiu":
        raise EmbeddingFailed("a vector holds something else than numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        wide = found.astype(np.float64)
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not (np.isfinite(wide).all() and np.isfinite(lengths).all()):
        raise EmbeddingFailed("a vector holds NaN or an infinite number")
    if not lengths.all():
        raise EmbeddingFailed("a vector is all zeros")
    return np.asarray(wide / lengths, dtype=np.float32)


def mean_row(rows: Vectors) -> Vectors:
    """One vector for a query of several spans: their mean, shape (dim,), of length 1. Raises EmbeddingFailed."""
    mean: Vectors = unit_rows(rows.mean(axis=0, keepdims=True), 1, rows.shape[1])[0]
    return mean


def most_answer_bytes(texts: Sequence[str], dim: int) -> int:
    """More bytes than an honest answer about `texts` has; what is longer is not read."""
    asked = sum(len(text.encode()) for text in texts)
    return _BYTES_BESIDE + _BYTES_A_NUMBER * dim * len(texts) + _BYTES_A_BYTE * asked
