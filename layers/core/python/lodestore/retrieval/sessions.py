"""Sessions: which rows were said one after the other.

Owns: what a session is (the conversation a memory was written in, else its source) and the order in it: since when it
holds, when it was stored, then the hash of its id. Guarantees: the order is that of one segment that holds all rows,
however the corpus is cut; `of_counted` knows nothing of rows that do not count (P-TENANT).
Gives up: sessions without a name; a row with neither conversation nor source stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.hashing import NOTHING, Hashes
from lodestore.retrieval.segment import NO_TIME, Array, Segment
from lodestore.retrieval.segment_search import Floats, Mask

Positions = NDArray[np.intp]
_KEYS = 4
_SIGN = np.uint64(1 << 63)


@dataclass(frozen=True, slots=True, eq=False)
class SessionOrder:
    """Rows of several segments, session after session.

    positions   of the rows among all rows, one segment after the other
    keys        what they are ordered by: bytes of session, time, creation and id, ascending
    """

    positions: Positions
    keys: Array

    def with_rows(self, segment: Segment, start: int) -> SessionOrder:
        """These rows and those of one more segment, whose first row is at `start`. Linear, but for the new rows."""
        keys = _sort_keys(segment)
        added = np.argsort(keys, kind="stable")
        at = np.searchsorted(self.keys, keys[added], "right")
        return SessionOrder(
            np.insert(self.positions, at, added + start), np.insert(self.keys, at, keys[added])
        )

    def of_counted(self, counted: Mask) -> Sessions:
        """The sessions of the rows that count; `counted` has a value for every row."""
        kept = counted[self.positions]
        sessions = self.keys[kept].view(">u8").reshape(-1, _KEYS)[:, 0].astype(np.uint64)
        return Sessions(self.positions[kept], sessions, len(counted))


@dataclass(frozen=True, slots=True, eq=False)
class Sessions:
    """Counted rows, session after session, each in its order.

    positions   of the rows among all `rows` rows
    session     of each; 0: none
    """

    positions: Positions
    session: Hashes
    rows: int

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def places(self) -> Positions:
        """For each of all rows its place in this order; -1 where it does not count."""
        places = np.full(self.rows, -1, np.intp)
        places[self.positions] = np.arange(len(self.positions))
        return places

    def linked(self, distance: int) -> Mask:
        """For each place but the last `distance`: whether the row that far behind it is of the same session."""
        first, second = self.session[:-distance], self.session[distance:]
        mask: Mask = (first == second) & (first != NOTHING)
        return mask

    def neighbours(self, values: Floats) -> Floats:
        """The mean of the values before and behind each place; what isn't there is 0."""
        mean = np.zeros(len(values))
        linked = self.linked(1)
        mean[1:] += np.where(linked, values[:-1], 0.0)
        mean[:-1] += np.where(linked, values[1:], 0.0)
        return mean / 2

    def best(self, values: Floats) -> Floats:
        """The highest value of each row's session; its own, where it has none."""
        if not len(values):
            return values
        starts, sizes = self._bounds()
        return np.repeat(np.maximum.reduceat(values, starts), sizes)

    def means(self, columns: Sequence[Floats]) -> tuple[Floats, ...]:
        """For each column the mean of each row's session; its own value, where it has none. There is a row."""
        starts, sizes = self._bounds()
        return tuple(np.repeat(np.add.reduceat(values, starts) / sizes, sizes) for values in columns)

    def _bounds(self) -> tuple[Positions, Positions]:
        """Where each session begins, and how long it is."""
        starts = np.concatenate([[0], 1 + np.flatnonzero(~self.linked(1))])
        return starts, np.diff(np.append(starts, len(self)))


def session_order(segments: Sequence[Segment]) -> SessionOrder:
    """The order of all rows of these segments."""
    keys = np.concatenate([np.zeros(0, f"S{8 * _KEYS}"), *map(_sort_keys, segments)])
    order = np.argsort(keys, kind="stable")
    return SessionOrder(order, keys[order])


def _sort_keys(segment: Segment) -> Array:
    """Big-endian, so that the order of bytes is the order of numbers; the sign bit turned, so that it holds for all."""
    conversation, valid = segment["conversation"], segment["valid_from"]
    keys = np.empty((len(segment), _KEYS), ">u8")
    keys[:, 0] = np.where(conversation == NOTHING, segment["source"], conversation)
    keys[:, 1] = _unsigned(np.where(valid == NO_TIME, segment["created"], valid))
    keys[:, 2] = _unsigned(segment["created"])
    keys[:, 3] = segment["id_hash"]
    return keys.view(f"S{8 * _KEYS}").reshape(-1)


def _unsigned(times: Array) -> Array:
    return times.astype(np.int64).view(np.uint64) ^ _SIGN
