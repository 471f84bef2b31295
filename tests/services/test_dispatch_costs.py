"""What a scheduled run costs: for what changed, not for who is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.counters import Snapshot
from lodestore.format import keys
from lodestore.format.counts import encode_snapshot
from tests.services.index_truth import in_memory, shown_by_index, truth_of
from tests.services.world import World
from tests.stores.memory_store import Contents

QUIET = 10_000
CHANGED = 20


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    yield world
    world.close()


def asked(world: World) -> Counter[str]:
    """Requests by tenant; "" for listings over all."""
    named: Counter[str] = Counter()
    for store in (world.state, world.index):
        for request in store.requests:
            parts = request.key.split("/")
            named["" if len(parts) < 3 else parts[1]] += 1
    return named


@pytest.mark.promise("P-BOUNDED")
def test_of_ten_thousand_tenants_only_the_twenty_that_changed_cost_requests(folder: Path) -> None:
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    for number in range(CHANGED):
        world.instance(f"changed-{number}").stored("the office is in Oslo")
    # The others have folded counts, as any tenant has that was used: all that the listings over everyone pass by.
    crowd = [f"quiet-{number}" for number in range(QUIET)]
    for tenant in crowd:
        world.index.inner.create(keys.counts_snapshot(tenant), encode_snapshot(Snapshot()))
    world.state.reset()
    world.index.reset()
    done = world.instance().lodestore.dispatch.run()
    assert len(done.done) == CHANGED
    named = asked(world)
    assert not {tenant for tenant in named if tenant.startswith("quiet-")}
    # Three listings over all: notes, markers, counts; a page of the last for each 1,000 snapshots.
    assert named[""] <= 2 + 1 + QUIET // 1_000
    each = {count for tenant, count in named.items() if tenant.startswith("changed-")}
    assert max(each) <= 30
    world.close()


def test_a_tenant_with_nothing_but_flushed_counts_is_looked_at_and_then_left_alone(world: World) -> None:
    acme = world.instance("acme")
    kept = acme.stored("the office is in Oslo")
    dispatch = world.instance().lodestore.dispatch
    dispatch.run()
    world.clock.advance(timedelta(minutes=5))
    dispatch.run()
    assert dispatch.run().done == ()
    acme.call("memory_feedback", id=kept, useful=True)
    assert [tenant for tenant, _ in dispatch.run().done] == ["acme"]
    world.state.reset()
    world.index.reset()
    assert dispatch.run().done == ()
    assert (world.state.requests, len(world.index.requests)) == ((), 3)


@pytest.mark.promise("P-BOUNDED")
def test_the_weekly_look_at_an_unchanged_tenant_is_two_requests_and_a_change_by_hand_is_found(
    world: World,
) -> None:
    acme = world.instance("acme")
    for number in range(3):
        acme.stored(f"statement {number} about the office")
    dispatch = world.instance().lodestore.dispatch
    for _ in range(3):
        dispatch.run(everyone=True)
        world.clock.advance(timedelta(hours=2))
    world.state.reset()
    world.index.reset()
    assert world.instance().lodestore.sleeping.may_skip("acme")
    assert (len(world.state.requests), len(world.index.requests)) == (1, 1)
    assert (dispatch.run(everyone=True).skipped, dispatch.run(everyone=True).done) == (1, ())
    key = keys.memory("acme", acme.listed()[0])
    world.state.inner.delete(key)
    ((_, done),) = dispatch.run(everyone=True).done
    assert done.killed == 1
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.case("B46")
def test_what_expires_is_noted_when_it_is_indexed_and_is_gone_an_hour_later(world: World) -> None:
    acme = world.instance("acme")
    over = acme.stored("the badge is 4471", ttl_days=1)
    world.instance().lodestore.upkeep.index("acme")
    world.clock.advance(timedelta(minutes=5))
    dispatch = world.instance().lodestore.dispatch
    dispatch.run()
    assert dispatch.run().done == ()
    world.clock.advance(timedelta(hours=25))
    (report,) = dispatch.run().reports
    actions = [action.id for step in report.steps for action in step.actions if action.what == "expire"]
    assert actions == [over]


@pytest.mark.promise("P-FORGOTTEN")
def test_the_end_of_a_forget_window_is_noted_and_the_purge_comes_by_itself(world: World) -> None:
    acme = world.instance("acme")
    gone = acme.stored("the badge is 4471")
    acme.call("forget", id=gone)
    dispatch = world.instance().lodestore.dispatch
    for _ in range(2):
        dispatch.run()
        world.clock.advance(timedelta(hours=2))
    dispatch.run()
    world.clock.advance(timedelta(hours=23))
    reports = dispatch.run().reports
    purged = [a.id for report in reports for step in report.steps for a in step.actions if a.what == "purge"]
    assert purged == [gone]
    assert len(list(world.state.inner.versions(keys.memory("acme", gone)))) == 1
