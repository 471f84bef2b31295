"""Rows of segments as vectors of the engine, and filters of a recall in the engine's words.

Owns: keys and attributes of vectors, and which of the reader's masks a filter repeats. Guarantees: attributes are
types, times and hashes, never a word of a memory, and stay below 2 KB whatever the tags (B67); a filter lets in at
least what the masks of `columns` let in, so that nothing is lost to it (P-TENANT is held by those masks, once more).
Gives up: what only other rows know, such as a successor that is not noted yet; the masks take that away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.moments import milliseconds
from lodestore.format import keys
from lodestore.ports.vector_index import AllOf, AnyOf, Condition, Filter, NewVector, Value
from lodestore.retrieval.hashing import NOTHING, hash64
from lodestore.retrieval.segment import NO_EXPIRY, TYPES, Segment
from lodestore.retrieval.segment_search import Mask

ACTIVE, SUPERSEDED = "active", "superseded"


def with_vectors(segment: Segment, live: Mask) -> NDArray[np.intp]:
    """The live rows that have vectors, ascending."""
    having = np.zeros(len(segment), np.bool_)
    having[segment["vector_row"]] = True
    return np.flatnonzero(having & live)


def keys_of(segment: Segment, rows: Iterable[int]) -> Iterator[str]:
    """The keys of all vectors of these rows."""
    counts = np.bincount(segment["vector_row"], minlength=len(segment))
    for row in rows:
        memory_id, revision = segment.text("id", row), segment.revision(row)
        yield from (keys.vector(memory_id, revision, number) for number in range(int(counts[row])))


def vectors_of(segment: Segment, rows: Iterable[int], texts: Mapping[str, str]) -> Iterator[NewVector]:
    """The vectors of these rows, as the segment holds them. `texts`: id to full text, of those that have one there."""
    order = np.argsort(segment["vector_row"], kind="stable")
    bounds = np.searchsorted(segment["vector_row"][order], np.arange(len(segment) + 1))
    for row in rows:
        memory_id, revision = segment.text("id", row), segment.revision(row)
        attributes = _attributes(segment, row)
        for number, at in enumerate(order[bounds[row] : bounds[row + 1]].tolist()):
            vector = segment["vector"][at].astype(np.float32) * segment["vector_scale"][at]
            key = keys.vector(memory_id, revision, number)
            yield NewVector(key, vector, attributes, texts.get(memory_id))


def admitting(caller: Caller, filters: Filters | None, *, now: datetime | None) -> Filter:
    """What the caller may see and, with `filters`, what they let in.

    now   leave out what has expired by then or is noted as superseded; None: leave that to the masks
    """
    scope: Filter = Condition("scope", "eq", "project")
    if caller.conversation is not None:
        own = Condition("conversation", "eq", _hex(hash64(caller.conversation)))
        scope = AnyOf((scope, AllOf((Condition("scope", "eq", "conversation"), own))))
    parts: list[Filter] = [scope]
    if now is not None:
        later = Condition("expires_at", "gt", milliseconds(now))
        parts += [Condition("status", "eq", ACTIVE), AnyOf((Condition("expires_at", "absent"), later))]
    parts += () if filters is None else _filter_parts(filters)
    return AllOf(tuple(parts)) if len(parts) > 1 else scope


def _filter_parts(filters: Filters) -> Iterator[Filter]:
    if filters.types is not None:
        yield Condition("type", "in", tuple(str(kind) for kind in filters.types))
    if filters.category is not None:
        yield Condition("category", "eq", _hex(hash64(filters.category)))
    for tag in filters.tags or ():
        yield Condition("tags", "eq", _hex(hash64(tag)))
    if filters.since is not None:
        yield Condition("created_at", "gte", milliseconds(filters.since))
    if filters.until is not None:
        yield Condition("created_at", "lt", milliseconds(filters.until))


def _attributes(segment: Segment, row: int) -> Mapping[str, Value | tuple[str, ...]]:
    scoped = bool(segment["scoped"][row])
    superseded = len(segment.values("superseded_by", row)) > 0
    found: dict[str, Value | tuple[str, ...]] = {
        "type": str(TYPES[segment["type"][row]]),
        "scope": "conversation" if scoped else "project",
        "status": SUPERSEDED if superseded else ACTIVE,
        "created_at": int(segment["created"][row]),
    }
    if scoped:
        found["conversation"] = _hex(int(segment["conversation"][row]))
    if (category := int(segment["category"][row])) != NOTHING:
        found["category"] = _hex(category)
    if tags := segment.values("tags", row).tolist():
        found["tags"] = tuple(map(_hex, tags))
    if (expires := int(segment["expires"][row])) != NO_EXPIRY:
        found["expires_at"] = expires
    return found


def _hex(number: int) -> str:
    """JSON's numbers do not hold 64 bits."""
    return f"{number:016x}"
