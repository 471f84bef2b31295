"""Use and feedback: how they come into the index, and how far they move what recall finds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from lodestore.domain.sleep_report import SleepReport
from lodestore.domain.use_levels import Levels
from lodestore.format import keys
from lodestore.format.counts import decode_snapshot
from lodestore.ports.object_store import Found
from lodestore.retrieval.ranking import FEEDBACK_WEIGHT, USE_WEIGHT
from lodestore.services.upkeep_steps import FOLD
from tests.services.index_truth import in_memory, indexed, manifest_of, shown_by_index, truth_of
from tests.services.world import Instance, World, rows
from tests.stores.memory_store import Contents

DAY = timedelta(days=1)
QUERY = "where is the office"


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = quick(folder)
    yield world
    world.close()


def quick(folder: Path) -> World:
    """A world whose buckets are in memory; what is tested here is no store's."""
    return in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def fold(world: World, *, dry_run: bool = False) -> SleepReport:
    return world.instance().lodestore.sleeping.run("acme", (FOLD,), dry_run=dry_run).report


def explained(world: World, **arguments: object) -> dict[str, tuple[float, dict[str, float]]]:
    """Id to score and parts, by a process that starts."""
    answer = world.instance().call("recall", query=QUERY, mode="exploratory", explain=True, **arguments)
    return {
        str(hit["id"]): (float(cast(float, hit["score"])), cast(dict[str, float], hit["explain"]))
        for hit in rows(answer, "hits")
    }


def alike(acme: Instance, many: int = 3) -> list[str]:
    """Memories that answer the query equally well."""
    return [acme.stored(f"the office of team {letter} is here") for letter in "abcdefgh"[:many]]


def test_what_was_found_useful_comes_first_and_what_was_not_comes_last(world: World, acme: Instance) -> None:
    useful, plain, useless = alike(acme)
    indexed(world)
    acme.call("memory_feedback", id=useful, useful=True)
    acme.call("memory_feedback", id=useless, useful=False)
    before = manifest_of(world).manifest
    assert fold(world, dry_run=True).steps[0].counts["refreshed"] == 2
    assert manifest_of(world).manifest == before
    assert fold(world).steps[0].counts["refreshed"] == 2
    assert shown_by_index(world) == truth_of(world)
    found = explained(world)
    assert sorted(found, key=lambda memory_id: -found[memory_id][0]) == [useful, plain, useless]
    assert found[useful][1]["feedback"] > 0 > found[useless][1]["feedback"]
    assert fold(world).steps[0].counts["refreshed"] == 0


def test_use_and_feedback_move_a_score_by_no_more_than_is_stated(world: World, acme: Instance) -> None:
    useful, plain, useless = alike(acme)
    indexed(world)
    for _ in range(60):
        acme.call("memory_feedback", id=useful, useful=True)
        acme.call("memory_feedback", id=useless, useful=False)
    acme.lodestore.counts.recalled("acme", [useful])
    fold(world)
    score = {memory_id: score for memory_id, (score, _) in explained(world).items()}
    assert score[useful] > score[plain] > score[useless]
    most = (1 + USE_WEIGHT + FEEDBACK_WEIGHT) / (1 - FEEDBACK_WEIGHT)
    assert score[useful] / score[useless] <= most + 0.001


def test_an_old_memory_that_nobody_asked_for_is_found_as_ever(world: World, acme: Instance) -> None:
    (forgotten_about,) = alike(acme, 1)
    world.clock.advance(4_000 * DAY)
    asked_for = acme.stored("the office of team z is here")
    indexed(world)
    for _ in range(20):
        acme.call("memory_feedback", id=asked_for, useful=True)
    fold(world)
    found = explained(world)
    assert set(found) == {forgotten_about, asked_for}
    assert forgotten_about in {
        str(hit["id"]) for hit in rows(world.instance().call("recall", query=QUERY), "hits")
    }
    assert found[forgotten_about][0] > 0.8 * found[asked_for][0]


def levels_after(folder: Path, every: int) -> Levels:
    """The levels after 40 days of feedback, of which each `every` ended in a fold."""
    world = quick(folder)
    acme = world.instance("acme")
    kept = alike(acme, 2)
    indexed(world)
    for day in range(40):
        acme.call("memory_feedback", id=kept[day % 2], useful=day % 3 > 0)
        if day % every == every - 1:
            fold(world)
        world.clock.advance(DAY)
    found = world.index.inner.get(keys.counts_snapshot("acme"))
    world.close()
    assert isinstance(found, Found)
    return decode_snapshot(found.body).levels


def test_levels_are_the_same_however_often_maintenance_runs(folder: Path) -> None:
    daily, at_the_end = levels_after(folder / "1", 1), levels_after(folder / "40", 40)
    assert len(daily) == 2
    assert daily.keys() == at_the_end.keys()
    for memory_id, levels in daily.items():
        other = at_the_end[memory_id]
        for name in ("recalls", "useful", "not_useful", "last_used"):
            # The pauses of the runs move the clock by seconds in all.
            assert getattr(levels, name) == pytest.approx(getattr(other, name), abs=5_000)


def test_an_update_keeps_what_is_known_of_use_and_a_forgotten_memory_takes_it_along(
    world: World, acme: Instance
) -> None:
    kept, gone = alike(acme, 2)
    indexed(world)
    for memory_id in (kept, gone):
        acme.call("memory_feedback", id=memory_id, useful=True)
    fold(world)
    acme.call("update_memory", id=kept, content="the office of team k is here")
    acme.call("forget", id=gone)
    indexed(world)
    again = acme.stored("the office of team b is here")
    assert again == gone
    indexed(world)
    found = explained(world)
    assert found[kept][1]["feedback"] > 0
    assert found[again][1]["feedback"] == 0
    fold(world)
    assert explained(world)[again][1]["feedback"] in (0, found[kept][1]["feedback"])


@pytest.mark.promise("P-TRUTH")
def test_after_a_rebuild_the_very_same_recalls_come_back(world: World, acme: Instance) -> None:
    useful, used, _ = alike(acme)
    indexed(world)
    for number in range(9):
        acme.call("memory_feedback", id=useful, useful=number != 4)
        acme.lodestore.counts.recalled("acme", [used] * number)
        acme.lodestore.counts.flush()
        world.clock.advance(3 * DAY)
        fold(world)
    before = explained(world)
    assert before[useful][1]["feedback"] > 0
    world.instance().lodestore.rebuilding.run("acme")
    assert explained(world) == before
    assert fold(world).steps[0].counts["refreshed"] == 0


def test_a_memory_that_is_used_all_the_time_is_written_again_as_its_levels_reach_a_weeks_step(
    world: World, acme: Instance
) -> None:
    (used,) = alike(acme, 1)
    indexed(world)
    written = []
    for _ in range(120):
        acme.call("memory_feedback", id=used, useful=True)
        world.clock.advance(DAY)
        written.append(fold(world).steps[0].counts["refreshed"])
    # Two of its levels move: that of feedback, and when it was last used.
    assert sum(written[90:]) <= 2 * (30 / 7 + 1)
