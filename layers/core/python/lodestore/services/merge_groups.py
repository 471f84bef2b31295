"""Which memories of a tenant may say the same, by the index alone.

Owns: the candidates of consolidation. Guarantees: never all pairs: rows are gathered by the form that two memories have
in common where they can be merged (`retrieval/likeness`); pinned, superseded and expired memories, and
those that a person set apart by `undo`, are in no group. The groups and their order depend on nothing but the
memories.
Gives up: speed where much is pending; the step before this one indexes it.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

import numpy as np

from lodestore.domain.memory import Memory
from lodestore.retrieval.hashing import NOTHING
from lodestore.retrieval.likeness import likeness
from lodestore.retrieval.segment import Array, Segment
from lodestore.services import columns
from lodestore.services.founded import row_of_values
from lodestore.services.tenant_view import TenantView

Group = tuple[str, ...]


def groups_of(view: TenantView, now: datetime) -> list[Group]:
    """Ids that have a form in common, and may be merged unattended."""
    return _gathered(view, now, "form", unattended=True)


def alike(view: TenantView, now: datetime, column: str) -> list[Group]:
    """Ids that have a number of this column in common, for a person to compare: `wording` or `topic`."""
    return _gathered(view, now, column, unattended=False)


def _gathered(view: TenantView, now: datetime, column: str, *, unattended: bool) -> list[Group]:
    """At least two ids each; by their smallest id."""
    live = columns.but(columns.memories(view), columns.superseded(view))
    live = columns.but(live, columns.expired(view, now))
    apart = _set_apart(view)
    by_number: defaultdict[int, list[str]] = defaultdict(list)
    for part, mask in zip(view.parts, live, strict=True):
        segment = part.segment
        numbers = segment[column] if part.name is not None else _of_tail(view, segment, column)
        chosen = mask & (numbers != NOTHING)
        if unattended:
            chosen &= (segment["pinned"] == 0) & ~np.isin(segment["id_hash"], apart)
        rows = np.flatnonzero(chosen)
        for row, number in zip(rows.tolist(), numbers[rows].tolist(), strict=True):
            by_number[number].append(segment.text("id", row))
    return sorted(tuple(sorted(ids)) for ids in by_number.values() if len(ids) > 1)


def _of_tail(view: TenantView, segment: Segment, column: str) -> Array:
    """The numbers of what the index does not show yet, whose rows were made without."""
    numbers = np.zeros(len(segment), np.uint64)
    for row in range(len(segment)):
        record = view.tail[segment.text("id", row)].record
        if isinstance(record, Memory):
            numbers[row] = likeness(record)[column]
    return numbers


def _set_apart(view: TenantView) -> Array:
    """Hashes of the members of what was undone: its stub names them, and supersedes nothing."""
    found: list[Array] = [np.zeros(0, np.uint64)]
    for part in view.parts:
        segment = part.segment
        if not len(segment["members"]):
            continue
        offsets = segment["supersedes_at"]
        undone = part.counts & (segment["stub"] != 0) & (offsets[1:] == offsets[:-1])
        found.append(segment["members"][undone[row_of_values(segment, "members")]])
    return np.unique(np.concatenate(found))
