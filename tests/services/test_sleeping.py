"""A sleep: each step, its dry run, its report, and what it must never touch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.sleep_report import Action, SleepReport
from lodestore.format import keys
from lodestore.format.reports import as_markdown
from lodestore.ports.object_store import Found
from lodestore.services.upkeep_steps import EXPIRE, FOLD, PRUNE, PURGE, STEPS, SWEEP
from tests.faults.hostile_store import Fault, on
from tests.services.index_truth import (
    indexed,
    manifest_of,
    segments_of,
    shown_by_index,
    truth_of,
)
from tests.services.world import Instance, World, rows

WINDOW = timedelta(hours=24)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def sleep(world: World, *steps: str, dry_run: bool = False, **variables: str) -> SleepReport:
    """A sleep of acme by a fresh process."""
    one = world.instance(variables=variables).lodestore.sleeping
    return one.run("acme", steps or STEPS, dry_run=dry_run).report


def counts_of(report: SleepReport, step: str) -> dict[str, int]:
    return next(dict(done.counts) for done in report.steps if done.step == step)


def actions_of(report: SleepReport, step: str) -> tuple[Action, ...]:
    return next(done.actions for done in report.steps if done.step == step)


def contents_of_folder(world: World) -> bytes:
    return b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())


def settled(world: World) -> None:
    """An index that shows all, whose markers are gone."""
    indexed(world)
    world.clock.advance(5 * MINUTE)
    indexed(world)


@pytest.mark.promise("P-TRUTH")
def test_the_sweep_finds_what_no_marker_and_no_event_told_of(world: World, acme: Instance) -> None:
    kept, edited, gone = (acme.stored(f"statement {number} about the office") for number in range(3))
    settled(world)
    found = world.state.inner.get(keys.memory("acme", edited))
    assert isinstance(found, Found)
    body = found.body.replace(b"statement 1", b"statement by hand")
    world.state.inner.replace(keys.memory("acme", edited), body, expected=found.etag)
    world.state.inner.delete(keys.memory("acme", gone))
    dry = sleep(world, SWEEP, dry_run=True)
    report = sleep(world, SWEEP)
    assert dry.steps[0].actions == report.steps[0].actions
    assert counts_of(report, SWEEP) == counts_of(dry, SWEEP)
    assert {action.id for action in report.steps[0].actions} == {edited, gone}
    assert shown_by_index(world) == truth_of(world)
    assert set(truth_of(world)) == {kept, edited}
    assert counts_of(sleep(world, SWEEP), SWEEP)["differing"] == 0


@pytest.mark.promise("P-FORGOTTEN")
def test_the_sweep_makes_an_old_object_a_stub_again_and_writes_the_copies_that_are_missing(
    world: World, acme: Instance
) -> None:
    back, bare = acme.stored("the badge is 4471"), acme.stored("the gate code is 7702")
    old = world.state.inner.get(keys.memory("acme", back))
    for memory_id in (back, bare):
        acme.call("forget", id=memory_id)
    settled(world)
    stub = world.state.inner.get(keys.memory("acme", back))
    assert isinstance(old, Found)
    assert isinstance(stub, Found)
    world.state.inner.replace(keys.memory("acme", back), old.body, expected=stub.etag)
    world.state.inner.delete(keys.tombstone("acme", bare))
    counts = counts_of(sleep(world, SWEEP), SWEEP)
    assert (counts["forgotten_again"], counts["tombstones"]) == (1, 1)
    assert all(stub for _, _, stub in truth_of(world).values())
    assert isinstance(world.state.inner.get(keys.tombstone("acme", bare)), Found)
    assert world.instance().hits("badge") == []
    assert counts_of(sleep(world, SWEEP), SWEEP)["tombstones"] == 0


def test_the_sweep_writes_the_note_of_being_superseded_that_its_writer_did_not(
    world: World, acme: Instance
) -> None:
    old = acme.stored("the office is in Oslo")
    world.state.inject(on(Fault.UNAVAILABLE, "replace", keys.memory("acme", old), times=None))
    acme.error("remember", content="the office is in Bergen", supersedes=[old])
    world.state.heal()
    settled(world)
    assert counts_of(sleep(world, SWEEP), SWEEP)["noted"] == 1
    assert len(list(acme.get(old)["superseded_by"])) == 1  # type: ignore[call-overload]
    assert counts_of(sleep(world, SWEEP), SWEEP)["noted"] == 0


@pytest.mark.case("B46")
def test_what_expired_becomes_a_stub_and_what_was_renewed_stays(world: World, acme: Instance) -> None:
    over = acme.stored("the badge is 4471", ttl_days=1 / 1440)
    acme.stored("the office is in Oslo", ttl_days=10)
    settled(world)
    dry = sleep(world, EXPIRE, dry_run=True)
    assert [action.id for action in dry.steps[0].actions] == [over]
    assert not truth_of(world)[over][2]
    assert sleep(world, EXPIRE).steps[0].actions == dry.steps[0].actions
    assert truth_of(world)[over][2]
    assert world.instance().hits("office") == ["the office is in Oslo"]
    assert acme.call("forget", id=over)["deleted"] is False
    assert acme.remember("the badge is 4471")["status"] == "stored"


@pytest.mark.promise("P-FORGOTTEN")
def test_after_the_window_no_byte_of_what_was_forgotten_is_in_the_folder(
    world: World, acme: Instance
) -> None:
    gone = acme.stored("the word is XYZZYPLUGH")
    acme.call("update_memory", id=gone, content="the word was XYZZYPLUGH")
    kept = acme.stored("the office is in Oslo")
    acme.call("update_memory", id=kept, content="the office is in Bergen")
    indexed(world)
    acme.call("memory_feedback", id=gone, useful=True, note="XYZZYPLUGH helped")
    acme.call("forget", id=gone)
    indexed(world)
    report = sleep(world)
    assert counts_of(report, PURGE)["waiting"] == 1
    assert b"XYZZYPLUGH" in contents_of_folder(world)
    world.clock.advance(WINDOW)
    dry = sleep(world, PURGE, dry_run=True)
    assert b"XYZZYPLUGH" in contents_of_folder(world)
    assert [action.id for action in actions_of(sleep(world), PURGE)] == [gone]
    assert [action.id for action in dry.steps[0].actions] == [gone]
    assert b"XYZZYPLUGH" not in contents_of_folder(world)
    history = rows(acme.call("get_memory", id=kept, history=True), "history")
    assert [version["content"] for version in history] == ["the office is in Bergen", "the office is in Oslo"]
    assert truth_of(world)[gone][2]


@pytest.mark.promise("P-FORGOTTEN")
def test_below_a_memory_that_took_its_id_only_what_was_forgotten_goes(world: World, acme: Instance) -> None:
    acme.stored("the word is XYZZYPLUGH", id="word")
    acme.call("forget", id="word")
    acme.stored("the office is in Oslo", id="word")
    acme.call("update_memory", id="word", content="the office is in Bergen")
    world.clock.advance(WINDOW)
    sleep(world)
    assert b"XYZZYPLUGH" not in contents_of_folder(world)
    assert len(rows(acme.call("get_memory", id="word", history=True), "history")) == 2


@pytest.mark.promise("P-FORGOTTEN")
def test_a_segment_with_a_dead_row_of_the_forgotten_is_written_anew(world: World, acme: Instance) -> None:
    gone = acme.stored("the badge is 4471")
    acme.stored("the office is in Oslo")
    settled(world)
    acme.call("forget", id=gone)
    indexed(world)
    assert counts_of(sleep(world, PURGE), PURGE)["segments"] == 1
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert all(not entry.dead for entry in manifest.segments)
    assert shown_by_index(world) == truth_of(world)
    world.clock.advance(timedelta(hours=3))
    sleep(world)
    assert segments_of(world) == set(manifest.names)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_folding_changes_no_count_and_those_of_the_forgotten_go(world: World, acme: Instance) -> None:
    kept, gone = acme.stored("the office is in Oslo"), acme.stored("the badge is 4471")
    for instance in (acme, world.instance()):
        for memory_id in (kept, gone):
            instance.call("memory_feedback", id=memory_id, useful=True, note="yes")
    acme.call("forget", id=gone)
    indexed(world)
    dry = sleep(world, FOLD, dry_run=True)
    report = sleep(world, FOLD)
    assert counts_of(report, FOLD) == counts_of(dry, FOLD)
    assert counts_of(report, FOLD)["deltas"] == 4
    assert not [e for page in world.index.inner.list(keys.deltas_of("acme")) for e in page.entries]
    totals = world.instance().lodestore.counts.totals("acme")
    assert {memory_id: tally.useful for memory_id, tally in totals.items()} == {kept: 2}
    assert acme.call("memory_feedback", id=kept, useful=False)["useful_count"] == 2
    assert counts_of(sleep(world, FOLD), FOLD)["deltas"] == 1
    tally = world.instance().lodestore.counts.totals("acme")[kept]
    assert (tally.useful, tally.not_useful) == (2, 1)


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_delta_behind_a_gap_waits_for_the_one_before_it(world: World, acme: Instance) -> None:
    kept = acme.stored("the office is in Oslo")
    for _ in range(3):
        acme.call("memory_feedback", id=kept, useful=True)
    names = [e.key for page in world.index.inner.list(keys.deltas_of("acme")) for e in page.entries]
    second = world.index.inner.get(names[1])
    assert isinstance(second, Found)
    world.index.inner.delete(names[1])
    counts = counts_of(sleep(world, FOLD), FOLD)
    assert (counts["deltas"], counts["deleted"], counts["dropped"], counts["left"]) == (1, 1, 0, 1)
    world.index.inner.create(names[1], second.body)
    assert counts_of(sleep(world, FOLD), FOLD)["deltas"] == 2
    assert world.instance().lodestore.counts.totals("acme")[kept].useful == 3


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_policies_take_what_they_name_and_never_what_is_pinned_or_an_instruction(
    world: World, acme: Instance
) -> None:
    old = acme.stored("an event of long ago", type="event", importance=0.1)
    acme.stored("a pinned event", type="event", importance=0.1, pinned=True)
    acme.stored("an order", type="instruction", importance=0.1)
    named = acme.stored("an observation", type="observation", importance=0.1)
    world.clock.advance(timedelta(days=91))
    fresh = acme.stored("an event of today", type="event", importance=0.1)
    policies = [
        {"name": "old events", "types": ["event"], "older_than_days": 90, "forget": True},
        {"name": "of little weight", "importance_below": 0.2, "types": ["observation"]},
    ]
    dry = sleep(world, PRUNE, dry_run=True, PRUNE=json.dumps(policies))
    assert [(a.what, a.id, a.why) for a in dry.steps[0].actions] == [
        ("forget", old, "policy old events (types event; older_than_days 90)"),
        ("propose to forget", named, "policy of little weight (types observation; importance_below 0.2)"),
    ]
    assert not truth_of(world)[old][2]
    assert sleep(world, PRUNE, PRUNE=json.dumps(policies)).steps[0].actions == dry.steps[0].actions
    assert [m for m, (_, _, stub) in truth_of(world).items() if stub] == [old]
    assert fresh in truth_of(world)
    assert sleep(world, PRUNE).steps[0].status == "skipped"
    assert acme.call("restore_memory", id=old)["restored"] is True


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_a_dry_run_of_all_steps_sends_no_write(world: World, acme: Instance) -> None:
    gone = acme.stored("the badge is 4471")
    acme.stored("the office is in Oslo", ttl_days=1 / 1440)
    acme.call("memory_feedback", id=gone, useful=True)
    acme.call("forget", id=gone)
    indexed(world)
    world.clock.advance(2 * WINDOW)
    world.state.reset()
    world.index.reset()
    report = sleep(world, dry_run=True)
    assert report.complete
    assert not [r for store in (world.state, world.index) for r in store.requests if r.writes]


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_step_that_fails_stops_no_other_and_is_said(world: World, acme: Instance) -> None:
    acme.stored("the office is in Oslo", ttl_days=1 / 1440)
    settled(world)
    world.state.inject(on(Fault.UNAVAILABLE, "list", keys.tombstones_of("acme") + "*", times=None))
    report = sleep(world)
    status = {step.step: step.status for step in report.steps}
    assert (status[SWEEP], status[PURGE], status[EXPIRE]) == ("failed", "failed", "done")
    assert (report.complete, report.failure) == (False, "StoreUnavailable")
    assert world.meter.counts["sleep_sweep_failed"] == 1


def test_a_report_is_stored_and_shown_and_only_the_newest_hundred_stay(
    world: World, acme: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme.stored("the office is in Oslo")
    monkeypatch.setattr("lodestore.services.reports.KEPT", 2)
    ids = []
    for _ in range(3):
        ids.append(sleep(world).id)
        world.clock.advance(MINUTE)
    fields = world.instance().lodestore.reports.latest("acme")
    assert fields is not None
    assert fields["id"] == ids[-1]
    assert sum(fields["requests"].values()) > 0
    shown = as_markdown(fields)
    assert shown.startswith("# Sleep of acme, 2026-03-09T01:32")
    assert "| sweep | done |" in shown
    assert "Oslo" not in shown
    kept = [e.key for page in world.index.inner.list(keys.reports_of("acme")) for e in page.entries]
    assert len(kept) == 2


def test_an_admin_runs_maintenance_by_step_and_an_unknown_step_is_refused(
    acme: Instance,
) -> None:
    acme.stored("the office is in Oslo")
    answer = acme.call("maintain", steps=["index", "sweep"], dry_run=True)
    assert [step["step"] for step in rows(answer, "steps")] == ["sweep", "index"]
    error = acme.error("maintain", steps=["tidy"])
    assert (error["error"], error["field"], error["got"]) == ("invalid_argument", "steps", "tidy")
