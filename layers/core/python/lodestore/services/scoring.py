"""From a view and a question to scored rows: the bridge between columns and `retrieval`.

Owns: which columns become signals. Guarantees: the same order however the corpus is cut into segments, ties by newest,
then id; statistics are over what the caller may see now, filtered or not (P-TENANT).
Gives up: cutting; the caller knows its floors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.memory import HALF_LIFE_DAYS
from lodestore.retrieval.fusion import Anchors, Fused, fuse
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.ranking import Floats, Signals, score
from lodestore.retrieval.segment import TYPES
from lodestore.retrieval.segment_search import Part, keyword_scores, vector_scores
from lodestore.services.columns import Masks, Place, holds_from
from lodestore.services.tenant_view import TenantView

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
    """Rows of several parts, one after the other."""

    part: NDArray[np.int64]
    row: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    def at(self, positions: NDArray[np.int64]) -> _Rows:
        return _Rows(self.part[positions], self.row[positions])


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Every admitted row that matches at all, best first; `scores` in [0, 1] descend."""

    scores: Floats
    _rows: _Rows
    _parts: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.scores)

    def place(self, rank: int) -> Place:
        """Where the row of this rank (0: best) is."""
        return Place(int(self._rows.part[rank]), int(self._rows.row[rank]))

    def parts(self, rank: int) -> dict[str, float]:
        """What its score is made of."""
        return {name: round(float(values[rank]), 4) for name, values in self._parts.items()}


NOTHING_RANKED = Ranking(np.zeros(0), _Rows(np.zeros(0, np.int64), np.zeros(0, np.int64)), {})


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
    rows = _rows(admitted)
    if not len(rows) or (not terms and vector is None):
        return NOTHING_RANKED
    parts = [Part(part.segment, mask) for part, mask in zip(view.parts, live, strict=True)]
    fused = _fused(parts, rows, terms, vector)
    matching = np.flatnonzero(fused.relevance > 0)
    signals = _signals(view, rows.at(matching), fused.relevance[matching])
    scores = score(signals)
    order = _order(view, rows.at(matching), scores)
    explained = {
        "keywords": fused.keyword[matching],
        "vectors": fused.vector[matching],
        "relevance": signals.relevance,
        "importance": signals.importance,
        "recency": signals.recency(),
    }
    return Ranking(
        scores[order], rows.at(matching[order]), {name: values[order] for name, values in explained.items()}
    )


def _rows(admitted: Masks) -> _Rows:
    found = [np.flatnonzero(mask) for mask in admitted]
    parts = [np.full(len(rows), number) for number, rows in enumerate(found)]
    if not found:
        return _Rows(np.zeros(0, np.int64), np.zeros(0, np.int64))
    return _Rows(np.concatenate(parts), np.concatenate(found))


def _fused(parts: list[Part], rows: _Rows, terms: tuple[QueryTerm, ...], vector: QueryVector | None) -> Fused:
    keywords = keyword_scores(terms, parts)
    ideal = keywords.ideal or 1.0
    share = _gathered([scores / ideal for scores in keywords.rows], rows)
    if vector is None:
        return fuse(share, None, Anchors(0, 1))
    cosines = vector_scores(vector.vector, vector.model, parts)
    filled = [
        np.full(len(part.segment), np.nan) if found is None else found
        for part, found in zip(parts, cosines, strict=True)
    ]
    return fuse(share, _gathered(filled, rows), vector.anchors)


def _gathered(by_part: list[Floats], rows: _Rows) -> Floats:
    values = np.zeros(len(rows))
    for number, scores in enumerate(by_part):
        chosen = rows.part == number
        values[chosen] = scores[rows.row[chosen]]
    return values


def _signals(view: TenantView, rows: _Rows, relevance: Floats) -> Signals:
    times = _gathered([holds_from(part.segment).astype(np.float64) for part in view.parts], rows)
    return Signals(
        relevance=relevance,
        importance=_gathered([part.segment["importance"].astype(np.float64) for part in view.parts], rows),
        age_days=(times.max(initial=-np.inf) - times) / _DAY_MILLISECONDS,
        half_life=_gathered([_HALF_LIVES[part.segment["type"]] for part in view.parts], rows),
    )


def _order(view: TenantView, rows: _Rows, scores: Floats) -> NDArray[np.int64]:
    """Best first; equal scores newest first, then by the hash of the id, whatever the cut into segments."""
    created = np.zeros(len(rows), np.int64)
    hashes = np.zeros(len(rows), np.uint64)
    for number, part in enumerate(view.parts):
        chosen = rows.part == number
        created[chosen] = part.segment["created"][rows.row[chosen]]
        hashes[chosen] = part.segment["id_hash"][rows.row[chosen]]
    return np.lexsort((hashes, -created, -np.round(scores, 9)))
