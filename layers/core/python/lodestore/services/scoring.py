"""From a view and a question to scored rows: the bridge between columns and `retrieval`.

Owns: which columns become signals. Guarantees: the same order however the corpus is cut into segments, ties by newest,
then id; statistics are over what the caller may see now, filtered or not (P-TENANT).
Gives up: cutting, the caller knows its floors; and order behind the best thousand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.calibration import KEYWORDS_ALONE
from lodestore.retrieval.query_reading import QueryReading
from lodestore.retrieval.ranking import Floats, Mask, score
from lodestore.retrieval.segment import Array
from lodestore.retrieval.segment_search import Part, keyword_scores, starts_of
from lodestore.retrieval.tokenizer import query_terms
from lodestore.services.columns import Masks, Place
from lodestore.services.session_orders import SessionOrders
from lodestore.services.signals import QueryVector, gather
from lodestore.services.tenant_view import TenantView

# More than any answer shows; sorting all of a large tenant would cost more than finding them.
ORDERED_MOST = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of several parts, one part after the other: pairs of a part's number and ascending rows of it."""

    of_part: tuple[tuple[int, NDArray[np.intp]], ...]

    def of(self, column: str, parts: Sequence[Part]) -> Array:
        """The values of these rows in a column."""
        return np.concatenate([parts[part].segment[column][rows] for part, rows in self.of_part])

    def place(self, position: int) -> Place:
        """Where the row at this position is."""
        for part, rows in self.of_part:
            if position < len(rows):
                return Place(part, int(rows[position]))
            position -= len(rows)
        raise IndexError(position)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Every admitted row that matches at all: the first ORDERED_MOST are the best, best first; scores in [0, 1].

    whole   whether each has all identifiers asked for, and no word of the query is one that nobody stored
    known   in [0, 1]: that anything stored is about what is asked
    """

    scores: Floats
    whole: Mask
    known: float
    _rows: _Rows
    _order: NDArray[np.intp]
    _parts: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.scores)

    def place(self, rank: int) -> Place:
        """Where the row of this rank (0: best) is."""
        return self._rows.place(int(self._order[rank]))

    def parts(self, rank: int) -> dict[str, float]:
        """What its score is made of."""
        position = self._order[rank]
        return {name: round(float(values[position]), 4) for name, values in self._parts.items()}


NOTHING_RANKED = Ranking(np.zeros(0), np.zeros(0, np.bool_), 0.0, _Rows(()), np.zeros(0, np.intp), {})


def rank(
    view: TenantView,
    live: Masks,
    admitted: Masks,
    query: QueryReading,
    vector: QueryVector | None,
    orders: SessionOrders,
) -> Ranking:
    """The admitted rows by score. A filter leaves rows out: the order of the others stays, and they rival each other.

    live       rows that the caller may see now: term statistics and neighbours are theirs
    admitted   those of them that pass the filters
    """
    if not any(mask.any() for mask in admitted) or (not query.terms and vector is None):
        return NOTHING_RANKED
    parts = [Part(part.segment, mask) for part, mask in zip(view.parts, live, strict=True)]
    gathered = gather(parts, orders.of(view), query, vector)
    signals = gathered.signals
    calibration = KEYWORDS_ALONE if vector is None else vector.calibration
    scored = score(signals, calibration, admitted=np.concatenate(admitted)[gathered.positions])
    chosen = np.flatnonzero(scored.matching)
    if not len(chosen):
        return NOTHING_RANKED
    chosen = chosen[np.argsort(gathered.positions[chosen])]
    rows = _rows(gathered.positions[chosen], starts_of(parts))
    scores = scored.score[chosen]
    order = _order(parts, rows, scores)
    explained = {
        **scored.parts,
        "known": np.full(len(scored.score), scored.known),
        "keyword": signals.fused.keyword,
        "vector": signals.fused.vector,
        "relevance": signals.fused.relevance,
        "importance": signals.importance,
        "recency": signals.recency(),
    }
    if signals.use is not None:
        explained |= {"use": signals.use.use, "feedback": signals.use.feedback}
    shown = {name: values[chosen] for name, values in explained.items()}
    whole = signals.whole[chosen][order] & (signals.unknown == 0)
    return Ranking(scores[order], whole, scored.known, rows, order, shown)


def having(view: TenantView, live: Masks, words: Sequence[str]) -> Masks:
    """Live rows that have any of the words."""
    parts = [Part(part.segment, mask) for part, mask in zip(view.parts, live, strict=True)]
    found = [keyword_scores(query_terms(word), parts).rows for word in words]
    return tuple(
        np.any([rows[n] > 0 for rows in found], axis=0) if found else np.zeros(len(part.segment), np.bool_)
        for n, part in enumerate(parts)
    )


def _rows(positions: NDArray[np.intp], starts: Sequence[int]) -> _Rows:
    """Positions among the rows of all parts, ascending, as rows of parts."""
    cuts = pairwise(np.searchsorted(positions, starts).tolist())
    return _Rows(
        tuple(
            (part, positions[begin:end] - starts[part])
            for part, (begin, end) in enumerate(cuts)
            if begin < end
        )
    )


def _order(parts: Sequence[Part], rows: _Rows, scores: Floats) -> NDArray[np.intp]:
    """The best ORDERED_MOST in order, the others after them: equal scores newest first, then by the hash of the id."""
    created, hashes = rows.of("created", parts), rows.of("id_hash", parts)
    keys = (-np.round(scores, 9), -created, hashes)
    best = _least(keys, ORDERED_MOST)
    others = np.ones(len(scores), np.bool_)
    others[best] = False
    order = np.lexsort([key[best] for key in reversed(keys)])
    return np.concatenate([best[order], np.flatnonzero(others)])


def _least(keys: Sequence[Array], most: int) -> NDArray[np.intp]:
    """The positions of the `most` least by the first key, ties by the next; all, where there are not more."""
    sure: list[NDArray[np.intp]] = []
    tied = np.arange(len(keys[0]))
    for key in keys:
        left = most - sum(map(len, sure))
        if len(tied) <= left:
            break
        values = key[tied]
        last = np.partition(values, left - 1)[left - 1]
        sure.append(tied[values < last])
        tied = tied[values == last]
    return np.concatenate([*sure, tied])
