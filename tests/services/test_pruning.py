"""Policies at work: what goes, what is only named, and what no policy reaches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from lodestore.domain.sleep_report import StepReport
from lodestore.services.upkeep_steps import EMBED, EXPIRE, PRUNE
from tests.services.index_truth import in_memory, indexed, truth_of
from tests.services.world import Instance, World, rows
from tests.stores.memory_store import Contents

DAY = timedelta(days=1)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def prune(world: World, *policies: dict[str, object], dry_run: bool = False) -> StepReport:
    variables = {"PRUNE": json.dumps(policies)}
    one = world.instance(variables=variables).lodestore.sleeping
    return one.run("acme", (PRUNE,), dry_run=dry_run).report.steps[0]


def forgotten(world: World) -> set[str]:
    return {memory_id for memory_id, (_, _, stub) in truth_of(world).items() if stub}


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_what_nobody_used_for_so_long_goes_and_what_was_used_since_stays(
    world: World, acme: Instance
) -> None:
    unused, used, praised = (acme.stored(f"statement {number} of long ago") for number in range(3))
    indexed(world)
    world.clock.advance(80 * DAY)
    acme.call("memory_feedback", id=praised, useful=True)
    acme.lodestore.counts.recalled("acme", [used])
    acme.lodestore.counts.flush()
    world.clock.advance(20 * DAY)
    young = acme.stored("a statement of today")
    policy: dict[str, object] = {"name": "unused", "unused_for_days": 90, "forget": True}
    dry = prune(world, policy, dry_run=True)
    assert [(action.id, action.why) for action in dry.actions] == [
        (unused, "policy unused (unused_for_days 90)")
    ]
    assert prune(world, policy).actions == dry.actions
    assert forgotten(world) == {unused}
    world.clock.advance(71 * DAY)
    assert {action.id for action in prune(world, policy).actions} == {used, praised}
    assert young not in forgotten(world)


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
@pytest.mark.parametrize("condition", [{"never_recalled": True}, {"unused_for_days": 5}], ids=str)
def test_what_the_context_shows_each_day_is_in_use(
    world: World, acme: Instance, condition: dict[str, object]
) -> None:
    shown = acme.stored("The timeout is 5 seconds.")
    indexed(world)
    for _ in range(10):
        assert acme.call("memory_context")["ids"] == [shown]
        world.clock.advance(DAY)
    # A minute after the last one the next call of any kind that counts flushes them.
    assert acme.hits("zzz") == []
    policy: dict[str, object] = {"name": "unused", "older_than_days": 5, "forget": True, **condition}
    assert prune(world, policy).actions == ()
    assert forgotten(world) == set()


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_what_is_worth_little_goes_by_importance_use_age_and_feedback_together(
    world: World, acme: Instance
) -> None:
    plain = acme.stored("an event", type="event", importance=0.5)
    useless = acme.stored("an event that was of no use", type="event", importance=0.5)
    weighty = acme.stored("an event of weight", type="event", importance=1.0)
    lasting = acme.stored("a preference", type="preference", importance=0.5)
    indexed(world)
    for _ in range(16):
        acme.call("memory_feedback", id=useless, useful=False)
    assert {action.id for action in prune(world, {"value_below": 0.05}, dry_run=True).actions} == {useless}
    world.clock.advance(45 * DAY)
    # 0.5 × 0.5 × 0.35 × 0.5 = 0.044; twice that with twice the importance; a preference does not age.
    found = {action.id for action in prune(world, {"value_below": 0.05}).actions}
    assert found == {plain, useless}
    assert {weighty, lasting}.isdisjoint(found)


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_no_policy_reaches_what_is_pinned_or_an_instruction(world: World, acme: Instance) -> None:
    acme.stored("pinned", pinned=True, importance=0.0)
    acme.stored("an order", type="instruction", importance=0.0)
    indexed(world)
    world.clock.advance(4_000 * DAY)
    everything: list[dict[str, object]] = [
        {"older_than_days": 1, "forget": True},
        {"never_recalled": True, "forget": True},
        {"unused_for_days": 1, "forget": True},
        {"value_below": 1, "forget": True},
        {"importance_below": 1, "forget": True},
    ]
    assert prune(world, *everything).actions == ()
    assert forgotten(world) == set()


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_a_policy_that_does_not_forget_proposes_what_is_worth_least_first_and_never_again_what_was_decided(
    world: World, acme: Instance
) -> None:
    worth = [acme.stored(f"an old statement {n}", importance=n / 10) for n in (3, 1, 2)]
    indexed(world)
    world.clock.advance(400 * DAY)
    policy: dict[str, object] = {"name": "stale", "unused_for_days": 365}
    dry = prune(world, policy, dry_run=True)
    assert acme.call("list_proposals")["proposals"] == []
    step = prune(world, policy)
    assert step.actions == dry.actions
    assert [action.id for action in step.actions] == [worth[1], worth[2], worth[0]]
    assert {action.what for action in step.actions} == {"propose to forget"}
    assert forgotten(world) == set()
    proposals = rows(acme.call("list_proposals"), "proposals")
    evidence = cast(dict[str, object], proposals[0]["evidence"])
    assert evidence["policy"] == "policy stale (unused_for_days 365)"
    assert (evidence["recalls"], evidence["days since it was stated"]) == (0, 400)
    first, second, third = (str(proposal["id"]) for proposal in proposals)
    acme.call("decide_proposal", id=first, accept=True)
    acme.call("decide_proposal", id=second, accept=False)
    assert len(forgotten(world)) == 1
    again = prune(world, policy)
    assert (again.actions, again.counts["known"]) == ((), 2)
    assert third in {str(proposal["id"]) for proposal in rows(acme.call("list_proposals"), "proposals")}


def test_what_is_superseded_is_not_proposed_for_its_proposal_would_lapse(
    world: World, acme: Instance
) -> None:
    old = acme.stored("the office is in Oslo")
    acme.stored("the office is in Bergen", supersedes=[old], pinned=True)
    acme.stored("a visit", ttl_days=1)
    indexed(world)
    world.clock.advance(400 * DAY)
    assert prune(world, {"older_than_days": 365}).actions == ()


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_what_was_pinned_after_it_was_chosen_stays(world: World, acme: Instance) -> None:
    chosen = acme.stored("an old statement")
    indexed(world)
    world.clock.advance(100 * DAY)
    asked = 0

    def going() -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            acme.call("update_memory", id=chosen, pinned=True)
        return True

    variables = {"PRUNE": '[{"older_than_days": 90, "forget": true}]'}
    slept = world.instance(variables=variables).lodestore.sleeping.run("acme", (PRUNE,), going=going)
    assert asked == 2
    assert slept.report.steps[0].actions == ()
    assert forgotten(world) == set()


def test_a_memory_that_stays_costs_no_request(world: World, acme: Instance) -> None:
    for number in range(20):
        acme.stored(f"statement {number}")
    indexed(world)
    world.clock.advance(timedelta(minutes=5))
    indexed(world)
    world.state.reset()
    prune(world, {"older_than_days": 90}, {"value_below": 0.01})
    assert not world.state.requests


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_a_step_can_be_off_for_one_tenant_and_its_policies_its_own(world: World, acme: Instance) -> None:
    over = acme.stored("the badge is 4471", ttl_days=1 / 1440)
    indexed(world)
    world.clock.advance(100 * DAY)
    variables = {
        "PRUNE": '[{"older_than_days": 90, "forget": true}]',
        "SLEEP_OFF": "embed",
        "TENANT_UPKEEP": '{"acme": {"off": ["expire"], "prune": []}}',
    }
    one = world.instance(variables=variables).lodestore.sleeping
    steps = {step.step: step for step in one.run("acme").report.steps}
    assert (steps[EXPIRE].status, steps[EXPIRE].why) == ("skipped", "switched off")
    assert (steps[PRUNE].status, steps[PRUNE].why) == ("skipped", "no policy is set")
    assert steps[EMBED].status == "done"
    assert forgotten(world) == set()
    other = {step.step: step.status for step in one.run("globex").report.steps}
    assert (other[EXPIRE], other[EMBED]) == ("done", "skipped")
    assert not one.may_skip("globex")
    acme_again = world.instance(variables={}).lodestore.sleeping
    assert not acme_again.may_skip("acme")
    assert [a.id for s in acme_again.run("acme").report.steps if s.step == EXPIRE for a in s.actions] == [
        over
    ]
