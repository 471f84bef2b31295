"""What `maintain` names to whom: an admin of one conversation sees no id of another's scoped notes."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.services.world import Answer, Instance, World, rows

SAME = ("The timeout is 5 seconds.", "the timeout is 5 seconds")


def step(report: Answer, name: str) -> dict[str, object]:
    return next(one for one in rows(report, "steps") if one["step"] == name)


def two_of_the_same(instance: Instance, **fields: object) -> list[str]:
    return [instance.stored(content, **fields) for content in SAME]


@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("dry_run", [True, False])
def test_ids_of_another_conversation_are_counted_and_not_named(world: World, dry_run: bool) -> None:
    theirs, ours = world.instance(conversation="c1"), world.instance(conversation="c2")
    notes = two_of_the_same(theirs, scope="conversation")
    notes.append(theirs.stored("Dies soon", scope="conversation", ttl_days=1))
    world.clock.advance(timedelta(days=2))
    seen = theirs.call("maintain", dry_run=True)
    assert all(note in json.dumps(seen) for note in notes)
    report = ours.call("maintain", dry_run=dry_run)
    assert not any(note in json.dumps(report) for note in notes)
    for name, count in (("expire", "expired"), ("consolidate", "merged")):
        of = step(report, name)
        assert (of["counts"][count], of["actions"], of["actions_left"]) == (1, [], 1)  # type: ignore[index]


def test_what_everyone_sees_is_named(world: World) -> None:
    ours = world.instance(conversation="c2")
    members = two_of_the_same(ours)
    consolidate = step(ours.call("maintain", dry_run=True), "consolidate")
    assert consolidate["actions_left"] == 0
    assert all(member in json.dumps(consolidate) for member in members)
