"""Which merged memories of a view hold: those whose members all still say what was read.

Owns: the rule that makes every step of a merge safe, since every reader applies it: a merged memory of which a member
is forgotten, gone or says something else is not there, and supersedes nothing, so its members show at once. A
forgotten merged memory goes on hiding the members that it was forgotten with, and no other statement of theirs.
One that a person changed since holds while its members stand (`members_stated` is since when), whatever they say.
Guarantees: from columns alone, without a request; a row of an older index has no digest and counts as read.
Gives up: telling apart two ids or two statements whose 64-bit hashes are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.hashing import NOTHING
from lodestore.retrieval.segment import Array, Segment
from lodestore.retrieval.segment_search import Mask

_NONE: Array = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """What the columns say of one segment: which rows count, and which values of `supersedes` hold (None: all)."""

    counts: Mask
    holding: Mask | None


def founded(parts: Sequence[tuple[Segment, Mask]]) -> list[Holding]:
    """The parts of a view with those rows left out that do not hold."""
    if not any(len(segment["members"]) for segment, _ in parts):
        return [Holding(counts, None) for _, counts in parts]
    table = _Statements(parts)
    return [_holding(segment, counts, table) for segment, counts in parts]


def row_of_values(segment: Segment, column: str) -> NDArray[np.int64]:
    """The row of each value of a ragged column."""
    offsets = segment[f"{column}_at"].astype(np.int64)
    return np.repeat(np.arange(len(segment)), offsets[1:] - offsets[:-1])


class _Statements:
    """What every id that is a member of something states now: 0 where a stub or nothing stands there."""

    def __init__(self, parts: Sequence[tuple[Segment, Mask]]) -> None:
        wanted = np.unique(np.concatenate([_NONE, *(segment["members"] for segment, _ in parts)]))
        ids: list[Array] = [_NONE]
        stated: list[Array] = [_NONE]
        created: list[Array] = [_NONE]
        unknown: list[Array] = [np.zeros(0, np.bool_)]
        for segment, counts in parts:
            live = counts & (segment["stub"] == 0) & np.isin(segment["id_hash"], wanted)
            ids.append(segment["id_hash"][live])
            stated.append(segment["stated"][live])
            created.append(segment["created"][live].astype(np.uint64))
            unknown.append(segment["stated"][live] == NOTHING)
        found = np.concatenate(ids)
        order = np.argsort(found, kind="stable")
        self._ids = found[order]
        self._stated = np.concatenate(stated)[order]
        self._created = np.concatenate(created)[order]
        self._unknown = np.concatenate(unknown)[order]

    def compare(self, members: Array, read: Array) -> tuple[Mask, Mask]:
        """Of each member: whether it is there, and whether it says what was read."""
        if not len(self._ids):
            nothing = np.zeros(len(members), np.bool_)
            return nothing, nothing
        at = np.minimum(self._ids.searchsorted(members), len(self._ids) - 1)
        there: Mask = self._ids[at] == members
        as_read: Mask = there & ((self._stated[at] == read) | self._unknown[at] | (self._created[at] == read))
        return there, as_read


def _holding(segment: Segment, counts: Mask, table: _Statements) -> Holding:
    members = segment["members"]
    if not len(members):
        return Holding(counts, None)
    rows = row_of_values(segment, "members")
    there, as_read = table.compare(members, segment["members_stated"])
    counts = counts.copy()
    stub = segment["stub"] != 0
    # Of a memory each member must be as read; a stub only stands in the way.
    lost = rows[~as_read & ~stub[rows]]
    counts[lost] = False
    other = there & ~as_read & stub[rows]
    changed = set(zip(rows[other].tolist(), members[other].tolist(), strict=True))
    if not changed:
        return Holding(counts, None)
    naming = row_of_values(segment, "supersedes").tolist()
    holding = [pair not in changed for pair in zip(naming, segment["supersedes"].tolist(), strict=True)]
    return Holding(counts, np.array(holding, np.bool_))
