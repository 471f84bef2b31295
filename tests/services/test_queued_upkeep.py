"""Maintenance by a queue: a message for each tenant that has something to do, and a worker that can be cut anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.counters import Snapshot
from lodestore.domain.upkeep_task import CONTINUED_MOST, UpkeepTask
from lodestore.errors import LodestoreError
from lodestore.format import keys
from lodestore.format.counts import encode_snapshot
from lodestore.format.upkeep_tasks import decode_task, encode_task
from lodestore.services import dispatch
from lodestore.services.dispatch import Queued
from lodestore.services.upkeep_batch import BatchDone, Message
from lodestore.services.upkeep_steps import EVERYTHING, ON_CHANGE, STEPS
from tests.faults.hostile_store import Fault, on
from tests.services.index_truth import in_memory, shown_by_index, truth_of
from tests.services.world import ListedQueue, World
from tests.stores.memory_store import Contents

QUIET = 10_000
CHANGED = 20


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    world.queue = ListedQueue()
    yield world
    world.close()


def queue_of(world: World) -> ListedQueue:
    assert world.queue is not None
    return world.queue


def handed_out(world: World, *, everyone: bool = False) -> Queued:
    """What a fresh process's dispatcher put on the queue."""
    return world.instance().lodestore.dispatch.queue(queue_of(world), everyone=everyone)


def worked(world: World, going: Callable[[], bool] = lambda: True) -> BatchDone:
    """All that is on the queue, worked on by a fresh process."""
    batch = world.instance().lodestore.upkeep_batch
    assert batch is not None
    messages = [Message(f"m{n}", body) for n, body in enumerate(queue_of(world).take())]
    return batch.work(messages, going)


def for_so_many(questions: int) -> Callable[[], bool]:
    """Time that is over after so many looks at the clock."""
    left = [questions]

    def going() -> bool:
        left[0] -= 1
        return left[0] >= 0

    return going


@pytest.mark.promise("P-BOUNDED")
def test_of_ten_thousand_tenants_the_twenty_that_changed_are_twenty_messages(folder: Path) -> None:
    world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
    world.queue = ListedQueue()
    for number in range(CHANGED):
        world.instance(f"changed-{number}").stored("the office is in Oslo")
    for number in range(QUIET):
        world.index.inner.create(keys.counts_snapshot(f"quiet-{number}"), encode_snapshot(Snapshot()))
    world.state.reset()
    world.index.reset()
    assert handed_out(world) == Queued(sent=CHANGED, refused=0, left=0, complete=True)
    assert world.state.requests == ()
    assert len(world.index.requests) <= 2 + 1 + QUIET // 1_000
    named = {decode_task(text).tenant for text in queue_of(world).messages}
    assert named == {f"changed-{number}" for number in range(CHANGED)}
    done = worked(world)
    assert (len(done.worked), done.repeat, queue_of(world).messages) == (CHANGED, [], [])
    assert not [r for r in world.index.requests if "quiet-" in r.key]
    world.close()


@pytest.mark.promise("P-BOUNDED")
def test_an_unchanged_tenant_is_a_message_of_the_weekly_run_and_two_requests(world: World) -> None:
    acme = world.instance("acme")
    for number in range(3):
        acme.stored(f"statement {number} about the office")
    for _ in range(3):
        handed_out(world, everyone=True)
        worked(world)
        world.clock.advance(timedelta(hours=2))
    assert handed_out(world) == Queued(0, 0, 0, complete=True)
    assert handed_out(world, everyone=True).sent == 1
    world.state.reset()
    world.index.reset()
    ((task, done),) = worked(world).worked
    assert (task.compare, done.report) == (True, None)
    assert (len(world.state.requests), len(world.index.requests)) == (1, 1)


def test_a_worker_does_what_a_run_in_turn_does(world: World) -> None:
    acme = world.instance("acme")
    gone = acme.stored("the badge is 4471")
    acme.stored("the office is in Oslo")
    acme.call("forget", id=gone)
    handed_out(world)
    (only,) = queue_of(world).messages
    assert decode_task(only).steps == ON_CHANGE
    assert worked(world).repeat == []
    assert shown_by_index(world) == truth_of(world)


def test_a_note_is_removed_by_the_worker_and_only_after_a_whole_sleep(world: World) -> None:
    acme = world.instance("acme")
    acme.stored("the badge is 4471", ttl_days=1)
    handed_out(world)
    worked(world)
    world.clock.advance(timedelta(minutes=5))
    handed_out(world)
    worked(world)
    world.clock.advance(timedelta(hours=26))
    assert handed_out(world).sent == 1
    (task,) = [decode_task(text) for text in queue_of(world).messages]
    assert task.notes
    world.state.inject(on(Fault.UNAVAILABLE, "replace", "memories/acme/*", times=None))
    assert worked(world).repeat == ["m0"]
    world.state.heal()
    assert handed_out(world).sent == 1
    assert worked(world).repeat == []
    world.clock.advance(timedelta(minutes=5))
    handed_out(world)
    worked(world)
    assert not set(task.notes) & {e.key for p in world.index.inner.list(keys.DUE) for e in p.entries}


@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.parametrize("looks", range(12))
def test_a_sleep_that_is_cut_anywhere_is_taken_up_until_it_is_whole(world: World, looks: int) -> None:
    acme = world.instance("acme")
    kept = acme.stored("the office is in Oslo")
    gone = acme.stored("the badge is 4471")
    acme.call("forget", id=gone)
    handed_out(world, everyone=True)
    runs = 0
    done = worked(world, for_so_many(looks))
    while queue_of(world).messages and runs <= CONTINUED_MOST:
        assert not done.repeat
        runs += 1
        # At least one step gets done each time, or the same would be cut forever.
        done = worked(world, for_so_many(looks + 2))
    assert not queue_of(world).messages
    assert shown_by_index(world) == truth_of(world)
    assert world.instance().hits("office") == ["the office is in Oslo"]
    assert kept in world.instance().listed()


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_sleep_that_never_ends_is_given_up_and_said(world: World) -> None:
    world.instance("acme").stored("the office is in Oslo")
    last = UpkeepTask(tenant="acme", steps=EVERYTHING, continued=CONTINUED_MOST)
    queue_of(world).send([encode_task(last)])
    ((_, done),) = worked(world, for_so_many(2)).worked
    assert (done.given_up, done.left) == (True, None)
    assert queue_of(world).messages == []
    # What is pending is found again by the next schedule.
    assert handed_out(world).sent == 1


@pytest.mark.promise("P-SILENT-NEVER")
def test_messages_that_were_not_reached_go_on_the_queue_again_or_are_repeated(world: World) -> None:
    for tenant in ("acme", "bolt", "cask"):
        world.instance(tenant).stored("the office is in Oslo")
    handed_out(world)
    before = list(queue_of(world).messages)
    done = worked(world, lambda: False)
    assert (done.worked, done.handed_on, done.repeat) == ([], 3, [])
    assert queue_of(world).messages == before
    world.queue = ListedQueue(refuses=[1])
    queue_of(world).messages = before
    done = worked(world, lambda: False)
    assert (done.handed_on, done.repeat) == (2, ["m1"])


@pytest.mark.promise("P-SILENT-NEVER")
def test_one_message_that_fails_stops_no_other_and_comes_again(world: World) -> None:
    for tenant in ("acme", "bolt", "cask"):
        world.instance(tenant).stored("the office is in Oslo")
    handed_out(world)
    queue_of(world).messages.insert(0, "no task")
    queue_of(world).messages.append(encode_task(UpkeepTask(tenant="acme", steps=frozenset({"dance"}))))
    world.state.inject(on(Fault.UNAVAILABLE, "get", "memories/bolt/*", times=None))
    done = worked(world)
    assert (done.repeat, done.invalid) == (["m0", "m2", "m4"], ["no JSON", "steps"])
    assert shown_by_index(world, "cask") == truth_of(world, "cask")


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_dispatcher_says_what_the_queue_did_not_take_and_what_it_had_no_time_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenant in ("acme", "bolt", "cask"):
        world.instance(tenant).stored("the office is in Oslo")
    world.queue = ListedQueue(refuses=[1])
    queued = handed_out(world)
    assert (queued, queued.whole) == (Queued(2, 1, 0, complete=True), False)
    monkeypatch.setattr(dispatch, "SENT_TOGETHER", 2)
    lodestore = world.instance().lodestore
    assert lodestore.dispatch.queue(queue_of(world), going=for_so_many(1)) == Queued(2, 0, 1, complete=True)
    monkeypatch.setattr(dispatch, "QUEUED_MOST", 2)
    assert handed_out(world) == Queued(2, 0, 0, complete=False)


def test_an_admins_maintain_is_handed_over_and_a_dry_run_is_answered_at_once(world: World) -> None:
    acme = world.instance("acme")
    acme.stored("the office is in Oslo")
    shown = acme.call("maintain", dry_run=True)
    assert (shown["dry_run"], shown["complete"]) == (True, True)
    assert queue_of(world).messages == []
    world.state.reset()
    world.index.reset()
    answer = acme.call("maintain", steps=["report", "index"])
    assert (world.state.requests, world.index.requests) == ((), ())
    assert answer["queued"] is True
    assert answer["steps"] == [{"step": step, "status": "queued"} for step in ("index", "report")]
    (text,) = queue_of(world).messages
    assert decode_task(text) == UpkeepTask(tenant="acme", steps=frozenset({"index", "report"}))
    assert worked(world).repeat == []
    assert shown_by_index(world) == truth_of(world)


def test_maintain_without_steps_is_every_step(world: World) -> None:
    world.instance("acme").call("maintain")
    assert decode_task(queue_of(world).messages[0]).steps == frozenset(STEPS)


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_maintain_that_the_queue_did_not_take_says_so(world: World) -> None:
    world.queue = ListedQueue(refuses=[0])
    with pytest.raises(LodestoreError) as refused:
        world.instance("acme").call("maintain")
    assert (refused.value.code, refused.value.written) == ("unavailable", "unknown")
