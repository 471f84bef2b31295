"""Two hundred distinct facts through many sleeps: none is lost, and how they came in makes no difference (B76).

Here with fewer sleeps; `make long-sleeps` runs all sixty.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from lodestore.domain.identity import id_from_content
from lodestore.format import keys
from lodestore.services import consolidating
from tests.services.index_truth import in_memory
from tests.services.world import Instance, World
from tests.stores.memory_store import Contents
from tests.unit.retrieval.twin_pairs import twins

SLEEPS = int(os.environ.get("SLEEPS", "4"))
FACTS = 200
PINNED = 20
LANGUAGES = ("english", "chinese", "korean", "arabic")
# Said again in the same words, so that there is something to merge at every sleep.
AGAIN = 40


def facts() -> list[str]:
    """Fifty of each language: near twins that differ in one value, and subject and object swapped."""
    found: list[str] = []
    for language in LANGUAGES:
        pairs = [pair for pair in twins() if pair.language == language]
        found += [text for pair in pairs for text in (pair.one, pair.other)][: FACTS // len(LANGUAGES)]
    return found


def again(number: int, text: str) -> str:
    """The same words, typed in another way."""
    return f"{text}  " if number % 2 else f" {text}"


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    yield world
    world.close()


def tell(acme: Instance, batch: Sequence[tuple[int, str]]) -> None:
    """Each fact; the first of them pinned, and some of the rest said again under an id of their own."""
    for number, text in batch:
        acme.stored(text, pinned=number < PINNED)
        if PINNED <= number < PINNED + AGAIN:
            acme.stored(again(number, text), id=f"again-{number}")


def slept(world: World, batch: int, *, shuffled: bool, sleeps: int) -> None:
    order = list(enumerate(facts()))
    if shuffled:
        Random(7).shuffle(order)
    told = 0
    for _ in range(sleeps):
        if told < len(order):
            tell(world.instance(), order[told : told + max(batch, len(order) // sleeps + 1)])
            told += max(batch, len(order) // sleeps + 1)
        assert world.instance().lodestore.sleeping.run("acme").report.complete
        world.clock.advance(timedelta(days=1))
    assert told >= len(order)


def shown(world: World) -> list[tuple[str, tuple[str, ...]]]:
    """What list_memories shows, each with what it was merged from."""
    acme = world.instance()
    found: list[tuple[str, tuple[str, ...]]] = []
    cursor: object = None
    while True:
        page = acme.call("list_memories", limit=100, cursor=cursor)
        rows = page["memories"]
        assert isinstance(rows, list)
        found += [(row["content"], tuple(acme.get(row["id"])["consolidated_from"])) for row in rows]  # type: ignore[arg-type]
        cursor = page.get("next_cursor")
        if cursor is None:
            return sorted(found)


def recalled(acme: Instance, text: str) -> set[str]:
    """What recall shows for the text, those that it names as similar to a hit included, with single blanks."""
    hits = acme.call("recall", query=text, mode="exploratory", limit=50)["hits"]
    assert isinstance(hits, list)
    similar = [acme.get(memory_id)["content"] for hit in hits for memory_id in hit["similar"]]
    return {" ".join(str(content).split()) for content in [*similar, *(hit["content"] for hit in hits)]}


@pytest.mark.case("B75", "B76")
@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_every_fact_is_recalled_every_removal_is_undone_and_no_pinned_one_is_touched(world: World) -> None:
    slept(world, FACTS, shuffled=False, sleeps=SLEEPS)
    acme = world.instance()
    texts = facts()
    assert len(texts) == len(set(texts)) == FACTS
    for text in texts:
        assert " ".join(text.split()) in recalled(acme, text), text
    merged = [(content, members) for content, members in shown(world) if members]
    assert len(merged) == AGAIN
    assert len(shown(world)) == FACTS
    for number, text in enumerate(texts[:PINNED]):
        memory = acme.get(id_from_content(text, None, 0))
        assert (memory["version"], memory["status"], memory["pinned"]) == (1, "active", True), number
    undo = [
        e.key.rpartition("/")[2].removesuffix(".json")
        for p in world.index.inner.list(keys.undo_of("acme"))
        for e in p.entries
    ]
    for undo_id in undo:
        acme.call("undo", id=undo_id)
    assert len(shown(world)) == FACTS + AGAIN
    assert world.instance().lodestore.sleeping.run("acme").report.complete
    assert len(shown(world)) == FACTS + AGAIN


@pytest.mark.case("B76")
def test_batches_of_one_ten_and_a_thousand_and_any_order_give_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for batch, shuffled in ((1, False), (10, True), (1_000, False), (1_000, True)):
        monkeypatch.setattr(consolidating, "RUN_GROUPS", batch)
        world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
        slept(world, 1, shuffled=shuffled, sleeps=max(SLEEPS, 3))
        for _ in range(AGAIN if batch == 1 else AGAIN // 10 if batch == 10 else 1):
            world.instance().lodestore.sleeping.run("acme", ("index", "consolidate"))
        results.append(shown(world))
        world.close()
    assert all(result == results[0] for result in results)
