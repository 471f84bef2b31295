"""An embedder for tests: vectors of meaning by a little dictionary, and failures on demand."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from lodestore.ports.embedder import EmbeddingFailed, Vectors

MEANINGS = (
    {"office", "work", "desk", "premises"},
    {"nuts", "peanuts", "allergic", "eat"},
    {"deploy", "release", "ship"},
)


class StandInEmbedder:
    """One number a meaning, and one for everything else."""

    def __init__(self, model: str = "stand-in", dim: int = len(MEANINGS) + 1) -> None:
        self.model = model
        self.dim = dim
        self.failing = False
        self.passages_asked = 0

    def reads(self, text: str) -> bool:
        return bool(text)

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        return ((0, len(text)),)

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.passages_asked += 1
        if self.failing:
            raise EmbeddingFailed("no answer")
        return np.stack([self._vector(text) for text in texts])

    def query(self, text: str) -> Vectors:
        if self.failing:
            raise EmbeddingFailed("no answer")
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        words = set(text.lower().replace(".", " ").replace(":", " ").split())
        vector = np.zeros(self.dim, np.float32)
        vector[: len(MEANINGS)] = [len(words & meaning) for meaning in MEANINGS]
        if not vector.any():
            vector[-1] = 1
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit


class WordEmbedder:
    """Every word is a direction of its own, drawn by its letters; a text is the sum of its words."""

    def __init__(self, model: str = "words", dim: int = 32) -> None:
        self.model = model
        self.dim = dim

    def reads(self, text: str) -> bool:
        return bool(text)

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """A part of at most 200 characters gets a vector."""
        return tuple((start, min(start + 200, len(text))) for start in range(0, len(text), 200)) or ((0, 0),)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.query(text) for text in texts])

    def query(self, text: str) -> Vectors:
        words = re.findall(r"\w+", text.lower()) or [""]
        seeds = (zlib.crc32(f"{self.model} {word}".encode()) for word in words)
        total = np.sum([np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds], axis=0)
        unit: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
        return unit
