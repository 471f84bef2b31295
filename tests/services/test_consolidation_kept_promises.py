"""What a merge must not change: the newest statement, what a person decided, and what anyone forgot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.services.upkeep_steps import CONSOLIDATE, INDEX
from tests.services.world import Instance, World

FIVE, AGAIN = "The timeout is 5 seconds.", "the timeout is 5 seconds"
NINE = "The timeout is 9 seconds."
DAY = timedelta(days=1)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder, "on")
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def sleep(world: World, *steps: str) -> None:
    world.instance().lodestore.sleeping.run("acme", steps or (INDEX, CONSOLIDATE))


def merged(world: World, acme: Instance, one: str = FIVE, other: str = AGAIN) -> tuple[str, str, str]:
    """The ids of two members, said a day apart, and of what they became."""
    ids = [acme.stored(one)]
    world.clock.advance(DAY)
    ids.append(acme.stored(other))
    sleep(world)
    (made,) = set(acme.listed()) - set(ids)
    assert not set(ids).intersection(acme.listed())
    return ids[0], ids[1], made


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_what_was_said_again_stays_the_newest_statement_once_it_is_merged(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Berlin.")
    world.clock.advance(60 * DAY)
    paris = acme.stored("The office is in Paris.")
    world.clock.advance(60 * DAY)
    acme.stored("The office is in Berlin")
    sleep(world)
    assert "Berlin" in acme.hits("Where is the office?")[0]
    assert "Berlin" in acme.hits("office Berlin", since="2026-06-01")[0]
    proposals = acme.call("list_proposals")["proposals"]
    assert isinstance(proposals, list)
    assert [one["keeps"] == paris for one in proposals] == [False]
