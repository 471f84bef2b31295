"""What a merge must not change: the newest statement, what a person decided, and what anyone forgot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.services.upkeep_steps import CONSOLIDATE, EVERYTHING, INDEX
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


@pytest.mark.promise("P-REVERSIBLE-SLEEP", "P-SILENT-NEVER")
def test_undo_after_a_person_wrote_another_text_there_shows_the_originals_and_keeps_the_text(
    world: World, acme: Instance
) -> None:
    one, other, made = merged(world, acme)
    acme.call("update_memory", id=made, content=NINE)
    assert acme.call("undo", id=made)["restored"] == sorted([one, other])
    for _ in range(2):
        assert set(world.instance().listed()) == {one, other, made}
        sleep(world, *EVERYTHING)
    acme.call("forget", id=one)
    assert acme.call("undo", id=made)["restored"] == [other]
    acme.call("forget", id=other)
    assert acme.error("undo", id=made)["error"] == "not_found"


@pytest.mark.promise("P-READ-YOUR-WRITES", "P-DURABLE")
def test_what_is_said_again_is_found_where_the_merged_one_says_something_else_or_is_superseded(
    world: World, acme: Instance
) -> None:
    one, _, made = merged(world, acme)
    assert acme.remember(FIVE)["status"] == "already_known"
    acme.call("update_memory", id=made, content=NINE)
    again = acme.remember(FIVE)
    assert again["status"] == "stored"
    assert again["id"] != one
    assert any("5" in hit for hit in acme.hits("timeout seconds", mode="exploratory"))
    assert acme.remember(FIVE)["status"] == "already_known"


def test_what_is_said_again_after_the_merged_one_was_superseded_is_found(
    world: World, acme: Instance
) -> None:
    _, _, made = merged(world, acme)
    acme.stored(NINE, supersedes=[made])
    assert acme.remember(FIVE)["status"] == "stored"
    sleep(world)
    assert any("5" in hit for hit in acme.hits("timeout seconds", mode="exploratory"))


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("how", ["forget", "tag"])
def test_what_a_merged_memory_was_made_of_stays_superseded_with_it(
    world: World, acme: Instance, how: str
) -> None:
    one, other, made = merged(world, acme)
    new = acme.stored(NINE, supersedes=[made])
    assert set(acme.get(new)["supersedes"]) == {one, other, made}  # type: ignore[call-overload]
    if how == "forget":
        acme.call("forget", id=one)
    else:
        acme.call("update_memory", id=one, tags=["net"])
    for _ in range(2):
        assert world.instance().listed() == [new]
        sleep(world, *EVERYTHING)


@pytest.mark.promise("P-REVERSIBLE-SLEEP", "P-NO-LOST-UPDATE")
def test_what_a_person_set_in_a_merged_memory_stays_when_a_member_changes_or_is_said_again(
    world: World, acme: Instance
) -> None:
    one, other, made = merged(world, acme)
    acme.call("update_memory", id=made, pinned=True, metadata={"owner": "Nora"})
    assert acme.remember(FIVE, tags=["net"])["id"] == made
    acme.call("update_memory", id=other, tags=["old"])
    for _ in range(2):
        assert world.instance().listed() == [made]
        found = acme.get(made)
        assert (found["pinned"], found["metadata"], found["tags"]) == (True, {"owner": "Nora"}, ["net"])
        sleep(world, *EVERYTHING)
    assert acme.call("undo", id=made)["restored"] == sorted([one, other])
    assert set(world.instance().listed()) == {one, other}


@pytest.mark.promise("P-FORGOTTEN", "P-NO-LOST-UPDATE")
def test_a_member_that_is_forgotten_takes_the_merged_words_and_leaves_what_a_person_set_to_another(
    world: World, acme: Instance
) -> None:
    one, other = acme.stored(FIVE, tags=["secret"]), acme.stored(AGAIN)
    sleep(world)
    (made,) = acme.listed()
    acme.call("update_memory", id=made, pinned=True, tags=["secret", "net"])
    acme.call("forget", id=one)
    assert world.instance().listed() == [other]
    world.clock.advance(DAY)
    acme.remember(FIVE, id=one, metadata={"said": "anew"})
    assert set(world.instance().listed()) == {one, other}
    acme.call("forget", id=one)
    sleep(world)
    found = acme.get(other)
    assert (found["pinned"], found["tags"]) == (True, ["net"])
    assert world.instance().listed() == [other]


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("how", ["chain", "undo", "forget"])
def test_erasing_a_memory_takes_its_words_from_all_that_was_ever_merged_from_it(
    world: World, acme: Instance, how: str
) -> None:
    one, _, made = merged(world, acme, "Note: the zebra office is in Oslo.", "The zebra office is in Oslo.")
    if how == "chain":
        acme.stored("the zebra office is in Oslo")
        sleep(world)
    elif how == "undo":
        acme.call("undo", id=made)
    else:
        acme.call("forget", id=one)
        sleep(world)
    assert acme.lodestore.erasing_memory.run("acme", one).gone
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert [path for path in files if b"Note: the zebra" in path.read_bytes()] == []


@pytest.mark.promise("P-FORGOTTEN")
def test_words_of_a_forgotten_member_leave_the_history_of_what_they_were_merged_into(
    world: World, acme: Instance
) -> None:
    one, other, made = merged(world, acme, "The zebra timeout is 5.", "the zebra timeout is 5.")
    then = world.clock.now().isoformat()
    world.clock.advance(DAY)
    acme.call("update_memory", id=made, content="The pause is 9 seconds.")
    assert "zebra" in str(acme.call("get_memory", id=made, history=True))
    acme.call("forget", id=one)
    acme.call("forget", id=other)
    assert "zebra" not in str(acme.call("get_memory", id=made, history=True))
    assert "zebra" not in str(acme.call("recall", query="pause 9 seconds", as_of=then))
    for _ in range(2):
        world.clock.advance(timedelta(hours=30))
        sleep(world, *EVERYTHING)
    held = [path for path in world.folder.rglob("*") if path.is_file() and b"zebra" in path.read_bytes()]
    assert held == []
