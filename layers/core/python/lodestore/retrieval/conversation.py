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
from lodestore.retrieval.sessions import Sessions
from lodestore.retrieval.window import Windows, window_scores, windows_of

# The columns that `conversation_of` reads.
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
class Conversation:
    """What no query changes: one value for each place of the sessions.

    turn        whether it is a turn of a chat; with `windows`, `short` and `question` None where nothing is
    source      who said it, as a hash; `assistant` whether an assistant did, None: none did
    since       milliseconds from when it holds
    kind        number of its type
    """

    sessions: Sessions
    turn: Mask | None
    windows: Windows | None
    short: Floats | None
    question: Floats | None
    source: Hashes
    assistant: Mask | None
    since: Array
    kind: Array


@dataclass(frozen=True, slots=True, eq=False)
class ConversationFeatures:
    """One value for each place of the sessions, in [0, 1]; None: 0 for all.

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
    neighbours: Floats | None
    session: Floats | None
    named: Floats | None
    dated: Floats | None
    intended: Floats | None
    short: Floats | None
    question: Floats | None
    assistant: Mask | None


def conversation_of(sessions: Sessions, columns: Mapping[str, Array]) -> Conversation:
    """What of it no query changes. `columns`: COLUMNS of every place."""
    source, valid = columns["source"], columns["valid_from"]
    turn = chats(sessions, source, columns["question"])
    assistant = _among(source, ASSISTANTS)
    short = 1 - np.log1p(np.minimum(columns["length"], ENOUGH_TERMS)) / np.log1p(ENOUGH_TERMS)
    talks = bool(turn.any())
    return Conversation(
        sessions=sessions,
        turn=turn if talks else None,
        windows=windows_of(sessions, columns["length"].astype(np.float64)) if talks else None,
        short=np.where(turn, short, 0.0) if talks else None,
        question=np.where(turn, columns["question"], 0).astype(np.float64) if talks else None,
        source=source,
        assistant=assistant if assistant.any() else None,
        since=np.where(valid == NO_TIME, columns["created"], valid),
        kind=columns["type"],
    )


def features(
    query: QueryReading, matches: Matches, conversation: Conversation, relevance: Floats
) -> ConversationFeatures:
    """The features of every place. `relevance` of every place, in [0, 1], by the best there is."""
    window, neighbours, session = _around(matches, conversation, relevance)
    named = _among(conversation.source, query.names).astype(np.float64) if len(query.names) else None
    dated = nearness(query.dates, conversation.since, TOLD_WITHIN) if len(query.dates) else None
    return ConversationFeatures(
        window=window,
        neighbours=neighbours,
        session=session,
        named=named,
        dated=dated,
        intended=query.intent[conversation.kind] if query.intent.any() else None,
        short=conversation.short,
        question=conversation.question,
        assistant=conversation.assistant,
    )


def _around(
    matches: Matches, conversation: Conversation, relevance: Floats
) -> tuple[Floats, Floats | None, Floats | None]:
    """Window, neighbours and session."""
    turn, windows, sessions = conversation.turn, conversation.windows, conversation.sessions
    if turn is None or windows is None:
        return relevance, None, None
    window = window_scores(matches, windows)
    return (
        np.where(turn, window / (window.max(initial=0) or 1.0), relevance),
        np.where(turn, sessions.neighbours(relevance), 0.0),
        np.where(turn, sessions.best(relevance), 0.0),
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
