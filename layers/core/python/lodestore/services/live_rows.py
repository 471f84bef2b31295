"""Live rows: what is known of the rows that a caller may see and that hold, apart from any query.

Owns: which columns become what no query changes. Guarantees: of rows that count alone (P-TENANT), in the order of
sessions, the same however the corpus is cut into segments. Gives up: weighing; `ranking` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lodestore.domain.memory import HALF_LIFE_DAYS
from lodestore.retrieval.conversation import COLUMNS, Conversation, conversation_of
from lodestore.retrieval.ranking import Standing, standing
from lodestore.retrieval.segment import ROW_COLUMNS, TYPES, USE_COLUMNS, Array
from lodestore.retrieval.segment_search import Corpus, Mask, Part, corpus_of
from lodestore.retrieval.sessions import Positions, SessionOrder, Sessions
from lodestore.retrieval.use import read_use

_DAY_MILLISECONDS = 86_400_000
_HALF_LIVES = np.array([HALF_LIFE_DAYS[kind] or np.inf for kind in TYPES])


@dataclass(frozen=True, slots=True, eq=False)
class LiveRows:
    """Rows that count, of several parts. Of each place of the sessions: `created` and `id_hash`, what breaks ties."""

    corpus: Corpus
    sessions: Sessions
    conversation: Conversation
    standing: Standing
    created: Array
    id_hash: Array

    def __len__(self) -> int:
        return len(self.sessions)

    @property
    def positions(self) -> Positions:
        """Where each place is among all rows, one part after the other."""
        return self.sessions.positions

    @property
    def masks(self) -> tuple[Mask, ...]:
        """Which rows of each part count."""
        return tuple(part.counted for part in self.corpus.parts)

    def at_places(self, masks: Sequence[Mask]) -> Mask:
        """Masks over the parts' rows as one over the places."""
        return np.concatenate([np.zeros(0, np.bool_), *masks])[self.positions]

    def row_of(self, place: int) -> tuple[int, int]:
        """Part and row of a place."""
        position = int(self.positions[place])
        for part, (begin, end) in enumerate(pairwise(self.corpus.starts)):
            if position < end:
                return part, position - begin
        raise IndexError(place)


def live_rows(parts: Sequence[Part], order: SessionOrder) -> LiveRows:
    """What is known of the rows of the parts that count. `order` is of all rows of the parts."""
    corpus = corpus_of(parts)
    sessions = order.of_counted(corpus.counted)
    names = (*COLUMNS, *USE_COLUMNS, "importance", "pinned", "id_hash")
    columns = {name: _column(parts, name)[sessions.positions] for name in names}
    conversation = conversation_of(sessions, columns)
    times = conversation.since.astype(np.float64)
    stands = standing(
        importance=columns["importance"].astype(np.float64),
        age_days=(times.max(initial=-np.inf) - times) / _DAY_MILLISECONDS,
        half_life=_HALF_LIVES[columns["type"]],
        pinned=columns["pinned"].astype(np.float64),
        use=read_use(columns, times),
    )
    return LiveRows(corpus, sessions, conversation, stands, columns["created"], columns["id_hash"])


def _column(parts: Sequence[Part], name: str) -> Array:
    return np.concatenate([np.zeros(0, ROW_COLUMNS[name]), *(part.segment[name] for part in parts)])
