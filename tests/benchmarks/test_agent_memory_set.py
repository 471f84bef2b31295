"""The agent memory set is whole, as its README says, and hard for plain keywords."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from benchmarks.quality.agent_memory.memory_set import (
    FOLDER,
    HELD_OUT,
    KINDS,
    TUNE,
    UNANSWERABLE,
    Project,
    Question,
    Stored,
    read_projects,
    tables,
)
from benchmarks.quality.baselines import ranked
from benchmarks.quality.corpus import Asked, Corpus, Item
from lodestore.domain.secrets import scan

TYPES = {"fact", "preference", "instruction", "decision", "observation", "event", "summary", "reflection"}
PUNCTUATION = "?,"


@cache
def projects() -> tuple[Project, ...]:
    return read_projects()


def memories() -> list[Stored]:
    return [memory for project in projects() for memory in project.memories]


def questions() -> list[Question]:
    return [question for project in projects() for question in project.questions]


def test_there_is_as_much_as_was_asked_for() -> None:
    kinds = Counter(question.kind for question in questions())
    assert len(projects()) == 6
    assert len(memories()) >= 440
    assert len(questions()) >= 320
    assert kinds["same-topic-unanswerable"] >= 30
    assert sum(kinds[kind] for kind in UNANSWERABLE) >= 60
    assert kinds["correction"] >= 60
    assert kinds["exact-identifier"] >= 30
    assert set(kinds) == set(KINDS)


def test_keys_and_ids_are_unique_and_no_question_is_asked_twice() -> None:
    everything = [
        [memory.key for memory in memories()],
        [memory.content for memory in memories()],
        [question.id for question in questions()],
        [question.text.casefold() for question in questions()],
    ]
    for names in everything:
        assert [name for name, times in Counter(names).items() if times > 1] == []


@pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)
def test_gold_and_superseded_keys_stand_in_the_same_project(project: Project) -> None:
    written: dict[str, Stored] = {}
    for memory in project.memories:
        assert memory.type in TYPES
        assert memory.valid_from <= memory.created_at
        for key in memory.supersedes:
            assert written[key].created_at < memory.created_at
        written[memory.key] = memory
    replaced = {key for memory in project.memories for key in memory.supersedes}
    for question in project.questions:
        assert question.gold <= set(written) - replaced, question.id
        assert question.superseded == _corrected(question.gold, written), question.id


def test_only_what_is_not_stored_has_no_gold_and_a_correction_names_what_it_corrects() -> None:
    for question in questions():
        assert bool(question.gold) == (question.kind not in UNANSWERABLE), question.id
        if question.kind == "correction":
            assert question.superseded, question.id


def test_an_exact_identifier_stands_in_the_gold_and_nowhere_else() -> None:
    for project in projects():
        for question in project.questions:
            if question.kind != "exact-identifier":
                continue
            words = [word.strip(PUNCTUATION).casefold() for word in question.text.split()]
            holders = [
                {memory.key for memory in project.memories if word in memory.content.casefold()}
                for word in words
            ]
            assert any(held and held <= question.gold for held in holders), question.id


def test_a_question_across_languages_is_in_another_language_than_its_gold() -> None:
    languages = {memory.key: memory.language for memory in memories()}
    for question in questions():
        if question.kind == "cross-language":
            assert question.language not in {languages[key] for key in question.gold}, question.id


def test_the_halves_are_even_within_each_kind() -> None:
    halves = Counter((question.kind, question.half) for question in questions())
    assert {half for _, half in halves} == {TUNE, HELD_OUT}
    assert all(abs(halves[kind, TUNE] - halves[kind, HELD_OUT]) <= 1 for kind in KINDS)


def test_sessions_are_in_order_of_time() -> None:
    last: dict[str, Stored] = {}
    for memory in memories():
        if memory.conversation is not None:
            before = last.get(memory.conversation)
            assert before is None or before.created_at < memory.created_at, memory.key
            last[memory.conversation] = memory


def test_nothing_looks_like_a_secret() -> None:
    told = [(memory.key, memory.content) for memory in memories()]
    told += [(question.id, question.text) for question in questions()]
    assert [name for name, text in told if scan(text)] == []


def test_the_readme_shows_the_counts() -> None:
    shown = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "\n".join(tables(projects())) in shown


def test_plain_keywords_find_at_most_seventy_in_a_hundred_first() -> None:
    hits = [hit for project in projects() for hit in _bm25s_hits(project)]
    assert sum(hits) / len(hits) <= 0.70


def _corrected(keys: frozenset[str], written: dict[str, Stored]) -> set[str]:
    before = {old for key in keys for old in written[key].supersedes}
    return before | _corrected(frozenset(before), written) if before else set()


def _bm25s_hits(project: Project) -> list[bool]:
    asked = tuple(Asked(q.text, q.gold, q.kind, q.superseded) for q in project.questions if q.gold)
    items = tuple(Item(memory.key, memory.content, {}) for memory in project.memories)
    rankings = ranked(Corpus(project.name, items, asked), None)["bm25s"]
    return [
        bool(ranking and ranking[0] & question.gold)
        for ranking, question in zip(rankings, asked, strict=True)
    ]
