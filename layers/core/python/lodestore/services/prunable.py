"""What a policy of pruning admits, read off a view's columns.

Owns: a policy's conditions as masks. Guarantees: the verdict of `Policy.admits` for each memory as the columns show it
(tested against it), without one being read, so that looking costs no request for a memory that stays.
Gives up: exactness beyond 64-bit hashes of tags; what is removed is judged again on the memory itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.counters import KnownUse
from lodestore.domain.filters import Filters
from lodestore.domain.memory import HALF_LIFE_DAYS, MemoryType
from lodestore.domain.moments import milliseconds
from lodestore.domain.pruning import Policy
from lodestore.domain.use_levels import DAY_MILLISECONDS, NEVER, UseLevels, height, levels_of
from lodestore.retrieval.hashing import hash64, hashes64
from lodestore.retrieval.segment import TYPES, Segment
from lodestore.retrieval.segment_search import Mask
from lodestore.services import columns
from lodestore.services.founded import row_of_values
from lodestore.services.index_view import rows_of
from lodestore.services.tenant_view import TenantView, ViewPart

Floats = NDArray[np.float64]
_HALF_LIVES = np.array([HALF_LIFE_DAYS[kind] or np.inf for kind in TYPES])
_INSTRUCTION = TYPES.index(MemoryType.INSTRUCTION)


def prunable(view: TenantView, policy: Policy, known: KnownUse, now: datetime) -> list[str]:
    """The ids of the memories that the policy admits, newest first, the newest of `beyond_newest` left out.

    What a merged memory is made of goes with it and not before; its use is the merged one's. A policy that only
    proposes is asked about what still holds: a proposal about anything else lapses at once.
    """
    named = Filters(types=policy.types or None, tags=policy.tags or None)
    found: list[tuple[int, str]] = []
    asked = columns.but(columns.admitted(view, named), columns.merged_away(view))
    if not policy.forget:
        asked = columns.but(columns.but(asked, columns.superseded(view)), columns.expired(view, now))
    for part, admitted in zip(view.parts, asked, strict=True):
        segment = part.segment
        mask = part.counts & admitted & _stated(segment, policy, now)
        if policy.asks_use:
            mask &= _by_use(part, policy, known, now)
        created = segment["created"]
        found.extend((int(created[row]), segment.text("id", row)) for row in np.flatnonzero(mask).tolist())
    found.sort(reverse=True)
    return [memory_id for _, memory_id in found[int(policy.beyond_newest or 0) :]]


def _stated(segment: Segment, policy: Policy, now: datetime) -> Mask:
    """What the memory alone says."""
    mask: Mask = (segment["stub"] == 0) & (segment["pinned"] == 0) & (segment["type"] != _INSTRUCTION)
    if policy.importance_below is not None:
        mask &= segment["importance"] < np.float32(policy.importance_below)
    for days in (policy.older_than_days, policy.unused_for_days):
        if days is not None:
            mask &= milliseconds(now) - segment["updated"] > days * DAY_MILLISECONDS
    return mask


def _by_use(part: ViewPart, policy: Policy, known: KnownUse, now: datetime) -> Mask:
    segment, moment = part.segment, milliseconds(now)
    last_used = np.zeros(len(segment), np.int64)
    use, feedback = np.zeros(len(segment)), np.zeros(len(segment))
    ids = list(known.levels)
    used = [(row, memory_id) for memory_id, row in rows_of(segment, part.counts, ids, hashes64(ids)).items()]
    for row, levels in _with_members(segment, used, known):
        last_used[row] = levels.last_used
        use[row] = height(levels.recalls, moment)
        feedback[row] = height(levels.useful, moment) - height(levels.not_useful, moment)
    mask = np.ones(len(segment), np.bool_)
    if policy.never_recalled:
        mask &= last_used == NEVER
    if policy.unused_for_days is not None:
        mask &= moment - last_used > policy.unused_for_days * DAY_MILLISECONDS
    if policy.value_below is not None:
        mask &= _values(segment, use, feedback, moment) < policy.value_below
    return mask


def _with_members(
    segment: Segment, used: list[tuple[int, str]], known: KnownUse
) -> Iterator[tuple[int, UseLevels]]:
    """Row to its levels, those of what it was merged from with them."""
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for row, memory_id in used:
        rows[row].append(memory_id)
    if len(segment["members"]):
        names = {hash64(memory_id): memory_id for memory_id in known.levels}
        pairs = zip(row_of_values(segment, "members").tolist(), segment["members"].tolist(), strict=True)
        for row, member in pairs:
            if member in names:
                rows[row].append(names[member])
    return ((row, levels_of(known.levels, ids)) for row, ids in rows.items())


def _values(segment: Segment, use: Floats, feedback: Floats, moment: int) -> Floats:
    """`memory_value` of every row."""
    age = np.maximum(0.0, (moment - segment["updated"]) / DAY_MILLISECONDS)
    recency = np.exp2(-age / _HALF_LIVES[segment["type"]])
    importance = segment["importance"].astype(np.float64)
    values: Floats = importance * (0.5 + 0.5 * use) * recency * (0.5 + 0.5 * feedback)
    return values
