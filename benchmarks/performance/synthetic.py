"""Synthetic memories: 20 words by Zipf's law, and a random unit vector of 384 numbers for each text.

Owns: `memories`, `SyntheticEmbedder`. Guarantees: memory number n is the same in every run and size; texts go through
the real cleaning's form, tokenizer and builders; the 150 most frequent words are English stop words, as in any English
text, so that about half of a text is grammar. A tenth of the memories is another conversation's, one in a hundred is
expired and one in a hundred superseded, so that masks have work to do.
Gives up: meaning. Vectors say nothing of the text, so nothing here measures quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.identity import digest, id_from_content
from lodestore.domain.memory import Embedding, Memory, MemoryType, Scope
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.retrieval.stop_words import stop_words

TENANT = "acme"
WORDS = 20
VOCABULARY = 50_000
DIM = 384
MODEL = f"synthetic-{DIM}"
BEGIN = datetime(2025, 12, 1, tzinfo=UTC)
_GRAMMAR = 150
_BLOCK = 1_000
_KINDS = tuple(MemoryType)
_QUERY_WORDS = 8


class SyntheticEmbedder:
    """An Embedder: the text's hash seeds its vector."""

    model = MODEL
    dim = DIM

    def reads(self, _text: str) -> bool:
        return True

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        return ((0, len(text)),)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector_of(text) for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        return vector_of(text)


def vector_of(text: str) -> NDArray[np.float32]:
    """A random unit vector, float32 (384,), the same for the same text."""
    seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
    drawn = np.random.default_rng(seed).standard_normal(DIM, np.float32)
    return drawn / np.linalg.norm(drawn)


@cache
def vocabulary() -> tuple[str, ...]:
    """Words by rank, the most frequent first."""
    rng = np.random.default_rng(0)
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    words = dict.fromkeys(sorted(stop_words("english"))[:_GRAMMAR])
    while len(words) < VOCABULARY:
        drawn = rng.integers(0, len(syllables), int(rng.integers(2, 5)))
        words["".join(syllables[one] for one in drawn)] = None
    return tuple(words)


def texts(first: int, last: int) -> Iterator[str]:
    """The texts of memories number `first` to `last` (left out)."""
    for block in range(first // _BLOCK, -(-last // _BLOCK)):
        begin = block * _BLOCK
        yield from _block(block)[max(0, first - begin) : last - begin]


def memories(first: int, last: int) -> Iterator[Memory]:
    """Memories number `first` to `last` (left out)."""
    for at, text in enumerate(texts(first, last), first):
        yield _memory(at, text)


def queries(of: int, count: int) -> list[str]:
    """`count` queries: eight words each of one of the first `of` memories, in another order."""
    rng = np.random.default_rng(1)
    picked = rng.integers(0, of, count).tolist()
    said = {at: next(texts(at, at + 1)).split() for at in sorted(set(picked))}
    return [
        " ".join(said[at][word] for word in rng.permutation(WORDS)[:_QUERY_WORDS].tolist()) for at in picked
    ]


def statements(count: int) -> list[str]:
    """`count` texts of equal length that no memory has."""
    return [
        f"Statement {number:04} of the benchmark, unlike all others: {digest(str(number))}"
        for number in range(count)
    ]


@cache
def _ranks() -> NDArray[np.float64]:
    weights = 1 / np.arange(1, VOCABULARY + 1)
    summed: NDArray[np.float64] = np.cumsum(weights / weights.sum())
    return summed


@cache
def _block(number: int) -> tuple[str, ...]:
    drawn = np.random.default_rng([2, number]).random((_BLOCK, WORDS))
    ranks = np.minimum(np.searchsorted(_ranks(), drawn), VOCABULARY - 1).tolist()
    words = vocabulary()
    return tuple(" ".join(words[rank] for rank in row) for row in ranks)


def _memory(at: int, text: str) -> Memory:
    created = BEGIN + timedelta(minutes=at)
    revision = next_revision(created, None, at.to_bytes(RANDOM_BYTES, "big"))
    superseded = next(texts(at - 50, at - 49)) if at % 100 == 50 else None
    vectors = vector_of(text).astype(np.dtype("<f2")).tobytes()
    return Memory(
        id=id_from_content(text, None, 0),
        tenant=TENANT,
        scope=Scope.CONVERSATION if at % 10 == 3 else Scope.PROJECT,
        conversation="another" if at % 10 == 3 else None,
        type=_KINDS[at % len(_KINDS)],
        category=None,
        content=text,
        tags=(),
        importance=at % 11 / 10,
        pinned=False,
        source=None,
        created_at=created,
        updated_at=created,
        valid_from=None,
        expires_at=created + timedelta(minutes=1) if at % 100 == 77 else None,
        supersedes=() if superseded is None else (id_from_content(superseded, None, 0),),
        version=1,
        revision=revision,
        recent=(revision,),
        origin=digest("request", text),
        idempotency=None,
        embedding=Embedding(MODEL, DIM, ((0, len(text)),), vectors),
    )
