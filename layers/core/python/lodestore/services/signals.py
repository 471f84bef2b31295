"""From live rows and a query to what is known of each row.

Owns: what a query adds to what no query changes. Guarantees: one value for each row that the caller may see, filtered
or not, in the order of sessions; nothing of other rows in any of them (P-TENANT). Gives up: weighing; `ranking` does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.calibration import KEYWORDS_ALONE, Calibration
from lodestore.retrieval.conversation import features
from lodestore.retrieval.fusion import Floats, fuse
from lodestore.retrieval.near_rows import Near, all_cosines, found_rows, near_cosines, with_neighbours
from lodestore.retrieval.query_reading import QueryReading
from lodestore.retrieval.ranking import Signals
from lodestore.retrieval.segment_search import Cosines, KeywordScores, keyword_scores
from lodestore.services.live_rows import LiveRows


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The query as a vector of a model. `near`: what the vector engine found by it; None: every row is scored."""

    vector: NDArray[np.float32]
    model: str
    calibration: Calibration
    near: Near | None = None


def gather(rows: LiveRows, query: QueryReading, vector: QueryVector | None) -> Signals:
    """The signals of every live row, in the order of `rows.positions`."""
    keywords = keyword_scores(query.terms, rows.corpus)
    cosines = None if vector is None else _cosines(rows, vector, keywords)
    share = keywords.every[rows.positions]
    share /= keywords.ideal or 1.0
    calibration = KEYWORDS_ALONE if vector is None else vector.calibration
    fused = fuse(share, cosines, calibration.anchors, query.language)
    relative = fused.relevance / (fused.relevance.max(initial=0) or 1.0)
    return Signals(
        fused=fused,
        conversation=features(query, keywords.matches, rows.conversation, relative),
        standing=rows.standing,
        reach=keywords.reach,
        unknown=keywords.unknown,
        quoted=_quoted(query, rows) if query.phrases else None,
        whole=keywords.whole()[rows.positions] if keywords.telling else None,
    )


def _quoted(query: QueryReading, rows: LiveRows) -> Floats:
    """The share of the query's phrases of which each row has every word."""
    having = [keyword_scores(phrase, rows.corpus).covered() == 1 for phrase in query.phrases]
    share: Floats = np.mean(having, axis=0)[rows.positions]
    return share


def _cosines(rows: LiveRows, vector: QueryVector, keywords: KeywordScores) -> Floats:
    """The cosine of each live row, NaN where none is known."""
    return _every_cosine(rows, vector, keywords)[rows.positions].astype(np.float64)


def _every_cosine(rows: LiveRows, vector: QueryVector, keywords: KeywordScores) -> Cosines:
    """The cosine of each row, part after part."""
    parts = rows.corpus.parts
    if vector.near is None:
        return all_cosines(vector.vector, vector.model, parts)
    # What stands beside a row that shares words weighs in its score, and it in theirs.
    matching = keywords.every > 0
    besides = with_neighbours(matching | found_rows(parts, vector.near), rows.sessions)
    return near_cosines(vector.vector, vector.model, parts, vector.near, besides)
