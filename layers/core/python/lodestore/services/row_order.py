"""Rows of a view in an order, without a step of Python for each.

Owns: choosing and ordering. Guarantees: ascending by the keys, ties by the id, the greatest first; only ids of rows
that tie with those chosen are decoded. Gives up: an order of all; what is asked for is a page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.segment import ROW_COLUMNS, Array
from lodestore.services.columns import Masks, Place, id_of
from lodestore.services.tenant_view import TenantView

Positions = NDArray[np.intp]
# From positions to what is least there first.
Key = Callable[[Positions], Array]


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """Rows of a view, one part after the other: `part` and `row` of each position."""

    view: TenantView
    part: Array
    row: Array

    def __len__(self) -> int:
        return len(self.row)

    def column(self, name: str) -> Array:
        """The values of a column at all positions."""
        cuts = self.part.searchsorted(np.arange(len(self.view.parts) + 1))
        chosen = (
            part.segment[name][self.row[begin:end]]
            for part, begin, end in zip(self.view.parts, cuts[:-1], cuts[1:], strict=True)
        )
        return np.concatenate([np.zeros(0, ROW_COLUMNS[name]), *chosen])

    def place(self, position: int) -> Place:
        """Where the row is."""
        return Place(int(self.part[position]), int(self.row[position]))

    def id(self, position: int) -> str:
        """Its id."""
        return id_of(self.view, self.place(position))

    def first(self, keys: Sequence[Array], most: int, among: Positions | None = None) -> list[int]:
        """The first `most` positions. `keys` have a value for each position, the first key counts first."""
        every = np.arange(len(self)) if among is None else among
        found = least([key.__getitem__ for key in keys], every, most)
        by_id = np.array(sorted(found.tolist(), key=self.id, reverse=True), np.intp)
        # Stable, so that what ties by the keys stays in the order of ids.
        ordered = by_id[np.lexsort([key[by_id] for key in reversed(keys)])]
        chosen: list[int] = ordered[:most].tolist()
        return chosen


def chosen_rows(view: TenantView, masks: Masks) -> ChosenRows:
    """The rows of the masks."""
    rows = [np.flatnonzero(mask) for mask in masks]
    part = np.repeat(np.arange(len(rows)), [len(one) for one in rows])
    return ChosenRows(view, part, np.concatenate([np.zeros(0, np.intp), *rows]))


def least(keys: Sequence[Key], among: Positions, most: int) -> Positions:
    """The `most` that are least by the first key, ties by the next, in no order; all, where there are not more.

    More than `most`, where the last of them tie by every key.
    """
    sure: list[Positions] = []
    tied = among
    for key in keys:
        left = most - sum(map(len, sure))
        if len(tied) <= left:
            break
        values = key(tied)
        last = np.partition(values, left - 1)[left - 1]
        sure.append(tied[values < last])
        tied = tied[values == last]
    return np.concatenate([*sure, tied])
