"""The protocol of one index object per namespace, for comparison.

Owns: `OneIndexObject`, written here from the description that s3-agent-memory's README gives of itself: a JSON object
for each memory; `_index.json` with term frequencies and ranking metadata of all, never text; `_vectors.npz` with
float16 rows.
    remember   compare-and-swap the id into the index, PUT the object If-None-Match, compare-and-swap the vector shard
    recall     GET the index (and the shard), score everything, GET the best objects
    score      0.7 relevance + 0.15 recency + 0.15 importance; relevance is BM25 by its best, or half that, half cosine
Guarantees: the same tokenizer, embedder and store as ours, so that what differs is the protocol.
Gives up: its expiry, tombstones and consolidation, which cost nothing here.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.performance.synthetic import memories, vector_of
from lodestore.domain.memory import HALF_LIFE_DAYS, Memory, MemoryType
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.object_store import Found, ObjectStore, Won
from lodestore.retrieval.bm25 import DEFAULT_PARAMETERS, count_terms, inverse_document_frequency
from lodestore.retrieval.tokenizer import index_terms, query_terms

NAMESPACE = "acme"
_INDEX = f"{NAMESPACE}/_index.json"
_SHARD = f"{NAMESPACE}/_vectors.npz"
_KIND = "semantic"
_HALF_LIFE_DAYS = HALF_LIFE_DAYS[MemoryType.FACT] or math.inf
_TRIES = 8


class OneIndexObject:
    """A namespace. `vectors`: whether there is a vector shard."""

    def __init__(self, store: ObjectStore, clock: Clock, entropy: Entropy, *, vectors: bool) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._vectors = vectors

    def fill(self, folder: Path, count: int) -> None:
        """The index of so many synthetic memories as it would stand, and their objects as files of the store."""
        index: dict[str, Any] = {"schema": 1, "memories": {}}
        place = folder / NAMESPACE / _KIND
        place.mkdir(parents=True)
        rows = []
        for memory in memories(0, count):
            memory_id = self._fresh_id(memory.created_at)
            index["memories"][memory_id] = _entry(memory.content, memory.created_at, memory.importance)
            (place / f"{memory_id}.json").write_bytes(_object(memory_id, memory.content, memory))
            rows.append(vector_of(memory.content))
        self._store.create(_INDEX, _encoded(index))
        if self._vectors:
            self._store.create(_SHARD, _shard(list(index["memories"]), np.stack(rows)))

    def remember(self, content: str) -> str:
        """The new memory's id."""
        now = self._clock.now()
        memory_id = self._fresh_id(now)

        def reserve(body: bytes) -> bytes:
            index: dict[str, Any] = json.loads(body) if body else {"schema": 1, "memories": {}}
            index["memories"][memory_id] = _entry(content, now, 0.5)
            return _encoded(index)

        self._swap(_INDEX, reserve)
        assert isinstance(
            self._store.create(f"{NAMESPACE}/{_KIND}/{memory_id}.json", _object(memory_id, content, None)),
            Won,
        )
        if self._vectors:
            vector = vector_of(content)[None, :]
            self._swap(_SHARD, lambda body: _appended(body, memory_id, vector))
        return memory_id

    def recall(self, query: str, limit: int) -> list[dict[str, Any]]:
        """The best memories' objects, best first."""
        found = self._store.get(_INDEX)
        entries: dict[str, Any] = json.loads(found.body)["memories"] if isinstance(found, Found) else {}
        relevance = _keyword_relevance(query, entries)
        if self._vectors:
            cosines = self._cosines(query)
            relevance = {
                name: 0.5 * share + 0.5 * cosines.get(name, 0.0) for name, share in relevance.items()
            }
        scores = {name: _score(entries[name], share, self._clock.now()) for name, share in relevance.items()}
        best = sorted(scores, key=lambda name: -scores[name])[:limit]
        objects = [self._store.get(f"{NAMESPACE}/{_KIND}/{name}.json") for name in best]
        return [json.loads(answer.body) for answer in objects if isinstance(answer, Found)]

    def _cosines(self, query: str) -> dict[str, float]:
        found = self._store.get(_SHARD)
        assert isinstance(found, Found)
        names, rows = _read_shard(found.body)
        cosines = rows.astype(np.float32) @ vector_of(query)
        return dict(zip(names, cosines.tolist(), strict=True))

    def _swap(self, key: str, change: Callable[[bytes], bytes]) -> None:
        for _ in range(_TRIES):
            found = self._store.get(key)
            if isinstance(found, Found):
                outcome = self._store.replace(key, change(found.body), expected=found.etag)
            else:
                outcome = self._store.create(key, change(b""))
            if isinstance(outcome, Won):
                return
        raise RuntimeError("lost every swap")

    def _fresh_id(self, at: datetime) -> str:
        return f"{round(at.timestamp() * 1000):012x}{self._entropy.token(8).hex()}"


def _entry(content: str, at: datetime, importance: float) -> dict[str, Any]:
    counts = count_terms(index_terms(content))
    return {
        "kind": _KIND,
        "importance": importance,
        "created_at": at.isoformat(),
        "expires_at": None,
        "tags": [],
        "length": counts.length,
        "terms": counts.frequencies,
    }


def _object(memory_id: str, content: str, memory: Memory | None) -> bytes:
    at = memory.created_at.isoformat() if memory is not None else None
    fields = {
        "schema": 1,
        "id": memory_id,
        "namespace": [NAMESPACE],
        "kind": _KIND,
        "content": content,
        "source": None,
        "importance": 0.5 if memory is None else memory.importance,
        "tags": [],
        "created_at": at,
        "updated_at": at,
        "expires_at": None,
        "data": {},
        "metadata": {},
        "version": 1,
    }
    return _encoded(fields)


def _keyword_relevance(query: str, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """BM25 of every entry as a share of the best."""
    forms = [form for term in query_terms(query) for form in term.forms]
    having = {form: sum(form in entry["terms"] for entry in entries.values()) for form in forms}
    idf = {form: inverse_document_frequency(len(entries), having[form]) for form in forms}
    average = sum(entry["length"] for entry in entries.values()) / max(1, len(entries))
    scores = {name: _bm25(forms, entry, idf, average) for name, entry in entries.items()}
    best = max(scores.values(), default=0.0) or 1.0
    return {name: score / best for name, score in scores.items()}


def _bm25(forms: Sequence[str], entry: Mapping[str, Any], idf: Mapping[str, float], average: float) -> float:
    k1, b = DEFAULT_PARAMETERS.k1, DEFAULT_PARAMETERS.b
    terms, norm = entry["terms"], k1 * (1 - b + b * entry["length"] / (average or 1))
    return float(sum(idf[form] * terms[form] / (terms[form] + norm) for form in forms if form in terms))


def _score(entry: Mapping[str, Any], relevance: float, now: datetime) -> float:
    days = (now - datetime.fromisoformat(entry["created_at"])).total_seconds() / 86_400
    return float(0.7 * relevance + 0.15 * 0.5 ** (days / _HALF_LIFE_DAYS) + 0.15 * entry["importance"])


def _encoded(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def _shard(names: Sequence[str], rows: np.ndarray[Any, Any]) -> bytes:
    written = io.BytesIO()
    np.savez(written, ids=np.array(names), rows=rows.astype(np.float16))
    return written.getvalue()


def _read_shard(body: bytes) -> tuple[list[str], np.ndarray[Any, Any]]:
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        names: list[str] = arrays["ids"].tolist()
        return names, arrays["rows"]


def _appended(body: bytes, name: str, vector: np.ndarray[Any, Any]) -> bytes:
    if not body:
        return _shard([name], vector)
    names, rows = _read_shard(body)
    return _shard([*names, name], np.concatenate([rows, vector.astype(np.float16)]))
