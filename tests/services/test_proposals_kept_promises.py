"""What proposals must not keep, block or say: forgotten words, room for new ones, contradictions of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.services import proposals
from lodestore.services.upkeep_steps import CONSOLIDATE, EVERYTHING, INDEX, REVIEW
from tests.language_models.scripted import Scripted, same, verdict
from tests.services.world import Answer, Instance, World

FIVE = "The timeout is 5 seconds."
STANDS = "The team moved the release to Friday."
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
    world.instance().lodestore.sleeping.run("acme", steps or (INDEX, CONSOLIDATE, REVIEW))


def listed(acme: Instance, status: str = "pending") -> list[Answer]:
    found = acme.call("list_proposals", status=status)["proposals"]
    assert isinstance(found, list)
    return found


@pytest.mark.promise("P-FORGOTTEN")
def test_an_accepted_text_leaves_its_proposal_once_what_it_became_says_something_else_or_is_forgotten(
    world: World, acme: Instance
) -> None:
    acme.stored("The team has moved the release to Friday.")
    world.clock.advance(DAY)
    acme.stored("The release was shifted to Friday by the team.")
    world.model = Scripted(same(STANDS))
    sleep(world)
    (one,) = listed(acme)
    acme.call("decide_proposal", id=one["id"], accept=True)
    world.model = None
    sleep(world, *EVERYTHING)
    assert listed(acme, "all")[0]["text"] == STANDS
    acme.call("update_memory", id=one["id"], content="The team moved everything to Monday.")
    acme.call("forget", id=one["id"])
    sleep(world, *EVERYTHING)
    assert listed(acme, "all")[0]["text"] is None


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_proposal_that_can_not_be_carried_out_is_refused_before_it_is_decided(
    world: World, acme: Instance
) -> None:
    for number in range(40):
        acme.stored(FIVE, id=f"o{number:02}")
    sleep(world)
    world.clock.advance(DAY)
    acme.stored("The timeout is 9 seconds.", valid_from="2020-01-01")
    sleep(world)
    (one,) = listed(acme)
    refused = acme.error("decide_proposal", id=one["id"], accept=True)
    assert (refused["error"], refused["field"], refused["limit"]) == ("too_large", "id", 32)
    assert listed(acme)[0]["status"] == "pending"
    assert acme.call("decide_proposal", id=one["id"], accept=False)["status"] == "declined"


@pytest.mark.promise("P-SILENT-NEVER", "P-BOUNDED")
def test_lapsed_proposals_make_room_for_new_ones(
    world: World, acme: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals, "PER_TENANT", 2)
    acme.stored(FIVE)
    world.clock.advance(DAY)
    newer = acme.stored("The timeout is 9 seconds.")
    for seconds in range(10, 14):
        sleep(world)
        world.clock.advance(DAY)
        acme.call("update_memory", id=newer, content=f"The timeout is {seconds} seconds.")
        sleep(world, *EVERYTHING)
    assert len(listed(acme)) == 1
    assert len(listed(acme, "all")) == 2


def test_a_contradiction_whose_subject_is_a_letter_of_both_is_refused(world: World, acme: Instance) -> None:
    acme.stored("The office dog sleeps under the desk.")
    world.clock.advance(DAY)
    acme.stored("The office cat sleeps on the desk.")
    world.model = Scripted(lambda question: verdict(question.text, "contradicts", subject="e"))
    sleep(world)
    assert listed(acme) == []
