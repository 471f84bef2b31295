"""Which memories of a tenant may say the same, by the index alone.

Owns: the candidates of consolidation. Guarantees: never all pairs: rows are gathered by the form that two memories have
in common where they can be merged (`retrieval/merge_form`); pinned, superseded and expired memories, and
those that a person set apart by `undo`, are in no group. The groups and their order depend on nothing but the
memories.
Gives up: what the index does not show; the step before this one indexes it.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

import numpy as np

from lodestore.retrieval.hashing import NOTHING
from lodestore.retrieval.segment import Array
from lodestore.services import columns
from lodestore.services.founded import row_of_values
from lodestore.services.tenant_view import TenantView

Group = tuple[str, ...]


def groups_of(view: TenantView, now: datetime) -> list[Group]:
    """Ids that have a form in common, at least two each; by their smallest id."""
    live = columns.but(columns.memories(view), columns.superseded(view))
    live = columns.but(live, columns.expired(view, now))
    apart = _set_apart(view)
    by_form: defaultdict[int, list[str]] = defaultdict(list)
    for part, mask in zip(view.parts, live, strict=True):
        segment = part.segment
        chosen = mask & (segment["pinned"] == 0) & (segment["form"] != NOTHING)
        rows = np.flatnonzero(chosen & ~np.isin(segment["id_hash"], apart))
        for row, form in zip(rows.tolist(), segment["form"][rows].tolist(), strict=True):
            by_form[form].append(segment.text("id", row))
    return sorted(tuple(sorted(ids)) for ids in by_form.values() if len(ids) > 1)


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
