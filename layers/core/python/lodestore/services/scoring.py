"""From live rows and a question to scored rows: the bridge between columns and `retrieval`.

Owns: the order of rows, and what is shown of their scores. Guarantees: the same order however the corpus is cut into
segments, ties by newest, then id; statistics are over what the caller may see now, filtered or not (P-TENANT).
Gives up: cutting, the caller knows its floors; and order behind what any answer may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lodestore.domain import limits
from lodestore.retrieval.calibration import KEYWORDS_ALONE
from lodestore.retrieval.query_reading import QueryReading
from lodestore.retrieval.ranking import Floats, Mask, Scored, Signals, score
from lodestore.retrieval.ranking_weights import Weights
from lodestore.retrieval.segment_search import keyword_scores
from lodestore.retrieval.sessions import Positions
from lodestore.retrieval.tokenizer import query_terms
from lodestore.services.columns import Masks, Place
from lodestore.services.live_rows import LiveRows
from lodestore.services.row_order import Key, least
from lodestore.services.signals import QueryVector, gather

# More than any answer reads; sorting all of a large tenant would cost more than finding them.
ORDERED_MOST = 2 * limits.RECALL_LIMIT
_FEATURES = (*(name for name in Weights.__slots__ if name != "assistant"), "quoted")


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Every admitted row that matches at all: the first ORDERED_MOST are the best, best first; scores in [0, 1].

    known   in [0, 1]: that anything stored is about what is asked
    """

    scores: Floats
    known: float
    _order: Positions
    _of: _Ranked | None

    def __len__(self) -> int:
        return len(self.scores)

    def place(self, rank: int) -> Place:
        """Where the row of this rank (0: best) is."""
        ranked = self._ranked()
        return Place(*ranked.rows.row_of(int(self._order[rank])))

    def whole(self, rank: int) -> bool:
        """Whether it has all identifiers and rare words of the query, of which no word is one that nobody stored."""
        return self._ranked().signals.is_whole(int(self._order[rank]))

    def parts(self, rank: int) -> dict[str, float]:
        """What its score is made of."""
        return self._ranked().parts(int(self._order[rank]))

    def _ranked(self) -> _Ranked:
        if self._of is None:
            raise IndexError("nothing is ranked")
        return self._of


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    rows: LiveRows
    signals: Signals
    scored: Scored

    def parts(self, at: int) -> dict[str, float]:
        """What the score of a place is made of, 0 for what is not there."""
        signals, standing = self.signals, self.signals.standing
        values: Mapping[str, Floats] = {
            **self.scored.parts,
            "keyword": signals.fused.keyword,
            "vector": signals.fused.vector,
            "relevance": signals.fused.relevance,
            "importance": standing.importance,
            "recency": standing.recency,
        }
        if standing.use is not None:
            values = {**values, "use": standing.use.use, "feedback": standing.use.feedback}
        shown = {name: round(float(of[at]), 4) for name, of in values.items()}
        return dict.fromkeys(_FEATURES, 0.0) | {"known": round(self.scored.known, 4)} | shown


NOTHING_RANKED = Ranking(np.zeros(0), 0.0, np.zeros(0, np.intp), None)


def rank(rows: LiveRows, admitted: Masks | None, query: QueryReading, vector: QueryVector | None) -> Ranking:
    """The admitted rows by score. A filter leaves rows out: the order of the others stays, and they rival each other.

    rows       what the caller may see now: term statistics and neighbours are theirs
    admitted   those of them that pass the filters; None: all
    """
    passing = None if admitted is None else rows.at_places(admitted)
    nothing = not len(rows) if passing is None else not passing.any()
    if nothing or (not query.terms and vector is None):
        return NOTHING_RANKED
    signals = gather(rows, query, vector)
    calibration = KEYWORDS_ALONE if vector is None else vector.calibration
    scored = score(signals, calibration, admitted=passing)
    if not scored.matching.any():
        return NOTHING_RANKED
    order = _order(rows, scored)
    return Ranking(scored.score[order], scored.known, order, _Ranked(rows, signals, scored))


def having(rows: LiveRows, words: Sequence[str]) -> Masks:
    """Live rows that have any of the words."""
    found = [keyword_scores(query_terms(word), rows.corpus).rows for word in words]
    return tuple(
        np.any([of_word[n] > 0 for of_word in found], axis=0)
        if found
        else np.zeros(len(part.segment), np.bool_)
        for n, part in enumerate(rows.corpus.parts)
    )


def _order(rows: LiveRows, scored: Scored) -> Positions:
    """The best ORDERED_MOST in order, the others after them: equal scores newest first, then by the hash of the id."""
    keys: tuple[Key, ...] = (
        lambda at: -np.round(scored.score[at], 9),
        lambda at: -rows.created[at],
        lambda at: rows.id_hash[at],
    )
    best = least(keys, np.flatnonzero(scored.matching), ORDERED_MOST)
    others: Mask = scored.matching.copy()
    others[best] = False
    order = np.lexsort([key(best) for key in reversed(keys)])
    return np.concatenate([best[order], np.flatnonzero(others)])
