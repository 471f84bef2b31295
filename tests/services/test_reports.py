"""Reports: what a sleep says of itself, to the byte, and what it says about the sleeps before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.cost.prices import prices
from lodestore.domain.sleep_report import PRICES, PRICES_OF, SleepReport
from lodestore.format import keys
from lodestore.format.reports import as_markdown, encode_report, report_fields
from lodestore.ports.object_store import Found
from lodestore.services.upkeep_steps import EXPIRE, FOLD, PRUNE, PURGE, REPORT, SWEEP
from tests.faults.hostile_store import Fault, on
from tests.services.index_truth import in_memory, indexed
from tests.services.world import Instance, World
from tests.stores.memory_store import Contents

HOUR = timedelta(hours=1)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def sleep(world: World, *steps: str) -> SleepReport:
    one = world.instance().lodestore.sleeping
    world.clock.advance(timedelta(seconds=1))
    return (one.run("acme", steps) if steps else one.run("acme")).report


def stored(world: World, report: SleepReport) -> bytes:
    found = world.index.inner.get(keys.report("acme", report.id))
    assert isinstance(found, Found)
    return found.body


def test_every_request_and_byte_of_a_sleep_is_in_its_report_that_of_storing_it_too(
    world: World, acme: Instance
) -> None:
    acme.stored("the office is in Oslo")
    acme.call("memory_feedback", id=acme.stored("the badge is 4471"), useful=True)
    for _ in range(3):
        world.state.reset()
        world.index.reset()
        report = sleep(world)
        sent = [request.operation for store in (world.state, world.index) for request in store.requests]
        assert sum(report.traffic.requests.values()) == len(sent)
        assert report.traffic.requests["create"] == sent.count("create")
        assert stored(world, report) == encode_report(report)
        own = report.steps[-1]
        assert (own.step, own.counts["stored"]) == (REPORT, 1)
        assert own.traffic.bytes_written == len(stored(world, report))
        assert report.traffic.cost_usd >= sum(step.traffic.cost_usd for step in report.steps)


def test_a_report_is_priced_by_the_dated_price_list() -> None:
    writes, reads = prices()["s3_write"], prices()["s3_read"]
    assert writes.date == reads.date == PRICES_OF
    dear = {"create", "replace", "list", "versions"}
    expected = {name: writes.of(1) if name in dear else reads.of(1) for name in PRICES}
    assert pytest.approx(expected | {"delete": 0.0, "delete_version": 0.0}) == PRICES


def test_a_report_that_the_store_does_not_take_is_said_and_fails_nothing(
    world: World, acme: Instance
) -> None:
    acme.stored("the office is in Oslo")
    world.index.inject(on(Fault.UNAVAILABLE, "create", keys.reports_of("acme") + "*", times=None))
    report = sleep(world)
    assert (report.complete, report.steps[-1].status) == (True, "skipped")
    assert report.steps[-1].why == "the store did not take it"
    assert world.meter.counts["report_not_stored"] == 1


@pytest.mark.promise("P-SILENT-NEVER")
def test_sleeps_that_were_cut_short_are_counted_until_one_is_whole(world: World, acme: Instance) -> None:
    acme.stored("the office is in Oslo")
    world.state.inject(on(Fault.UNAVAILABLE, "list", keys.tombstones_of("acme") + "*", times=None))
    first, second, third = sleep(world), sleep(world), sleep(world)
    assert [report.incomplete_in_a_row for report in (first, second, third)] == [1, 2, 3]
    assert [report.cut_short_twice for report in (first, second, third)] == [False, True, True]
    assert world.meter.counts["sleep_cut_short_twice"] == 2
    assert "3 sleeps in a row were not complete." in as_markdown(report_fields(third))
    world.state.heal()
    assert sleep(world).incomplete_in_a_row == 0


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_sleep_that_begins_long_after_it_was_due_says_that_one_was_missed(
    world: World, acme: Instance
) -> None:
    acme.stored("the office is in Oslo", ttl_days=1)
    first = sleep(world)
    assert first.next_due is not None
    world.clock.advance(timedelta(days=1) + HOUR)
    in_time = sleep(world, EXPIRE, REPORT)
    assert not in_time.missed
    acme.stored("the office is in Bergen", ttl_days=1)
    sleep(world)
    world.clock.advance(timedelta(days=1) + 3 * HOUR)
    late = sleep(world)
    assert late.missed
    assert late.late_seconds == pytest.approx(3 * 3600, abs=60)
    assert world.meter.counts["sleep_missed"] == 1
    assert "A sleep was missed: this one began 10,8" in as_markdown(report_fields(late))


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"schema": 1, "next_due": 5, "incomplete_in_a_row": "x"}'])
def test_a_report_that_a_hand_spoilt_says_nothing_and_stops_nothing(
    world: World, acme: Instance, body: bytes
) -> None:
    acme.stored("the office is in Oslo")
    before = sleep(world)
    found = world.index.inner.get(keys.report("acme", before.id))
    assert isinstance(found, Found)
    world.index.inner.replace(keys.report("acme", before.id), body, expected=found.etag)
    world.clock.advance(HOUR)
    assert sleep(world).complete


def test_a_report_says_what_moved_why_and_what_was_skipped(world: World, acme: Instance) -> None:
    over = acme.stored("the badge is 4471", ttl_days=1 / 1440)
    acme.call("memory_feedback", id=over, useful=True)
    indexed(world)
    world.state.inner.create(keys.memory("acme", "spoilt"), b"{")
    world.clock.advance(HOUR)
    report = sleep(world)
    steps = {step.step: step for step in report.steps}
    assert (steps[PRUNE].status, steps[PRUNE].why) == ("skipped", "no policy is set")
    assert steps[FOLD].counts["deltas"] == 1
    assert steps[PURGE].counts["waiting"] == 1
    shown = as_markdown(report_fields(report))
    assert f"- expire `{over}`: its expires_at has passed" in shown
    assert "- skip `spoilt`: it is no record: not JSON" in shown
    assert "| prune | skipped: no policy is set | nothing |" in shown
    assert steps[SWEEP].counts["skipped"] == 1
    assert "4471" not in shown
