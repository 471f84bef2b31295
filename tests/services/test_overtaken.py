"""A write that landed, whose answer was lost, and over which others wrote before it was looked for.

It is answered with what it wrote itself: taking the newer state for its own would let the next write go over it unseen.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.hostile_store import Fault, Request, on
from tests.services.world import Instance, World


@pytest.fixture
def office(acme: Instance) -> Instance:
    acme.stored("The office is in Oslo", id="office")
    return acme


def lose_the_answer(world: World, operation: str, reads_before: int, meanwhile: Callable[[], object]) -> None:
    """The next write's answer is lost; `meanwhile` happens before the writer looks what became of it."""

    def act(_: Request) -> None:
        world.state.heal()
        meanwhile()

    assert operation in ("create", "replace")
    world.state.inject(
        on(Fault.UNKNOWN_AFTER, "create" if operation == "create" else "replace", "memories/*")
    )
    world.state.inject(on(act, "get", "memories/*", skip=reads_before))


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_an_update_is_answered_with_its_own_version_not_with_a_later_writers(
    world: World, office: Instance
) -> None:
    other = world.instance("acme")
    later: list[dict[str, object]] = []
    lose_the_answer(
        world,
        "replace",
        1,
        lambda: later.append(other.call("update_memory", id="office", source="Nora")),
    )
    answer = office.call("update_memory", id="office", category="places")
    assert (answer["version"], later[0]["version"]) == (2, 3)
    assert str(answer["revision"]) < str(later[0]["revision"])
    refused = office.error("update_memory", id="office", expected_version=answer["version"], source="Olga")
    assert (refused["error"], refused["current_version"]) == ("conflict", 3)
    memory = office.get("office")
    assert (memory["category"], memory["source"], memory["version"]) == ("places", "Nora", 3)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_remember_is_answered_with_what_it_stored_and_says_what_happened_since(
    world: World, acme: Instance
) -> None:
    other = world.instance("acme")
    lose_the_answer(
        world, "create", 0, lambda: other.call("update_memory", id="hall", content="The hall has two plants")
    )
    answer = acme.remember("The hall has a plant", id="hall")
    assert (answer["status"], answer["version"], answer["content"]) == ("stored", 1, "The hall has a plant")
    assert answer["changed_since"] == acme.get("hall")["updated_at"]
    assert acme.hits("hall plants") == ["The hall has two plants"]


@pytest.mark.promise("P-FORGOTTEN")
def test_a_remember_that_was_forgotten_before_it_was_answered_says_forgotten(
    world: World, acme: Instance
) -> None:
    other = world.instance("acme")
    lose_the_answer(world, "create", 0, lambda: other.call("forget", id="hall"))
    assert acme.remember("The hall has a plant", id="hall")["status"] == "forgotten"
    assert acme.hits("hall") == []


@pytest.mark.promise("P-FORGOTTEN")
def test_a_forget_after_which_the_same_was_said_anew_still_says_forgotten(
    world: World, office: Instance
) -> None:
    other = world.instance("acme")
    lose_the_answer(world, "replace", 1, lambda: other.remember("The office is in Tromsø now", id="office"))
    assert office.call("forget", id="office") == {"deleted": True, "id": "office", "reason": "forgotten"}
    assert office.hits("office") == ["The office is in Tromsø now"]


@pytest.mark.promise("P-TRUTH")
def test_what_was_overtaken_is_not_held_as_if_it_stood(world: World, acme: Instance) -> None:
    other = world.instance("acme")
    lose_the_answer(
        world, "create", 0, lambda: other.call("update_memory", id="hall", content="The hall has two plants")
    )
    acme.remember("The hall has a plant", id="hall")
    near = acme.remember("The hall has a plant now")["near_duplicates"]
    assert "The hall has a plant" not in [item["content"] for item in near]  # type: ignore[attr-defined]
