"""Lists that do not stop, and statistics that are exact."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.faults.hostile_store import Fault, on
from tests.services.world import Instance, World, rows


def walk(instance: Instance, **arguments: object) -> list[str]:
    seen: list[str] = []
    cursor: object = None
    while True:
        answer = instance.call("list_memories", **arguments, **({"cursor": cursor} if cursor else {}))
        seen += [str(row["id"]) for row in rows(answer, "memories")]
        cursor = answer.get("next_cursor")
        if cursor is None:
            return seen


@pytest.mark.case("B37")
def test_a_walk_meets_every_memory_once_while_one_is_added(world: World, acme: Instance) -> None:
    ids = []
    for number in range(137):
        ids.append(acme.stored(f"Memory number {number}"))
        if number % 3:
            world.clock.advance(timedelta(milliseconds=1))
    first = acme.call("list_memories", limit=10)
    assert first["total"] == 137
    world.clock.advance(timedelta(seconds=1))
    late = acme.stored("One more in the middle of the walk")
    seen = [str(row["id"]) for row in rows(first, "memories")]
    cursor = first["next_cursor"]
    while cursor is not None:
        page = acme.call("list_memories", limit=10, cursor=cursor)
        assert page["total"] == 138
        seen += [str(row["id"]) for row in rows(page, "memories")]
        cursor = page.get("next_cursor")
    assert sorted(seen) == sorted(ids)
    assert late not in seen
    assert sorted(walk(acme, limit=100)) == sorted([*ids, late])


def test_newest_first_then_id_descending(world: World, acme: Instance) -> None:
    same = sorted(acme.stored(f"At the same moment {number}") for number in range(4))
    world.clock.advance(timedelta(seconds=1))
    newest = acme.stored("Later")
    assert acme.listed() == [newest, *reversed(same)]


def test_most_important_first(acme: Instance) -> None:
    low = acme.stored("Low", importance=0.1)
    high = acme.stored("High", importance=0.9)
    middle = acme.stored("Middle")
    assert acme.listed(sort="important") == [high, middle, low]
    assert walk(acme, sort="important", limit=1) == [high, middle, low]


@pytest.mark.case("B38")
@pytest.mark.parametrize("limit", [0, -1, 1_000_000, "abc", 1.5, True, "NaN", [1]])
@pytest.mark.parametrize(("tool", "others"), [("list_memories", {}), ("recall", {"query": "x"})])
def test_a_limit_out_of_range_is_refused_by_name(
    acme: Instance, tool: str, others: dict[str, object], limit: object
) -> None:
    error = acme.error(tool, limit=limit, **others)
    assert (error["error"], error["field"]) == ("invalid_argument", "limit")
    assert "1 to" in str(error["limit"])


@pytest.mark.case("B38")
@pytest.mark.promise("P-TENANT")
def test_a_cursor_of_another_list_is_refused(world: World) -> None:
    here = world.instance("acme", conversation="chat-1")
    for number in range(3):
        here.stored(f"Memory {number}")
        world.instance("zephyr").stored(f"Memory {number}")
    cursor = here.call("list_memories", limit=1)["next_cursor"]
    assert here.call("list_memories", limit=1, cursor=cursor)["total"] == 3
    others: list[tuple[Instance, dict[str, object]]] = [
        (world.instance("zephyr"), {}),
        (world.instance("acme"), {}),
        (world.instance("acme", conversation="chat-2"), {}),
        (here, {"tags": ["x"]}),
        (here, {"sort": "important"}),
        (here, {"status": "all"}),
    ]
    for instance, arguments in others:
        error = instance.error("list_memories", cursor=cursor, **arguments)
        assert (error["error"], error["field"]) == ("invalid_argument", "cursor")


@pytest.mark.parametrize("garbage", ["x", "äöü", "W10=", "bm90IGpzb24=", "x" * 5000])
def test_a_garbage_cursor_is_refused(acme: Instance, garbage: str) -> None:
    assert acme.error("list_memories", cursor=garbage)["field"] == "cursor"


def test_filters_of_a_list_are_those_of_recall(acme: Instance) -> None:
    wanted = acme.stored("One", tags=["a", "b"], category="c", type="decision")
    acme.stored("Two", tags=["a"])
    assert acme.listed(tags=["a", "b"]) == [wanted]
    assert acme.listed(category="c") == [wanted]
    assert acme.listed(type="decision") == [wanted]
    assert acme.call("list_memories", tags="a")["total"] == 2
    assert acme.error("list_memories", colour="red")["field"] == "colour"
    assert acme.error("list_memories", since="2026-01-02", until="2026-01-02")["field"] == "until"


def test_large_metadata_makes_shorter_pages_and_loses_nothing(acme: Instance) -> None:
    ids = [acme.stored(f"Memory {number}", metadata={"blob": "x" * 3000}) for number in range(30)]
    page = acme.call("list_memories", limit=100)
    assert 1 <= len(rows(page, "memories")) < 30
    assert page["total"] == 30
    assert sorted(walk(acme, limit=100)) == sorted(ids)


def test_statistics_are_exact_and_only_of_what_the_caller_sees(world: World) -> None:
    one = world.instance(conversation="chat-1")
    other = world.instance(conversation="chat-2")
    world.instance("zephyr").stored("Foreign")
    old = one.stored("The office is in Oslo")
    one.stored("The office is in Bergen", supersedes=[old], type="decision")
    one.stored("Expires soon", ttl_days=1)
    one.stored("Private", scope="conversation")
    forgotten = one.stored("Gone")
    one.call("forget", id=forgotten)
    world.clock.advance(timedelta(days=2))
    mine, theirs = one.call("memory_stats"), other.call("memory_stats")
    assert (mine["total"], mine["superseded"], mine["expired"]) == (2, 1, 1)
    assert mine["by_type"] == {"fact": 1, "decision": 1}
    assert (theirs["total"], theirs["by_type"]) == (1, {"decision": 1})
    if world.indexing == "off":
        assert (mine["pending"], theirs["pending"]) == (4, 3)
    if world.indexing == "on":
        assert (mine["pending"], theirs["pending"]) == (0, 0)
        assert (mine["index"]["documents"], theirs["index"]["documents"]) == (4, 3)  # type: ignore[index]
    assert mine["embeddings_missing"] == 0
    assert mine["limits"]["content"] == 32_000  # type: ignore[index]


@pytest.mark.case("B80")
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_write_that_fails_is_an_error_and_one_that_is_not_indexed_is_in_the_backlog(
    world: World, acme: Instance
) -> None:
    world.state.inject(on(Fault.UNAVAILABLE, "create", times=None))
    error = acme.error("remember", content="Never stored")
    assert (error["error"], error["written"]) == ("unavailable", False)
    world.state.heal()
    assert acme.listed() == []
    acme.stored("Stored and not indexed")
    assert acme.hits("indexed") == ["Stored and not indexed"]
    if world.indexing == "off":
        assert acme.call("memory_stats")["pending"] == 1
