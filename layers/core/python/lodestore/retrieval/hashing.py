"""64-bit hashes of terms, ids, tags and names, as segments hold them.

Owns: the function. Guarantees: the same in every process and version; written down in docs/storage-format.
Gives up: the text behind a hash. What a hash selects is checked against the memory itself before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
NOTHING = 0


def hash64(text: str) -> int:
    """BLAKE2b of the UTF-8 bytes, cut to 8 bytes, little-endian; never 0, which stands for "none" in a column."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def hashes64(texts: Iterable[str]) -> Hashes:
    """`hash64` of each, as an array."""
    return np.fromiter((hash64(text) for text in texts), np.uint64)
