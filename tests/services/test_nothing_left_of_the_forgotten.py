"""After maintenance and the window no byte of what was forgotten is anywhere, in a folder and in versioned S3.

The text goes everywhere that a text can go: versions, the index, proposals with words, an undo record, notes of
feedback, reports, the history of what took its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.services.upkeep_steps import PRUNE
from tests.services.index_truth import indexed
from tests.services.test_erasing import everything
from tests.services.world import Instance, World, rows
from tests.stores.kinds import making

WORD = "XYZZYPLUGH"
WINDOW = timedelta(hours=24)
POLICY = {"PRUNE": json.dumps([{"name": "stale", "older_than_days": 0.01}])}


@pytest.fixture(params=["folder", "moto"])
def world(folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(folder)
    with making(request.param, request, folder) as make:
        world.state.inner, world.index.inner = make(versioned=True), make()
        yield world
        world.close()


def said_everywhere(world: World, acme: Instance) -> tuple[str, str]:
    """A memory that says the word in every way there is, and one that stays; the ids of both."""
    old = acme.stored(f"the word was {WORD}-1", tags=[f"{WORD}-tag"], source=f"{WORD}-source")
    acme.call("update_memory", id=old, content=f"the word is {WORD}-2", metadata={"of": f"{WORD}-metadata"})
    kept = acme.stored("the office is in Oslo")
    acme.call("memory_feedback", id=old, useful=True, note=f"{WORD}-note helped")
    world.clock.advance(timedelta(hours=1))
    indexed(world)
    world.instance(variables=POLICY).lodestore.sleeping.run("acme", (PRUNE,))
    for proposal in rows(acme.call("list_proposals"), "proposals"):
        accept = old in str(proposal["members"])
        acme.call("decide_proposal", id=proposal["id"], accept=accept, note=f"{WORD}-reason")
    assert acme.error("get_memory", id=old)["error"] == "not_found"
    return old, kept


@pytest.mark.case("B02")
@pytest.mark.promise("P-FORGOTTEN")
def test_no_byte_of_what_was_forgotten_is_left_after_the_window(world: World) -> None:
    acme = world.instance("acme")
    old, kept = said_everywhere(world, acme)
    acme.call("update_memory", id=kept, content="the office is in Bergen")
    for _ in range(2):
        world.instance().lodestore.sleeping.run("acme")
    assert WORD.encode() in everything(world)
    world.clock.advance(WINDOW)
    for _ in range(2):
        assert world.instance().lodestore.sleeping.run("acme").report.complete
        world.clock.advance(timedelta(hours=2))
    left = everything(world)
    assert [at for at in range(len(left)) if left.startswith(WORD.encode(), at)] == []
    assert old.encode() in left
    history = rows(acme.call("get_memory", id=kept, history=True), "history")
    assert [row["content"] for row in history] == ["the office is in Bergen", "the office is in Oslo"]
