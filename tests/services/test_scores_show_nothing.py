"""Scores come from what the caller may see: not a digit of one depends on anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.world import Answer, World, rows

NOTES = 6


def _scores(world: World) -> list[Answer]:
    """Two terms, one in each memory: how rare each is among the caller's own decides between them."""
    answer = world.instance(conversation="chat-2").call(
        "recall", query="walrus harbour", mode="exploratory", explain=True
    )
    return [{name: hit[name] for name in ("id", "score", "explain")} for hit in rows(answer, "hits")]


def _seen_by_all(world: World) -> None:
    for memory_id, content in (
        ("zoo", "A walrus in the zoo"),
        ("oslo", "The harbour of Oslo, and the old harbour"),
    ):
        world.instance(conversation="chat-2").stored(content, id=memory_id)


@pytest.mark.case("B24")
@pytest.mark.promise("P-TENANT")
def test_notes_of_another_conversation_change_no_score(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = World(Path(tmp_path_factory.mktemp("empty")), world.indexing)
    for one in (empty, world):
        _seen_by_all(one)
    alone = _scores(empty)
    empty.close()
    assert len(alone) == 2
    for number in range(NOTES):
        world.instance(conversation="chat-1").stored(f"My walrus {number}", scope="conversation")
    assert _scores(world) == alone


@pytest.mark.promise("P-TENANT")
def test_expired_and_superseded_memories_change_no_score(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = World(Path(tmp_path_factory.mktemp("empty")), world.indexing)
    for one in (empty, world):
        _seen_by_all(one)
    writer = world.instance(conversation="chat-2")
    for number in range(NOTES):
        writer.stored(f"Lost walrus {number}", expires_at="2026-03-09T02:00:00Z")
    for one in (empty, world):
        one.clock.pause(3_600)
    alone = _scores(empty)
    empty.close()
    assert _scores(world) == alone
