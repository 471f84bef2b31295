"""Summaries of old events: proposed by a model alone, and only of what is old and many."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.ports.language_model import Failed
from lodestore.services.old_events import UNTOUCHED
from tests.language_models.scripted import Reaction, Scripted, memories_in, summary
from tests.services.test_reviewing import proposals, review
from tests.services.world import Instance, World

SUMMED = "Nora built and tested the parts of the release."
DAYS = timedelta(days=31)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    world.model = Scripted(summed(SUMMED))
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def summed(text: str) -> Reaction:
    return lambda question: summary(question.text, text)


def event(acme: Instance, number: int, **arguments: object) -> str:
    acme.lodestore.clock.pause(1)
    text = f"Nora built and tested part {number} of the release."
    return acme.stored(text, **{"type": "event", "source": "ci", **arguments})


def events(acme: Instance, count: int, **arguments: object) -> list[str]:
    return [event(acme, number, **arguments) for number in range(count)]


def test_old_events_of_one_session_become_one_summary_once_it_is_accepted_and_the_newest_stay(
    world: World, acme: Instance
) -> None:
    ids = events(acme, 25)
    world.clock.advance(DAYS)
    step = review(world)
    assert (step.counts["summaries_proposed"], step.counts["groups"], step.counts["pairs"]) == (1, 1, 0)
    (proposal,) = proposals(world)
    assert (proposal["kind"], proposal["text"]) == ("summary", SUMMED)
    members = [str(member["id"]) for member in proposal["members"]]  # type: ignore[attr-defined]
    assert sorted(members) == sorted(ids[:-UNTOUCHED])
    assert len(acme.listed(limit=100)) == 25
    acme.call("decide_proposal", id=proposal["id"], accept=True)
    reader = world.instance("acme")
    made = reader.get(str(proposal["id"]))
    assert (made["content"], made["type"], made["source"]) == (SUMMED, "summary", "ci")
    assert set(reader.listed(limit=100)) == {*ids[-UNTOUCHED:], str(proposal["id"])}
    assert review(world).counts["groups"] == 0
    reader.call("undo", id=proposal["id"])
    assert set(world.instance("acme").listed(limit=100)) == set(ids)


def test_the_events_go_to_the_model_oldest_first_with_their_day(world: World, acme: Instance) -> None:
    events(acme, 20)
    world.clock.advance(DAYS)
    assert isinstance(world.model, Scripted)
    review(world)
    (question,) = world.model.questions
    found = memories_in(question)
    assert found == [f"Nora built and tested part {number} of the release." for number in range(10)]
    assert question.text.count("event of 2026-03-09>") == 10


@pytest.mark.parametrize("count", [0, 19])
def test_fewer_than_twenty_old_events_are_left_alone(world: World, acme: Instance, count: int) -> None:
    events(acme, count)
    world.clock.advance(DAYS)
    for number in range(100, 130):
        event(acme, number)
    assert review(world).counts["groups"] == 0


def test_events_that_are_not_thirty_days_old_are_left_alone(world: World, acme: Instance) -> None:
    events(acme, 40)
    world.clock.advance(timedelta(days=29))
    assert review(world).counts["groups"] == 0


def test_pinned_events_and_those_that_expire_or_belong_to_nothing_are_in_no_summary(
    world: World, acme: Instance
) -> None:
    for number in range(30):
        event(acme, number, pinned=True)
        event(acme, 100 + number, ttl_days=100)
        event(acme, 200 + number, source=None)
    world.clock.advance(DAYS)
    assert review(world).counts["groups"] == 0


@pytest.mark.promise("P-TENANT")
def test_notes_of_two_conversations_are_in_no_summary_together(world: World) -> None:
    for name in ("one", "two"):
        chat = world.instance("acme", conversation=name)
        for number in range(15):
            event(chat, number, scope="conversation")
    world.clock.advance(DAYS)
    assert review(world).counts["groups"] == 0


INVENTED = [
    "Nora built the parts of the release and tested 99 of them.",
    "Nora and Tom built the parts of the release.",
    'Nora built the parts of the release "Falcon".',
    "Nora built the parts of the release on Friday.",
    "Nora never built the parts of the release.",
    "",
]


@pytest.mark.parametrize("text", INVENTED)
@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_a_summary_with_a_value_that_no_event_has_is_refused_and_not_asked_for_again(
    world: World, acme: Instance, text: str
) -> None:
    events(acme, 25)
    world.clock.advance(DAYS)
    world.model = model = Scripted(summed(text))
    step = review(world)
    assert (step.counts["refused"], step.counts["summaries_proposed"]) == (1, 0)
    assert proposals(world) == []
    assert review(world).counts["groups"] == 0
    assert len(model.questions) == 1


def test_what_was_declined_is_not_asked_for_again_and_what_failed_by_the_service_is(
    world: World, acme: Instance
) -> None:
    events(acme, 25)
    world.clock.advance(DAYS)
    world.model = Scripted(lambda _: Failed("the model's service: 503", lasting=True))
    assert review(world).status == "failed"
    world.model = model = Scripted(summed(SUMMED))
    review(world)
    (proposal,) = proposals(world)
    acme.call("decide_proposal", id=proposal["id"], accept=False)
    review(world)
    assert len(model.questions) == 1


@pytest.mark.promise("P-FORGOTTEN")
def test_a_summary_goes_with_an_event_that_is_forgotten(world: World, acme: Instance) -> None:
    ids = events(acme, 25)
    world.clock.advance(DAYS)
    review(world)
    (proposal,) = proposals(world)
    acme.call("decide_proposal", id=proposal["id"], accept=True)
    acme.call("forget", id=ids[0])
    assert set(world.instance("acme").listed(limit=100)) == set(ids[1:])


def test_many_events_are_summed_up_in_several_summaries(world: World, acme: Instance) -> None:
    ids = events(acme, 75)
    world.clock.advance(DAYS)
    taken: set[str] = set()
    for expected in (32, 32):
        review(world)
        (proposal,) = proposals(world)
        members = {str(member["id"]) for member in proposal["members"]}  # type: ignore[attr-defined]
        assert len(members) == expected
        assert not members & taken
        taken |= members
        acme.call("decide_proposal", id=proposal["id"], accept=True)
    assert taken == set(ids[:64])
    assert review(world).counts["groups"] == 0


def test_without_a_model_no_summary_is_made_and_the_report_says_so(world: World, acme: Instance) -> None:
    events(acme, 25)
    world.clock.advance(DAYS)
    world.model = None
    step = review(world)
    assert (step.status, "no old events were summed up" in str(step.why)) == ("skipped", True)
