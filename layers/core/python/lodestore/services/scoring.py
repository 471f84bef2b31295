"""From a view and a question to scored rows: the bridge between columns and `retrieval`.

Owns: which columns become signals. Guarantees: the same order however the corpus is cut into segments, ties by newest,
then id; statistics are over what the caller may see now, filtered or not (P-TENANT).
Gives up: cutting, the caller knows its floors; and order behind the best thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    """Rows of several parts, one part after the other: `of_part[p]` are those of part p, ascending."""

    of_part: tuple[NDArray[np.intp], ...]

    def __len__(self) -> int:
        return sum(map(len, self.of_part))

    def of(self, columns: Iterable[Array]) -> Array:
        """The values of these rows in a column that is given part by part."""
        return np.concatenate([column[rows] for column, rows in zip(columns, self.of_part, strict=True)])

    def place(self, position: int) -> Place:
        """Where the row at this position is."""
        for part, rows in enumerate(self.of_part):
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
    rows = _matching(admitted, keywords.rows, cosines, anchors)
    if not len(rows):
        return NOTHING_RANKED
    share = rows.of(keywords.rows) / (keywords.ideal or 1.0)
    fused = fuse(share, None if cosines is None else rows.of(cosines).astype(np.float64), anchors)
    signals = _signals(view, rows, fused.relevance)
    scores = score(signals)
    order = _order(view, rows, scores)
    explained = {
        "keywords": fused.keyword,
        "vectors": fused.vector,
        "relevance": signals.relevance,
        "importance": signals.importance,
        "recency": signals.recency(),
    }
    return Ranking(scores[order], rows, order, explained)


def _cosines(parts: Sequence[Part], vector: QueryVector) -> tuple[Cosines, ...]:
    """The cosine of each row, NaN where it has no vector of the query's model."""
    found = vector_scores(vector.vector, vector.model, parts)
    return tuple(
        np.full(len(part.segment), np.nan, np.float32) if cosines is None else cosines
        for part, cosines in zip(parts, found, strict=True)
    )


def _matching(
    admitted: Masks, keywords: tuple[Floats, ...], cosines: tuple[Cosines, ...] | None, anchors: Anchors
) -> _Rows:
    """The admitted rows that either leg has evidence for: exactly those whose relevance is above 0."""
    found = [scores > 0 for scores in keywords]
    if cosines is not None:
        # Compared as float64, as `fuse` computes with it.
        floor = np.float64(anchors.unrelated)
        found = [by_words | (cosine > floor) for by_words, cosine in zip(found, cosines, strict=True)]
    return _Rows(tuple(np.flatnonzero(mask & one) for mask, one in zip(admitted, found, strict=True)))


def _signals(view: TenantView, rows: _Rows, relevance: Floats) -> Signals:
    segments = [part.segment for part in view.parts]
    since = [holds_from(segment, chosen) for segment, chosen in zip(segments, rows.of_part, strict=True)]
    times = np.concatenate(since).astype(np.float64)
    return Signals(
        relevance=relevance,
        importance=rows.of(segment["importance"] for segment in segments).astype(np.float64),
        age_days=(times.max() - times) / _DAY_MILLISECONDS,
        half_life=_HALF_LIVES[rows.of(segment["type"] for segment in segments)],
    )


def _order(view: TenantView, rows: _Rows, scores: Floats) -> NDArray[np.intp]:
    """The best ORDERED_MOST in order, the others after them: equal scores newest first, then by the hash of the id."""
    created = rows.of(part.segment["created"] for part in view.parts)
    hashes = rows.of(part.segment["id_hash"] for part in view.parts)
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
