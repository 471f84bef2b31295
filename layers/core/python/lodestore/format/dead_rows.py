"""Dead rows of a segment in few bytes.

Owns: their place in the manifest. Guarantees: whichever is shorter of a list of ranges and a compressed bitmap; never
more rows, nor a larger bitmap, than the segment has.
Gives up: anything between the two forms.

    [first, count, first, count, ...]      runs of consecutive rows, ascending
    "eJxj..."                              base64 of zlib of a bitmap: row r is bit r % 8 of byte r // 8
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from itertools import pairwise

# Below this no bitmap is shorter than the ranges.
_FEW = 4


def encode_dead(rows: Sequence[int]) -> list[int] | str:
    """Rows in ascending order, as what JSON holds."""
    ranges = _ranges(rows)
    if len(rows) < _FEW:
        return ranges
    bitmap = bytearray(rows[-1] // 8 + 1)
    for row in rows:
        bitmap[row // 8] |= 1 << row % 8
    text = base64.b64encode(zlib.compress(bytes(bitmap), 9)).decode()
    return text if len(text) + 2 < _shown_bytes(ranges) else ranges


def decode_dead(encoded: object, rows: int) -> tuple[int, ...]:
    """The dead ones among `rows` rows. Raises ValueError."""
    if isinstance(encoded, str):
        return _from_bitmap(encoded, rows)
    if not isinstance(encoded, list) or len(encoded) % 2:
        raise ValueError("dead")
    return _from_ranges(encoded, rows)


def dead_bytes(rows: Sequence[int]) -> int:
    """Bytes that dead rows take in the manifest."""
    return _shown_bytes(encode_dead(rows))


def _shown_bytes(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def _ranges(rows: Sequence[int]) -> list[int]:
    if not rows:
        return []
    breaks = [at for at, (row, after) in enumerate(pairwise(rows), start=1) if after != row + 1]
    edges = [0, *breaks, len(rows)]
    return [value for start, end in pairwise(edges) for value in (rows[start], end - start)]


def _from_ranges(ranges: Sequence[object], rows: int) -> tuple[int, ...]:
    dead: list[int] = []
    for first, count in zip(ranges[::2], ranges[1::2], strict=True):
        if type(first) is not int or type(count) is not int:
            raise ValueError("dead")
        if not 0 <= first < rows or not 0 < count <= rows - first or (dead and first <= dead[-1]):
            raise ValueError("dead")
        dead.extend(range(first, first + count))
    return tuple(dead)


def _from_bitmap(text: str, rows: int) -> tuple[int, ...]:
    most = (rows + 7) // 8
    unpacking = zlib.decompressobj()
    try:
        bitmap = unpacking.decompress(base64.b64decode(text, validate=True), most + 1)
    except zlib.error as error:
        raise ValueError("dead") from error
    if not unpacking.eof or len(bitmap) > most:
        raise ValueError("dead")
    dead = tuple(
        8 * at + bit for at, byte in enumerate(bitmap) if byte for bit in range(8) if byte >> bit & 1
    )
    if dead and dead[-1] >= rows:
        raise ValueError("dead")
    return dead
