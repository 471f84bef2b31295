"""Restoring what was forgotten, within the window and not after."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.caller import Role
from tests.services.index_truth import indexed, shown_by_index, truth_of
from tests.services.world import Instance, World

WINDOW = timedelta(hours=24)


@pytest.fixture(params=["off", "on"])
def world(folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(folder, request.param)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


@pytest.mark.promise("P-FORGOTTEN")
def test_within_the_window_the_last_state_comes_back_for_every_reader(world: World, acme: Instance) -> None:
    badge = acme.stored("the badge is 4470", tags=["door"])
    acme.call("update_memory", id=badge, content="the badge is 4471")
    acme.call("forget", id=badge)
    world.clock.advance(WINDOW - timedelta(minutes=1))
    assert acme.call("restore_memory", id=badge)["restored"] is True
    other = world.instance()
    assert other.hits("badge") == ["the badge is 4471"]
    assert other.get(badge)["tags"] == ["door"]
    assert acme.error("restore_memory", id="nothing")["error"] == "not_found"
    world.instance().lodestore.rebuilding.run("acme")
    indexed(world)
    assert shown_by_index(world) == truth_of(world)
    assert world.instance().hits("badge") == ["the badge is 4471"]


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("purged", [False, True])
def test_after_the_window_nothing_comes_back(world: World, acme: Instance, purged: bool) -> None:
    badge = acme.stored("the badge is 4471")
    acme.call("forget", id=badge)
    world.clock.advance(WINDOW)
    if purged:
        world.instance().lodestore.sleeping.run("acme")
    assert acme.error("restore_memory", id=badge)["error"] == "not_found"
    assert world.instance().hits("badge") == []


def test_what_expired_comes_back_without_its_expiry(world: World, acme: Instance) -> None:
    badge = acme.stored("the badge is 4471", ttl_days=1 / 1440)
    world.clock.advance(timedelta(minutes=2))
    world.instance().lodestore.sleeping.run("acme")
    answer = acme.call("restore_memory", id=badge)
    assert answer["changed"] == ["expires_at"]
    assert acme.get(badge)["expires_at"] is None
    assert acme.hits("badge") == ["the badge is 4471"]


def test_a_memory_whose_successor_was_forgotten_is_shown_again(world: World, acme: Instance) -> None:
    old = acme.stored("the office is in Oslo")
    new = acme.stored("the office is in Bergen", supersedes=[old])
    assert acme.error("restore_memory", id=old)["error"] == "conflict"
    acme.call("forget", id=new)
    assert acme.hits("office") == []
    assert acme.call("restore_memory", id=old)["restored"] is True
    assert world.instance().hits("office") == ["the office is in Oslo"]
    world.instance().lodestore.rebuilding.run("acme")
    assert world.instance().hits("office") == ["the office is in Oslo"]


@pytest.mark.promise("P-TENANT")
def test_a_note_of_another_conversation_and_another_tenants_memory_are_unknown(world: World) -> None:
    one = world.instance("acme", conversation="one")
    note = one.stored("the badge is 4471", scope="conversation")
    one.call("forget", id=note)
    for other in (world.instance("acme", conversation="two"), world.instance("acme-corp")):
        assert other.error("restore_memory", id=note)["error"] == "not_found"
    assert (
        world.instance("acme", conversation="one", role=Role.WRITER).error("restore_memory", id=note)["error"]
        == "forbidden"
    )
