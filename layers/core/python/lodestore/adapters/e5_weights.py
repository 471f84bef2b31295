"""Reading the weights of multilingual-e5-small from the one file that packs them.

Owns: the layout of that file, and how its 4-bit blocks become numbers. Guarantees: no place outside the file is ever
read; a file of another layout is an EmbeddingFailed that names what is wrong; the vocabulary's 96 million weights
stay packed and mapped, only the rows of a text's pieces are unpacked.
Gives up: other files; `model_files` has checked the digest before one comes here.

Layout (version 1, little-endian): "E5S1", version; seven sizes, epsilon, block length; the tokenizer (counts, five
special pieces, offsets, scores, text of the pieces, map of characters); a directory of named tensors. A block holds 32
weights: a float16 scale, then 16 bytes whose low halves are weights 0-15 and high halves 16-31, each 8 too high (the
Q4_0 blocks of ggml).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lodestore.ports.embedder import EmbeddingFailed

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

BLOCK = 32
_BLOCK_BYTES = 18
_MAGIC = b"E5S1"
_FLOAT, _PACKED = 0, 1


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the network: numbers in a token's vector, layers, attention heads, numbers inside a layer, positions."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The unigram pieces with their scores (natural logarithms), the special pieces, the map of single characters."""

    pieces: tuple[tuple[str, float], ...]
    begin: int
    end: int
    padding: int
    unknown: int
    characters: Mapping[int, str]


class Weights:
    """The file, mapped into memory. Raises EmbeddingFailed where it has another layout."""

    def __init__(self, path: Path) -> None:
        try:
            self._bytes: Bytes = np.memmap(path, np.uint8, "r")
            self._read(_Cursor(self._bytes))
        except (OSError, ValueError, struct.error, UnicodeDecodeError) as failure:
            raise EmbeddingFailed(
                f"{path.name} can't be read as weights: {type(failure).__name__}"
            ) from failure

    def _read(self, at: _Cursor) -> None:
        if at.take(4) != _MAGIC:
            raise ValueError("another kind of file")
        _version, hidden, layers, heads, inner, words, positions, _kinds = at.unpack("8i")
        epsilon, block = at.unpack("fi")
        if block != BLOCK:
            raise ValueError("another block length")
        self.sizes = Sizes(int(hidden), int(layers), int(heads), int(inner), int(positions), float(epsilon))
        self.vocabulary = _vocabulary(at)
        self._tensors = _directory(at)
        self._words = self._blocks("emb.word", int(words), self.sizes.hidden)

    def floats(self, name: str) -> Floats:
        """A tensor that is stored unpacked, as one row of numbers."""
        start, size = self._place(name, _FLOAT)
        return np.frombuffer(self._bytes[start : start + size].tobytes(), np.float32)

    def matrix(self, name: str, rows: int, columns: int) -> Floats:
        """A packed tensor, unpacked: shape (rows, columns)."""
        return _unpack(self._blocks(name, rows, columns))

    def words(self, pieces: NDArray[np.int64]) -> Floats:
        """The vectors of pieces by their numbers, shape (pieces, hidden)."""
        return _unpack(self._words[pieces])

    def _blocks(self, name: str, rows: int, columns: int) -> Bytes:
        start, size = self._place(name, _PACKED)
        return self._bytes[start : start + size].reshape(rows, columns // BLOCK, _BLOCK_BYTES)

    def _place(self, name: str, kind: int) -> tuple[int, int]:
        found = self._tensors.get(name)
        if found is None or found[0] != kind or found[1] + found[2] > len(self._bytes):
            raise EmbeddingFailed(f"the weights hold no {name} of the kind that is needed")
        return found[1], found[2]


class _Cursor:
    def __init__(self, content: Bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self._content) - self._at:
            raise ValueError("the file ends too early")
        self._at += size
        return self._content[self._at - size : self._at].tobytes()

    def unpack(self, layout: str) -> tuple[int | float, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def whole(self, layout: str) -> int:
        (found,) = self.unpack(layout)
        return int(found)


def _vocabulary(at: _Cursor) -> Vocabulary:
    count, begin, end, padding, unknown = (int(number) for number in at.unpack("5i"))
    length = at.whole("Q")
    offsets = np.frombuffer(at.take(4 * (count + 1)), np.uint32).tolist()
    scores = np.frombuffer(at.take(4 * count), np.float32).tolist()
    text = at.take(length)
    pieces = [text[start:stop].decode() for start, stop in pairwise(offsets)]
    characters = _characters(at)
    return Vocabulary(tuple(zip(pieces, scores, strict=True)), begin, end, padding, unknown, characters)


def _characters(at: _Cursor) -> dict[int, str]:
    count = at.whole("i")
    inside = _Cursor(np.frombuffer(at.take(at.whole("I")), np.uint8))
    found: dict[int, str] = {}
    for _ in range(count):
        character = inside.whole("I")
        length = inside.whole("B")
        found[character] = inside.take(4 * length).decode("utf-32-le")
    return found


def _directory(at: _Cursor) -> dict[str, tuple[int, int, int]]:
    found: dict[str, tuple[int, int, int]] = {}
    for _ in range(at.whole("i")):
        name = at.take(at.whole("H")).decode()
        kind, _count, start, size = (int(number) for number in at.unpack("BIQQ"))
        found[name] = (kind, start, size)
    return found


def _unpack(blocks: Bytes) -> Floats:
    rows, columns, _ = blocks.shape
    scales = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16).astype(np.float32)
    halves = blocks[:, :, 2:]
    numbers = np.empty((rows, columns, BLOCK), np.float32)
    numbers[:, :, : BLOCK // 2] = halves & 15
    numbers[:, :, BLOCK // 2 :] = halves >> 4
    numbers -= 8
    numbers *= scales
    return numbers.reshape(rows, columns * BLOCK)
