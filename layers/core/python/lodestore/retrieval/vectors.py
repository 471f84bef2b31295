"""Vectors as int8: a quarter of the bytes, the same ranking.

Owns: quantising, and the cosine of one query with many stored vectors. Guarantees: measured on LoCoMo, int8 changes
nDCG by 0.03 points (notes, retrieval, section 4). Gives up: the exact float32 vector; the memory keeps float16.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import simsimd
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]
_LARGEST = 127


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """`values` int8 (vectors, dim); `values * scales[:, None]` is the vector again, to within half a scale."""

    values: Bytes
    scales: Floats


def quantise(vectors: NDArray[np.floating]) -> Quantised:
    """Each row by its own scale: its largest component becomes 127."""
    rows = np.asarray(vectors, np.float32)
    largest = np.abs(rows).max(axis=1, initial=0)
    scales = np.where(largest > 0, largest / _LARGEST, 1).astype(np.float32)
    return Quantised(np.rint(rows / scales[:, None]).astype(np.int8), scales)


def cosines(query: Bytes, stored: Bytes) -> Floats:
    """The cosine of the query (dim,) with each stored vector (vectors, dim), in [-1, 1]. Scales cancel out."""
    if not len(stored):
        return np.zeros(0, np.float32)
    distances = simsimd.cdist(query[None, :], stored, metric="cosine")
    return (1 - np.asarray(distances, np.float32)).reshape(len(stored))
