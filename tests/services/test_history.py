"""What memories said before: one memory's history, and the answer to a question about an earlier time.

Over a folder and over versioned S3, which keep old versions each in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.format import keys
from lodestore.ports.object_store import Found, Won
from lodestore.services.old_versions import VERSIONS_READ_FOR_A_HIT
from tests.services.index_truth import indexed
from tests.services.world import Instance, World, rows
from tests.stores.kinds import making

DAY = timedelta(days=1)
WINDOW = timedelta(hours=24)


@pytest.fixture(params=["folder", "moto"])
def world(folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(folder)
    with making(request.param, request, folder) as make:
        world.state.inner, world.index.inner = make(versioned=True), make()
        yield world
        world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def moved(world: World, acme: Instance) -> str:
    """An office that was in three places, ten days each: at 9, 19 and 29 March."""
    office = acme.stored("the office is in Oslo", tags=["north"])
    for place in ("Bergen", "Trondheim"):
        world.clock.advance(10 * DAY)
        acme.call("update_memory", id=office, content=f"the office is in {place}", tags=["west"])
    return office


def then(acme: Instance, as_of: str, **arguments: object) -> list[tuple[object, object]]:
    """The contents found, and whether they were changed since."""
    answer = acme.call("recall", query="office", as_of=as_of, **arguments)
    return [(hit["content"], hit.get("changed_since")) for hit in rows(answer, "hits")]


def test_as_of_shows_the_version_of_that_time(world: World, acme: Instance) -> None:
    moved(world, acme)
    indexed(world)
    for instance in (acme, world.instance()):
        assert then(instance, "2026-03-10") == [("the office is in Oslo", None)]
        assert then(instance, "2026-03-20") == [("the office is in Bergen", None)]
        assert then(instance, "2026-04-20") == [("the office is in Trondheim", None)]
        assert then(instance, "2026-03-01") == []
        assert instance.hits("office") == ["the office is in Trondheim"]
    (hit,) = rows(acme.call("recall", query="office", as_of="2026-03-10"), "hits")
    assert (hit["version"], hit["tags"]) == (1, ["north"])


def test_a_filter_holds_for_the_version_that_is_shown(world: World, acme: Instance) -> None:
    moved(world, acme)
    assert then(acme, "2026-03-10", tags=["west"]) == []
    assert then(acme, "2026-03-20", tags=["west"]) == [("the office is in Bergen", None)]


def test_where_the_version_of_that_time_is_not_kept_todays_comes_and_says_so(
    world: World, acme: Instance
) -> None:
    office = moved(world, acme)
    for version in list(world.state.inner.versions(keys.memory("acme", office))):
        if not version.latest:
            world.state.inner.delete_version(version.key, version.version_id)
    assert then(acme, "2026-03-10") == [("the office is in Trondheim", "2026-03-29T01:30:00.000Z")]


def test_of_a_memory_that_was_updated_often_todays_comes_and_says_so(world: World, acme: Instance) -> None:
    office = acme.stored("the office is in Oslo")
    for number in range(VERSIONS_READ_FOR_A_HIT + 1):
        world.clock.advance(DAY)
        acme.call("update_memory", id=office, content=f"the office is on floor {number}")
    ((content, since),) = then(acme, "2026-03-09T02:00:00Z")
    assert content == f"the office is on floor {VERSIONS_READ_FOR_A_HIT}"
    assert since is not None


@pytest.mark.promise("P-FORGOTTEN")
def test_what_was_forgotten_is_in_no_time_and_in_no_history(world: World, acme: Instance) -> None:
    acme.stored("the office is in Oslo", id="office")
    world.clock.advance(10 * DAY)
    acme.call("update_memory", id="office", content="the office is in Bergen")
    acme.call("forget", id="office")
    assert then(acme, "2026-03-10") == then(acme, "2026-04-20") == []
    world.clock.advance(DAY)
    acme.stored("the office is in Trondheim", id="office", valid_from="2026-03-09")
    acme.call("update_memory", id="office", content="the office is in central Trondheim")
    history = rows(acme.call("get_memory", id="office", history=True), "history")
    assert [(row["version"], row["content"]) for row in history] == [
        (2, "the office is in central Trondheim"),
        (1, "the office is in Trondheim"),
    ]
    assert [content for content, _ in then(acme, "2026-03-10")] == ["the office is in central Trondheim"]


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("old", [b'"acme"', b'"schema": 1,', b"{"])
def test_an_old_version_that_is_no_record_of_this_memory_ends_its_history(
    world: World, acme: Instance, old: bytes
) -> None:
    new = {b'"acme"': b'"acme-corp"', b'"schema": 1,': b'"schema": 99,', b"{": b""}[old]
    office = acme.stored("the office is in Oslo")
    key = keys.memory("acme", office)
    found = world.state.inner.get(key)
    assert isinstance(found, Found)
    bad = found.body.replace(old, new)
    assert bad != found.body
    for body in (bad, found.body):
        standing = world.state.inner.get(key)
        assert isinstance(standing, Found)
        assert isinstance(world.state.inner.replace(key, body, expected=standing.etag), Won)
    world.clock.advance(10 * DAY)
    acme.call("update_memory", id=office, content="the office is in Bergen")
    history = rows(acme.call("get_memory", id=office, history=True), "history")
    assert [row["content"] for row in history] == ["the office is in Bergen", "the office is in Oslo"]
    assert then(acme, "2026-03-10") == [("the office is in Oslo", None)]


def test_history_names_what_each_version_changed(world: World, acme: Instance) -> None:
    office = moved(world, acme)
    acme.stored("the office has moved", supersedes=[office])
    history = rows(acme.call("get_memory", id=office, history=True), "history")
    assert [(row["version"], row["content"], row["updated_at"]) for row in history] == [
        (3, "the office is in Trondheim", "2026-03-29T01:30:00.000Z"),
        (2, "the office is in Bergen", "2026-03-19T01:30:00.000Z"),
        (1, "the office is in Oslo", "2026-03-09T01:30:00.000Z"),
    ]
    changes = [set(row["change"]) for row in history]  # type: ignore[call-overload]
    assert changes == [{"content", "superseded_by"}, {"content", "tags"}, {"stored"}]
    assert rows(acme.call("get_memory", id=office), "history") == []


@pytest.mark.promise("P-FORGOTTEN")
def test_restored_within_the_window_and_not_after(world: World, acme: Instance) -> None:
    office = moved(world, acme)
    acme.call("forget", id=office)
    world.clock.advance(WINDOW - timedelta(minutes=1))
    assert acme.call("restore_memory", id=office)["restored"] is True
    assert world.instance().hits("office") == ["the office is in Trondheim"]
    acme.call("forget", id=office)
    world.clock.advance(WINDOW)
    assert acme.error("restore_memory", id=office)["error"] == "not_found"
