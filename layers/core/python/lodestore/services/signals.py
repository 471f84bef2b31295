"""From a view and a query to what is known of each row: the columns as signals.

Owns: which columns become which signal. Guarantees: one value for each row that the caller may see, filtered or not,
in the order of sessions; nothing of other rows in any of them (P-TENANT). Gives up: weighing; `ranking` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.memory import HALF_LIFE_DAYS
from lodestore.retrieval.calibration import KEYWORDS_ALONE, Calibration
from lodestore.retrieval.conversation import COLUMNS, features
from lodestore.retrieval.fusion import fuse
from lodestore.retrieval.near_rows import Near, all_cosines, found_rows, near_cosines, with_neighbours
from lodestore.retrieval.query_reading import QueryReading
from lodestore.retrieval.ranking import Signals
from lodestore.retrieval.segment import NO_TIME, TYPES, USE_COLUMNS, Array
from lodestore.retrieval.segment_search import Cosines, Mask, Part, keyword_scores
from lodestore.retrieval.sessions import SessionOrder, Sessions
from lodestore.retrieval.use import read_use

_DAY_MILLISECONDS = 86_400_000
_HALF_LIVES = np.array([HALF_LIFE_DAYS[kind] or np.inf for kind in TYPES])


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The query as a vector of a model. `near`: what the vector engine found by it; None: every row is scored."""

    vector: NDArray[np.float32]
    model: str
    calibration: Calibration
    near: Near | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Signals of rows; `positions` says where each row is among all rows, one part after the other."""

    signals: Signals
    positions: NDArray[np.intp]


def gather(
    parts: Sequence[Part], order: SessionOrder, query: QueryReading, vector: QueryVector | None
) -> Gathered:
    """The signals of every row that counts. `order` is of all rows of the parts."""
    counted = np.concatenate([np.zeros(0, np.bool_), *(part.counted for part in parts)])
    sessions = order.of_counted(counted)
    chosen = sessions.positions
    keywords = keyword_scores(query.terms, parts)
    cosines = (
        None
        if vector is None
        else _cosines(parts, vector, keywords.every > 0, sessions)[chosen].astype(np.float64)
    )
    share = keywords.every[chosen] / (keywords.ideal or 1.0)
    calibration = KEYWORDS_ALONE if vector is None else vector.calibration
    fused = fuse(share, cosines, calibration.anchors, query.language)
    relative = fused.relevance / (fused.relevance.max(initial=0) or 1.0)
    columns = {
        name: _column(parts, name)[chosen] for name in (*COLUMNS, *USE_COLUMNS, "importance", "pinned")
    }
    since = np.where(columns["valid_from"] == NO_TIME, columns["created"], columns["valid_from"])
    times = since.astype(np.float64)
    signals = Signals(
        fused=fused,
        conversation=features(query, keywords.matches, sessions, sessions.places, columns, relative),
        importance=columns["importance"].astype(np.float64),
        age_days=(times.max(initial=-np.inf) - times) / _DAY_MILLISECONDS,
        half_life=_HALF_LIVES[columns["type"]],
        pinned=columns["pinned"].astype(np.float64),
        quoted=_quoted(query, parts)[chosen],
        whole=keywords.whole()[chosen],
        covered=keywords.covered()[chosen],
        unknown=keywords.unknown,
        use=read_use(columns, times),
    )
    return Gathered(signals, chosen)


def _quoted(query: QueryReading, parts: Sequence[Part]) -> NDArray[np.float64]:
    """The share of the query's phrases of which each row of all parts has every word."""
    having = [keyword_scores(phrase, parts).covered() == 1 for phrase in query.phrases]
    rows = sum(len(part.segment) for part in parts)
    return np.mean(having, axis=0) if having else np.zeros(rows)


def _column(parts: Sequence[Part], name: str) -> Array:
    return np.concatenate([part.segment[name] for part in parts])


def _cosines(parts: Sequence[Part], vector: QueryVector, matching: Mask, sessions: Sessions) -> Cosines:
    """The cosine of each row, part after part, NaN where none is known. `matching`: rows that share words."""
    if vector.near is None:
        return all_cosines(vector.vector, vector.model, parts)
    # What stands beside such a row weighs in its score, and it in theirs.
    besides = with_neighbours(matching | found_rows(parts, vector.near), sessions)
    return near_cosines(vector.vector, vector.model, parts, vector.near, besides)
