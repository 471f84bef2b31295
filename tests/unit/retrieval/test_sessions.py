"""Sessions and windows over any cut into segments are those of the records themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.memory import Memory, Record
from lodestore.domain.moments import milliseconds
from lodestore.retrieval import bm25
from lodestore.retrieval.calibration import FALL, calibration_of
from lodestore.retrieval.conversation import chats
from lodestore.retrieval.hashing import hash64
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.ranking import score
from lodestore.retrieval.ranking_weights import WEIGHTS
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_search import Mask, Part, corpus_of, keyword_scores
from lodestore.retrieval.sessions import Sessions, session_order
from lodestore.retrieval.tokenizer import query_terms
from lodestore.retrieval.window import REACH, Windows, window_scores, windows_of
from lodestore.services.live_rows import live_rows
from lodestore.services.rows import terms_of
from lodestore.services.signals import QueryVector, gather
from tests.unit.retrieval.random_records import (
    IDS,
    MEMORY,
    MODEL,
    START,
    WORDS,
    corpora,
    cuts,
    segment,
    vectors,
)

queries = st.lists(st.sampled_from((*WORDS, "nowhere")), min_size=1, max_size=4).map(" ".join)
Cut = list[tuple[list[Record], list[bool]]]


@st.composite
def seen_parts(draw: st.DrawFn) -> Cut:
    """A corpus cut into parts, and of each record whether it counts."""
    return [(part, [draw(st.booleans()) for _ in part]) for part in draw(cuts(draw(corpora())))]


def _mask(made: Segment, records: Sequence[Record], counted: Sequence[bool]) -> Mask:
    ids = {r.id for r, counts in zip(records, counted, strict=True) if counts and isinstance(r, Memory)}
    return np.array([made.text("id", at) in ids for at in range(len(made))], np.bool_)


def _parts(cut: Cut) -> list[Part]:
    made = [(segment(records), records, counted) for records, counted in cut]
    return [Part(one, _mask(one, records, counted)) for one, records, counted in made]


def _sessions(parts: Sequence[Part], *, tail: bool) -> Sessions:
    segments = [part.segment for part in parts]
    order = session_order(segments[:-1] if tail else segments)
    if tail:
        order = order.with_rows(segments[-1], sum(map(len, segments[:-1])))
    return order.of_counted(np.concatenate([part.counted for part in parts]))


def _windows(parts: Sequence[Part], sessions: Sessions) -> Windows:
    return windows_of(sessions, corpus_of(parts).lengths[sessions.positions])


def _told(cut: Cut) -> list[list[Memory]]:
    """The counted memories, session by session in their order; one without a name is a session of its own."""
    sessions: defaultdict[str, list[Memory]] = defaultdict(list)
    for records, counted in cut:
        for record, counts in zip(records, counted, strict=True):
            if counts and isinstance(record, Memory):
                sessions[record.conversation or record.source or f"alone {record.id}"].append(record)
    return [
        sorted(
            members,
            key=lambda m: (milliseconds(m.holds_from), milliseconds(m.created_at), hash64(m.id)),
        )
        for members in sessions.values()
    ]


def _ids(parts: Sequence[Part]) -> list[str]:
    return [part.segment.text("id", row) for part in parts for row in range(len(part.segment))]


@pytest.mark.promise("P-TENANT")
@settings(deadline=None, max_examples=60)
@given(seen_parts(), st.booleans())
def test_who_stands_beside_whom_does_not_depend_on_the_cut_nor_on_rows_that_do_not_count(
    cut: Cut, tail: bool
) -> None:
    parts = _parts(cut)
    sessions, ids = _sessions(parts, tail=tail), _ids(parts)
    shown = [ids[position] for position in sessions.positions]
    values = np.array([float(hash64(one) % 97) for one in shown])
    neighbours, best = sessions.neighbours(values), sessions.best(values)
    found = dict(zip(shown, zip(neighbours.tolist(), best.tolist(), strict=True), strict=True))
    for members in _told(cut):
        own = [float(hash64(member.id) % 97) for member in members]
        for at, member in enumerate(members):
            beside = (own[at - 1] if at else 0.0) + (own[at + 1] if at + 1 < len(own) else 0.0)
            assert found.pop(member.id) == (beside / 2, max(own))
    assert not found


@settings(deadline=None, max_examples=60)
@given(seen_parts(), queries, st.booleans())
def test_a_window_scores_as_a_document_made_of_a_row_and_its_neighbours(
    cut: Cut, query: str, tail: bool
) -> None:
    parts = _parts(cut)
    sessions, ids = _sessions(parts, tail=tail), _ids(parts)
    keywords = keyword_scores(query_terms(query), corpus_of(parts))
    scores = window_scores(keywords.matches, _windows(parts, sessions))
    found = {ids[p]: s for p, s in zip(sessions.positions.tolist(), scores.tolist(), strict=True)}
    assert found == pytest.approx(_expected(_told(cut), query))


def _expected(told: Sequence[Sequence[Memory]], query: str) -> dict[str, float]:
    """By the plain formula. No text here is longer than what is taken of a neighbour."""
    every = [counts for members in told for m in members if (counts := terms_of(m)) is not None]
    statistics = bm25.corpus_statistics(every, query_terms(query))
    windows: dict[str, bm25.TermCounts] = {}
    for members in told:
        texts = [terms_of(member) for member in members]
        for at, member in enumerate(members):
            near = [one for one in texts[max(0, at - REACH) : at + REACH + 1] if one is not None]
            merged: defaultdict[str, int] = defaultdict(int)
            for one in near:
                for term, count in one.frequencies.items():
                    merged[term] += count
            windows[member.id] = bm25.TermCounts(merged, sum(one.length for one in near))
    average = sum(window.length for window in windows.values()) / (len(windows) or 1)
    spans = replace(statistics, average_length=average)
    scores = bm25.score(query_terms(query), list(windows.values()), spans)
    return dict(zip(windows, scores.tolist(), strict=True))


def test_rows_that_stand_alone_are_ordered_by_their_own_words_and_vectors() -> None:
    rng = np.random.default_rng(5)
    told = [
        replace(MEMORY, id=one, content=" ".join(rng.choice(WORDS, 6)), source=None, conversation=None)
        for one in IDS
    ]
    parts = [Part(segment(told), np.ones(len(told), np.bool_))]
    asked = QueryVector(vectors(1, 3)[0], MODEL, calibration_of(MODEL))
    for vector in (None, asked):
        rows = live_rows(parts, session_order([parts[0].segment]))
        found = gather(rows, read_query("oslo badge", START), vector)
        own = WEIGHTS.keywords * found.fused.keyword + WEIGHTS.vectors * found.fused.vector
        own += WEIGHTS.window * found.fused.relevance / found.fused.relevance.max()
        scores = score(found).score
        assert scores == pytest.approx(scores.max() * (own / own.max()) ** FALL)


def _chat(sources: Sequence[str], ends: Sequence[str]) -> Part:
    told = [
        replace(MEMORY, id=f"id-{n}", conversation="c", source=source, content=f"oslo badge {n}{end}")
        for n, (source, end) in enumerate(zip(sources, ends, strict=True))
    ]
    return Part(segment(told), np.ones(len(told), np.bool_))


@pytest.mark.parametrize(
    ("sources", "ends", "is_chat"),
    [
        (["ann", "bob", "ann", "bob"], ["."] * 4, True),
        (["turns"] * 4, [".", "?", ".", "."], True),
        (["robot"] * 4, ["."] * 4, False),
        (["robot"] * 2 + ["agent"] * 2, ["."] * 4, False),
        (["ann"], ["?"], False),
    ],
    ids=["two speakers", "somebody asks", "notes of one writer", "notes of two writers", "one turn"],
)
def test_a_chat_is_where_people_answer_each_other_or_ask(
    sources: Sequence[str], ends: Sequence[str], is_chat: bool
) -> None:
    part = _chat(sources, ends)
    sessions = session_order([part.segment]).of_counted(part.counted)
    columns = [part.segment[name][sessions.positions] for name in ("source", "question")]
    assert chats(sessions, *columns).tolist() == [is_chat] * len(sources)


def test_a_long_neighbour_does_not_outweigh_a_row_by_its_length() -> None:
    at = MEMORY.created_at
    told = [
        replace(MEMORY, id="id-1", conversation="c", content="oslo " + "filler " * 400),
        replace(MEMORY, id="id-2", conversation="c", content="oslo", created_at=at + timedelta(1)),
        replace(MEMORY, id="id-3", conversation="d", content="oslo", created_at=at + timedelta(2)),
    ]
    parts = [Part(segment(told), np.ones(3, np.bool_))]
    sessions, ids = _sessions(parts, tail=False), _ids(parts)
    matches = keyword_scores(query_terms("oslo"), corpus_of(parts)).matches
    scores = window_scores(matches, _windows(parts, sessions)).tolist()
    found = {ids[p]: s for p, s in zip(sessions.positions.tolist(), scores, strict=True)}
    assert found["id-2"] == pytest.approx(found["id-3"], rel=0.15)
