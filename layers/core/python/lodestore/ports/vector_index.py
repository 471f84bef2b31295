"""The vector engine port: nearest vectors under a filter, in one index for each tenant and model.

Owns: what is stored and asked, and every outcome as a value, so that a caller must look at all of them. Guarantees
(every adapter, held by `tests/contracts`): a put is seen by the next query; a filter leaves vectors out before the best
are taken; cosines in [-1, 1], best first; within the engine's limits requests are cut to size by the adapter.
Gives up: conditional writes. A late put or delete takes effect whenever it comes, so keys name revisions.

Attributes hold hashes, types and times, never a word of a memory; `text` does, and is None unless full-text search was
turned on. Limits below: Amazon S3 User Guide, "Limitations and restrictions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Value = str | int | bool
Attributes = Mapping[str, Value | tuple[str, ...]]

HITS_MOST = 100
KEYS_ON_A_PAGE = 1_000
TEXT_CHARACTERS = 1_024


@dataclass(frozen=True, slots=True)
class Condition:
    """What an attribute must be; of a list, any element. `absent` and `present` look at no value."""

    name: str
    operator: Literal["eq", "in", "gt", "gte", "lt", "lte", "absent", "present"]
    value: Value | tuple[Value, ...] = True


@dataclass(frozen=True, slots=True)
class AllOf:
    """Each of them; at least one."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of them; at least one."""

    parts: tuple[Filter, ...]


Filter = Condition | AllOf | AnyOf


@dataclass(frozen=True, slots=True, eq=False)
class NewVector:
    """One vector to store. `key`: 1 to 1,024 characters."""

    key: str
    vector: Vector
    attributes: Attributes = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One vector found. `cosine` None: by its text alone, and the engine did not say how near it is."""

    key: str
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Hits:
    """The answer to a query, best first."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class KeyPage:
    """One page of keys; `following` is the token of the next, None on the last."""

    keys: tuple[str, ...]
    following: str | None


@dataclass(frozen=True, slots=True)
class Shape:
    """An index that is there; `text`: it can be searched by text."""

    dim: int
    cosine: bool
    text: bool


@dataclass(frozen=True, slots=True)
class Done:
    """It took effect."""


@dataclass(frozen=True, slots=True)
class NoIndex:
    """There is no index of this name."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The engine will not do this however often it is asked: no permission, another dimension. For the log only."""

    cause: str


@dataclass(frozen=True, slots=True)
class Busy:
    """No answer, throttled, or a quota is full, after bounded retries; writes may have happened. For the log only."""

    cause: str


Failure = NoIndex | Refused | Busy


class VectorIndex(Protocol):
    """The engine's indexes. Thread-safe."""

    def create(self, name: str, dim: int, *, text: bool) -> Done | Refused | Busy:
        """Make an index of cosines where there is none; one that is there stays as it is."""
        ...

    def describe(self, name: str) -> Shape | Failure:
        """What an index is like."""
        ...

    def drop(self, name: str) -> Done | Refused | Busy:
        """Delete an index with all that is in it; none is done too."""
        ...

    def put(self, name: str, vectors: Sequence[NewVector]) -> Done | Failure:
        """Store vectors, any number, in the place of those with their keys. Refused: one has no direction."""
        ...

    def delete(self, name: str, keys: Iterable[str]) -> Done | Failure:
        """Delete vectors, any number; no such key is no failure."""
        ...

    def list(self, name: str, following: str | None = None) -> KeyPage | Failure:
        """One page of all keys, in no promised order."""
        ...

    def query(
        self, name: str, vector: Vector, *, limit: int, admit: Filter | None, text: str | None = None
    ) -> Hits | Failure:
        """The nearest `limit` (1 to 100) that `admit` lets in; with `text`, those too whose text matches best."""
        ...
