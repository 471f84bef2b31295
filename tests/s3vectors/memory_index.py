"""A VectorIndex in memory: exact, and failing on demand.

Owns: vectors by index and key. Guarantees: the outcomes of the port; `failing` is the answer of every operation it
names, before anything is done. Gives up: the service's sizes, which the adapter's own tests hold.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lodestore.ports.vector_index import (
    HITS_MOST,
    AllOf,
    AnyOf,
    Attributes,
    Busy,
    Condition,
    Done,
    Failure,
    Filter,
    Hit,
    Hits,
    KeyPage,
    NewVector,
    NoIndex,
    Refused,
    Shape,
    Vector,
)

PAGE = 50


@dataclass(slots=True, eq=False)
class _Index:
    shape: Shape
    vectors: dict[str, NewVector] = field(default_factory=dict)


class MemoryIndex:
    """Indexes of one process. Thread-safe."""

    def __init__(self) -> None:
        self.indexes: dict[str, _Index] = {}
        self.failing: dict[str, Failure] = {}
        self.calls: Counter[str] = Counter()
        self._lock = threading.RLock()

    def create(self, name: str, dim: int, *, text: bool) -> Done | Refused | Busy:
        with self._lock:
            failure = self._begin("create")
            if isinstance(failure, Refused | Busy):
                return failure
            self.indexes.setdefault(name, _Index(Shape(dim, True, text)))
            return Done()

    def describe(self, name: str) -> Shape | Failure:
        with self._lock:
            found = self._index("describe", name)
            return found.shape if isinstance(found, _Index) else found

    def drop(self, name: str) -> Done | Refused | Busy:
        with self._lock:
            failure = self._begin("drop")
            if isinstance(failure, Refused | Busy):
                return failure
            self.indexes.pop(name, None)
            return Done()

    def put(self, name: str, vectors: Sequence[NewVector]) -> Done | Failure:
        with self._lock:
            found = self._index("put", name)
            if not isinstance(found, _Index):
                return found
            for vector in vectors:
                if len(vector.vector) != found.shape.dim or not _has_direction(vector.vector):
                    return Refused("another dimension, or no direction")
            # As float32, whatever came.
            found.vectors |= {v.key: replace(v, vector=np.array(v.vector, np.float32)) for v in vectors}
            return Done()

    def delete(self, name: str, keys: Iterable[str]) -> Done | Failure:
        with self._lock:
            found = self._index("delete", name)
            if not isinstance(found, _Index):
                return found
            for key in keys:
                found.vectors.pop(key, None)
            return Done()

    def list(self, name: str, following: str | None = None) -> KeyPage | Failure:
        with self._lock:
            found = self._index("list", name)
            if not isinstance(found, _Index):
                return found
            keys = sorted(key for key in found.vectors if following is None or key > following)
            return KeyPage(tuple(keys[:PAGE]), keys[PAGE - 1] if len(keys) > PAGE else None)

    def query(
        self, name: str, vector: Vector, *, limit: int, admit: Filter | None, text: str | None = None
    ) -> Hits | Failure:
        if not 1 <= limit <= HITS_MOST:
            raise ValueError(limit)
        with self._lock:
            found = self._index("query", name)
            if not isinstance(found, _Index):
                return found
            if (
                len(vector) != found.shape.dim
                or not _has_direction(vector)
                or (text and not found.shape.text)
            ):
                return Refused("another dimension, no direction, or no text")
            admitted = [v for v in found.vectors.values() if admit is None or admits(admit, v.attributes)]
            scored = [Hit(v.key, _cosine(vector, v.vector)) for v in admitted]
        near = sorted(scored, key=lambda hit: (-(hit.cosine or 0), hit.key))
        if text:
            words = set(text.lower().split())
            saying = {v.key for v in admitted if words & set((v.text or "").lower().split())}
            near.sort(key=lambda hit: hit.key not in saying)
        return Hits(tuple(near[:limit]))

    def _index(self, operation: str, name: str) -> _Index | Failure:
        return self._begin(operation) or self.indexes.get(name) or NoIndex()

    def _begin(self, operation: str) -> Failure | None:
        self.calls[operation] += 1
        return self.failing.get(operation)


def admits(admit: Filter, attributes: Attributes) -> bool:
    """Whether the filter lets these attributes in."""
    if isinstance(admit, AllOf):
        return all(admits(part, attributes) for part in admit.parts)
    if isinstance(admit, AnyOf):
        return any(admits(part, attributes) for part in admit.parts)
    value = attributes.get(admit.name)
    if admit.operator in ("absent", "present"):
        return (value is None) is (admit.operator == "absent")
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    return any(_holds(admit, one) for one in values)


def _holds(condition: Condition, value: object) -> bool:
    wanted = condition.value
    if condition.operator == "eq":
        return value == wanted
    if condition.operator == "in":
        return isinstance(wanted, tuple) and value in wanted
    assert isinstance(value, int)
    assert isinstance(wanted, int)
    compared = {"gt": value > wanted, "gte": value >= wanted, "lt": value < wanted, "lte": value <= wanted}
    return compared[condition.operator]


def _has_direction(vector: Vector) -> bool:
    return bool(np.isfinite(vector).all() and vector.any())


def _cosine(one: Vector, other: Vector) -> float:
    exact = one.astype(np.float64) @ other.astype(np.float64)
    return float(exact / (np.linalg.norm(one) * np.linalg.norm(other)))
