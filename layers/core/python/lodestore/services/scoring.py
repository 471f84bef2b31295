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

from lodestore.domain.memory import HALF_LIFE_DAYS
from lodestore.retrieval.fusion import Anchors, fuse
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.ranking import Floats, Signals, score
from lodestore.retrieval.segment import TYPES, Array
from lodestore.retrieval.segment_search import Cosines, Part, keyword_scores, vector_scores
from lodestore.services.columns import Masks, Place, holds_from
from lodestore.services.tenant_view import TenantView

# More than any answer shows; sorting all of a large tenant would cost more than finding them.
ORDERED_MOST = 1_000
_DAY_MILLISECONDS = 86_400_000
_HALF_LIVES = np.array([HALF_LIFE_DAYS[kind] or np.inf for kind in TYPES])


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The query as a vector of a model."""

    vector: NDArray[np.float32]
    model: str
    anchors: Anchors


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
    """Every admitted row that matches at all: the first ORDERED_MOST are the best, best first; scores in [0, 1]."""

    scores: Floats
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


NOTHING_RANKED = Ranking(np.zeros(0), _Rows(()), np.zeros(0, np.intp), {})


def rank(
    view: TenantView,
    live: Masks,
    admitted: Masks,
    terms: tuple[QueryTerm, ...],
    vector: QueryVector | None,
) -> Ranking:
    """The admitted rows by score.

    live       rows that the caller may see now: term statistics are theirs
    admitted   those of them that pass the filters
    """
    if not any(mask.any() for mask in admitted) or (not terms and vector is None):
        return NOTHING_RANKED
    parts = [Part(part.segment, mask) for part, mask in zip(view.parts, live, strict=True)]
    keywords = keyword_scores(terms, parts)
    cosines = None if vector is None else _cosines(parts, vector)
    anchors = Anchors(0, 1) if vector is None else vector.anchors
    # Exactly the rows whose relevance is above 0. Compared as float64, as `fuse` computes.
    evidence = keywords.every > 0
    if cosines is not None:
        evidence |= cosines > np.float64(anchors.unrelated)
    matching = np.flatnonzero(evidence & np.concatenate(admitted))
    if not len(matching):
        return NOTHING_RANKED
    share = keywords.every[matching] / (keywords.ideal or 1.0)
    fused = fuse(share, None if cosines is None else cosines[matching].astype(np.float64), anchors)
    rows = _rows(matching, keywords.starts)
    signals = _signals(parts, rows, fused.relevance)
    scores = score(signals)
    order = _order(parts, rows, scores)
    explained = {
        "keywords": fused.keyword,
        "vectors": fused.vector,
        "relevance": signals.relevance,
        "importance": signals.importance,
        "recency": signals.recency(),
    }
    return Ranking(scores[order], rows, order, explained)


def _cosines(parts: Sequence[Part], vector: QueryVector) -> Cosines:
    """The cosine of each row, part after part, NaN where it has no vector of the query's model."""
    found = vector_scores(vector.vector, vector.model, parts)
    return np.concatenate(
        [
            np.full(len(part.segment), np.nan, np.float32) if cosines is None else cosines
            for part, cosines in zip(parts, found, strict=True)
        ]
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


def _signals(parts: Sequence[Part], rows: _Rows, relevance: Floats) -> Signals:
    since = [holds_from(parts[part].segment, chosen) for part, chosen in rows.of_part]
    times = np.concatenate(since).astype(np.float64)
    return Signals(
        relevance=relevance,
        importance=rows.of("importance", parts).astype(np.float64),
        age_days=(times.max() - times) / _DAY_MILLISECONDS,
        half_life=_HALF_LIVES[rows.of("type", parts)],
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
