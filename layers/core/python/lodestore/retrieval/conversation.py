"""What a conversation gives a row beside its own words: those around it, who said it, when, and how.

Owns: the features and the columns they come from. Guarantees: each in [0, 1], of counted rows alone (P-TENANT), and the
same however the corpus is cut into segments; a row that is no turn of a chat is judged by its own words, and neither
gains nor pays by what only turns can have. A session is a chat where people answer each other or ask: notes that one
writer left in a row have nothing to do with one another.
Gives up: knowing what was said; all of it is arithmetic on columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from lodestore.retrieval.hashing import NOTHING, Hashes, hashes64
from lodestore.retrieval.query_dates import nearness
from lodestore.retrieval.query_reading import QueryReading
from lodestore.retrieval.segment import NO_TIME, Array
from lodestore.retrieval.segment_search import Floats, Mask, Matches
from lodestore.retrieval.sessions import Positions, Sessions
from lodestore.retrieval.window import window_scores

# The columns that `features` reads.
COLUMNS = ("source", "created", "valid_from", "length", "question", "type")
# A turn of this many terms or more has as much to say as any.
ENOUGH_TERMS = 30
# In a chat at least so many of the turns ask, or follow on another speaker's.
ASKING_IN_A_CHAT = 0.1
TURNING_IN_A_CHAT = 0.5
# How long after a day people still tell of it.
TOLD_WITHIN = timedelta(days=7)
ASSISTANTS = np.sort(
    hashes64(
        spelling
        for name in ("assistant", "ai", "bot", "chatbot", "model", "llm")
        for spelling in (name, name.upper(), name.title())
    )
)


@dataclass(frozen=True, slots=True, eq=False)
class ConversationFeatures:
    """One value for each place of the sessions, in [0, 1].

    window       BM25 of the row with those around it, by the best there is; its own relevance, where it is no turn
    neighbours   mean relevance of the row before and the row behind
    session      relevance of the best row of its session
    named        1 where the query names its source
    dated        1 where it holds from a day the query names; less, shortly after it
    intended     how much the query asks for its type
    short        0 for a turn of ENOUGH_TERMS or more, 1 for an empty one
    question     1 for a turn that asks
    assistant    whether an assistant said it
    """

    window: Floats
    neighbours: Floats
    session: Floats
    named: Floats
    dated: Floats
    intended: Floats
    short: Floats
    question: Floats
    assistant: Mask


def features(
    query: QueryReading,
    matches: Matches,
    sessions: Sessions,
    places: Positions,
    columns: Mapping[str, Array],
    relevance: Floats,
) -> ConversationFeatures:
    """The features of every place.

    columns     COLUMNS of every place
    relevance   of every place, in [0, 1], by the best there is
    """
    turn = chats(sessions, columns["source"], columns["question"])
    source, since = columns["source"], columns["valid_from"]
    since = np.where(since == NO_TIME, columns["created"], since)
    length = np.minimum(columns["length"], ENOUGH_TERMS)
    window = window_scores(matches, sessions, places)
    return ConversationFeatures(
        window=np.where(turn, window / (window.max(initial=0) or 1.0), relevance),
        neighbours=np.where(turn, sessions.neighbours(relevance), 0.0),
        session=np.where(turn, sessions.best(relevance), 0.0),
        named=_among(source, query.names).astype(np.float64),
        dated=nearness(query.dates, since, TOLD_WITHIN),
        intended=query.intent[columns["type"]],
        short=np.where(turn, 1 - np.log1p(length) / np.log1p(ENOUGH_TERMS), 0.0),
        question=np.where(turn, columns["question"], 0).astype(np.float64),
        assistant=_among(source, ASSISTANTS),
    )


def chats(sessions: Sessions, source: Array, question: Array) -> Mask:
    """Whether each place is a turn of a chat.

    source, question   of each place: who said it as a hash, and whether it asks
    """
    if not len(sessions):
        return np.zeros(0, np.bool_)
    linked = sessions.linked(1)
    turning = np.zeros(len(sessions))
    turning[1:] = linked & (source[1:] != source[:-1])
    asking, turns, steps = sessions.means([question.astype(np.float64), turning, np.append(linked, 0.0)])
    follows = (steps > 0) & (turns >= TURNING_IN_A_CHAT * steps)
    mask: Mask = (sessions.session != NOTHING) & (steps > 0) & ((asking >= ASKING_IN_A_CHAT) | follows)
    return mask


def _among(values: Array, hashes: Hashes) -> Mask:
    """Whether each value is among the hashes, which are ascending."""
    if not len(hashes):
        return np.zeros(len(values), np.bool_)
    found: Mask = hashes.take(hashes.searchsorted(values), mode="clip") == values
    return found
