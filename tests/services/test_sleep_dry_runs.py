"""A dry run of each step lists what the real run then does, whatever stands in the store; hands spoil nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from lodestore.domain.sleep_report import StepReport
from lodestore.format import keys
from lodestore.ports.object_store import Found
from lodestore.services.upkeep_steps import COLLECT, EMBED, EVERYTHING, INDEX, MERGE, REPORT, STEPS, SWEEP
from tests.services.index_truth import contents_of, in_memory, indexed
from tests.services.world import Instance, World
from tests.stores.memory_store import Contents

WINDOW = timedelta(hours=24)
SEEDS = range(6)
POLICIES = json.dumps(
    [
        {"name": "old", "older_than_days": 0.5, "importance_below": 0.3, "forget": True},
        {"name": "stale", "unused_for_days": 0.5, "value_below": 0.12},
    ]
)
# What a real run counts otherwise: it reads, embeds and swaps where a dry run only looks.
LOOKED_AT_ONLY = {INDEX, EMBED, MERGE, COLLECT}
# Each is JSON that a hand may leave in the place of a field.
ODD: list[object] = [
    None,
    "",
    "x",
    -1,
    1e400,
    True,
    [],
    {},
    [[]],
    "2026-13-45T99:99:99Z",
    "9999-12-31T23:59:59Z",
    10**30,
    {"a": None},
]


def drawn(folder: Path, seed: int) -> World:
    """A store in which every step has something to do, and hands have been at work."""
    world, chance = (
        in_memory(World(folder), Contents(versioned=True), Contents(versioned=False)),
        Random(seed),
    )
    acme = world.instance("acme")
    kept = [
        acme.stored(f"statement {n} of {seed}", importance=chance.random(), ttl_days=chance.choice([0.2, 30]))
        for n in range(12)
    ]
    indexed(world)
    for memory_id in chance.sample(kept, 6):
        chance.choice(ACTS)(acme, memory_id)
    world.clock.advance(timedelta(hours=chance.choice([1, 13, 30])))
    if chance.random() < 0.5:
        indexed(world)
    for memory_id in chance.sample(kept, 4):
        _by_hand(world, chance, memory_id)
    return world


def _forget(acme: Instance, memory_id: str) -> None:
    acme.call("forget", id=memory_id)


def _praise(acme: Instance, memory_id: str) -> None:
    acme.call("memory_feedback", id=memory_id, useful=True)


def _update(acme: Instance, memory_id: str) -> None:
    acme.call("update_memory", id=memory_id, content=f"{memory_id} says something else", pinned=True)


def _replace(acme: Instance, memory_id: str) -> None:
    acme.stored(f"in the place of {memory_id}", supersedes=[memory_id])


ACTS: list[Callable[[Instance, str], None]] = [_forget, _praise, _update, _replace]


def _by_hand(world: World, chance: Random, memory_id: str) -> None:
    """A field with something odd in it, a record of another schema, half an object, none at all."""
    key = keys.memory("acme", memory_id)
    found = world.state.inner.get(key)
    assert isinstance(found, Found)
    fields = json.loads(found.body)
    fields[chance.choice(sorted(fields))] = chance.choice(ODD)
    other = json.dumps(json.loads(found.body) | {"schema": 99})
    bodies = [json.dumps(fields).encode(), other.encode(), found.body[: len(found.body) // 2], b""]
    if chance.random() < 0.2:
        world.state.inner.delete(key)
    else:
        world.state.inner.replace(key, chance.choice(bodies), expected=found.etag)


def step_of(world: World, step: str, *, dry_run: bool) -> StepReport:
    one = world.instance(variables={"PRUNE": POLICIES}).lodestore.sleeping
    (report,) = one.run("acme", (step,), dry_run=dry_run).report.steps
    return report


def objects(world: World) -> dict[str, bytes]:
    """Every object by key, of both buckets."""
    return {
        entry.key: found.body
        for store in (world.state.inner, world.index.inner)
        for page in store.list("")
        for entry in page.entries
        if isinstance(found := store.get(entry.key), Found)
    }


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_dry_run_changes_nothing_and_lists_what_the_real_run_then_does(folder: Path, seed: int) -> None:
    first = drawn(folder, seed)
    for step in (step for step in STEPS if step != REPORT):
        world = in_memory(first, contents_of(first.state), contents_of(first.index))
        before = objects(world)
        dry = step_of(world, step, dry_run=True)
        assert objects(world) == before
        real = step_of(world, step, dry_run=False)
        assert (dry.status, dry.why) == (real.status, real.why), step
        assert dry.actions == real.actions, step
        if step not in LOOKED_AT_ONLY:
            assert dry.counts == real.counts, step
        world.close()
    first.close()


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_hand_spoilt_is_skipped_and_said_and_stays_as_it_is(folder: Path, seed: int) -> None:
    world = drawn(folder, seed)
    records = world.instance().lodestore.rebuilding.run("acme", dry_run=True)
    spoilt = {
        key: body
        for key, body in objects(world).items()
        if (name := keys.parse_memory(key)) is not None and _is_spoilt(world, name.id)
    }
    assert records.invalid == len(spoilt)
    report = world.instance(variables={"PRUNE": POLICIES}).lodestore.sleeping.run("acme", EVERYTHING).report
    assert report.complete
    sweep = next(step for step in report.steps if step.step == SWEEP)
    named = {keys.memory("acme", action.id) for action in sweep.actions if action.what == "skip"}
    assert named == set(spoilt)
    after = objects(world)
    assert {key: after.get(key) for key in spoilt} == spoilt
    world.close()


def _is_spoilt(world: World, memory_id: str) -> bool:
    return world.instance().lodestore.rebuilding._truth.read("acme", memory_id).invalid
