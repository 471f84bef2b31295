"""The indexer: dirty ids in, one segment and one swap out, and the index shows the truth."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.memory import Stub
from lodestore.format import keys
from lodestore.format.records import decode_record
from lodestore.ports.object_store import Found
from lodestore.services import indexing, upkeep
from lodestore.services.indexing import MARKER_GRACE, MARKER_LAG, Indexing, NeedsRebuild
from tests.services.index_truth import (
    answers_of,
    indexed,
    manifest_of,
    markers_of,
    segments_of,
    shown_by_index,
    truth_of,
    without_index,
)
from tests.services.world import Instance, World

SECOND = timedelta(seconds=1)


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder / "indexed")
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def runs(world: World) -> Indexing:
    """The indexer of a fresh process."""
    return world.instance().lodestore.indexing


def overwrite(world: World, memory_id: str, body: bytes) -> None:
    """Put other bytes at the key, as a hand or a broken tool might."""
    key = keys.memory("acme", memory_id)
    world.state.inner.replace(key, body, expected=getattr(world.state.inner.get(key), "etag", ""))


def every_kind_of_write(acme: Instance) -> None:
    """Memories stored, changed, superseded, forgotten, said anew, and scoped notes."""
    oslo = acme.stored("The office is in Oslo", tags=["place"])
    acme.stored("The office is in Bergen", supersedes=[oslo])
    standup = acme.stored("Standup is at nine", category="plans")
    acme.call("update_memory", id=standup, content="Standup is at ten", tags=["new"])
    badge = acme.stored("Nora's badge number is 4471", type="decision", importance=0.9)
    acme.call("forget", id=badge)
    again = acme.stored("Anna leads QA")
    acme.call("forget", id=again)
    acme.stored("Anna leads QA")
    acme.stored("A note with an end", ttl_days=1)


def test_a_run_is_five_requests_and_one_swap(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    world.index.reset()
    world.state.reset()
    done = runs(world).run("acme")
    assert (done.rows, done.killed, done.read, done.pending, done.generation) == (1, 0, 1, 1, 1)
    sent = [(request.operation, request.key.partition("/")[0]) for request in world.index.requests]
    assert sent == [("get", "index"), ("list", "pending"), ("create", "index"), ("create", "index")]
    assert [request.operation for request in world.state.requests] == ["get"]


def test_a_run_without_anything_dirty_writes_nothing(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo")
    runs(world).run("acme")
    world.index.reset()
    assert runs(world).run("acme").rows == 0
    assert not [request for request in world.index.requests if request.writes]


@pytest.mark.promise("P-TRUTH")
def test_whatever_was_written_the_index_shows_it_and_every_answer_stays_the_same(
    world: World, acme: Instance
) -> None:
    every_kind_of_write(acme)
    bare = without_index(world)
    indexed(world)
    assert shown_by_index(world) == truth_of(world)
    queries = ("office Oslo", "standup", "badge number", "Anna", "note")
    assert answers_of(world.instance(), *queries) == answers_of(bare.instance(), *queries)
    world.clock.advance(timedelta(days=2))
    bare.clock.advance(timedelta(days=2))
    assert answers_of(world.instance(), *queries) == answers_of(bare.instance(), *queries)
    bare.close()


@pytest.mark.promise("P-IDEMPOTENT")
def test_an_indexed_tenant_has_nothing_pending_and_its_recall_reads_no_tail(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    reader = world.instance()
    world.state.reset()
    answer = reader.call("recall", query="office")
    freshness = answer["freshness"]
    assert isinstance(freshness, dict)
    assert (freshness["generation"], freshness["pending"], freshness["degraded"]) == (1, 0, False)
    assert [request.operation for request in world.state.requests] == ["get"]


@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.case("B86")
def test_events_may_be_late_repeated_reordered_or_lost(world: World, acme: Instance) -> None:
    every_kind_of_write(acme)
    ids = list(truth_of(world))
    for named in ([], ids[:1], ids[1:] + ids[:1], ids, ids, ["never-was"]):
        runs(world).run("acme", named)
        assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-IDEMPOTENT")
def test_an_event_alone_is_enough_where_the_marker_was_lost(world: World, acme: Instance) -> None:
    memory_id = acme.stored("The office is in Oslo")
    for marker in markers_of(world):
        world.index.inner.delete(f"{keys.pending_of('acme')}{marker}")
    runs(world).run("acme", [memory_id])
    assert world.instance().hits("office") == ["The office is in Oslo"]


@pytest.mark.case("B11")
@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.promise("P-IDEMPOTENT")
def test_an_event_held_until_after_the_forget_brings_nothing_back(world: World, acme: Instance) -> None:
    memory_id = acme.stored("Nora's badge number is 4471")
    indexed(world)
    acme.call("forget", id=memory_id)
    for _ in range(2):
        runs(world).run("acme", [memory_id])
        fresh = world.instance()
        assert (fresh.hits("badge number"), fresh.listed(status="all")) == ([], [])
    assert shown_by_index(world) == truth_of(world)
    ((_, _, is_stub),) = shown_by_index(world).values()
    assert is_stub


@pytest.mark.promise("P-FORGOTTEN")
def test_an_old_object_put_back_by_hand_does_not_show_over_its_indexed_stub(
    world: World, acme: Instance
) -> None:
    memory_id = acme.stored("Nora's badge number is 4471")
    before = world.state.inner.get(keys.memory("acme", memory_id))
    acme.call("forget", id=memory_id)
    indexed(world)
    assert isinstance(before, Found)
    overwrite(world, memory_id, before.body)
    runs(world).run("acme", [memory_id])
    assert world.instance().hits("badge number") == []
    assert world.instance().listed(status="all") == []


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_a_marker_goes_with_a_later_run_when_its_manifest_is_in_place_for_a_minute(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Oslo")
    assert runs(world).run("acme").markers_deleted == 0
    world.clock.advance(MARKER_LAG - SECOND)
    assert runs(world).run("acme").markers_deleted == 0
    world.clock.advance(2 * SECOND)
    assert runs(world).run("acme").markers_deleted == 1
    assert markers_of(world) == set()


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_a_marker_of_one_memory_does_not_go_earlier_because_others_are_old(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Oslo")
    runs(world).run("acme")
    world.clock.advance(2 * MARKER_LAG)
    late = acme.stored("The office is in Bergen")
    runs(world).run("acme")
    assert [marker[27:] for marker in markers_of(world)] == [late]
    world.clock.advance(MARKER_LAG / 2)
    assert runs(world).run("acme").markers_deleted == 0
    world.clock.advance(MARKER_LAG)
    assert runs(world).run("acme").markers_deleted == 1


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_an_old_marker_stays_while_the_manifest_does_not_show_what_it_says(
    world: World, acme: Instance
) -> None:
    for number in range(2):
        acme.stored(f"statement number {number}")
        # The indexer was down for hours.
        world.clock.advance(2 * MARKER_GRACE)
        assert runs(world).run("acme").markers_deleted == number
        assert len(markers_of(world)) == 1


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_a_marker_of_a_write_that_never_landed_is_settled_after_an_hour(world: World, acme: Instance) -> None:
    memory_id = acme.stored("The office is in Oslo")
    revision = truth_of(world)[memory_id][0]
    for revision_, id_ in ((f"{revision[:-1]}~", "never-was"), (f"{revision[:5]}Z{revision[6:]}", memory_id)):
        world.index.inner.create(keys.pending("acme", revision_.replace("~", "Z"), id_), b"")
    indexed(world, times=2)
    world.clock.advance(MARKER_GRACE - SECOND)
    indexed(world)
    assert len(markers_of(world)) == 2
    world.clock.advance(2 * SECOND)
    indexed(world)
    assert markers_of(world) == set()
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_object_that_is_no_record_is_counted_kept_pending_and_shown_by_nothing(
    world: World, acme: Instance
) -> None:
    memory_id = acme.stored("The office is in Oslo")
    indexed(world)
    whole = world.state.inner.get(keys.memory("acme", memory_id))
    assert isinstance(whole, Found)
    overwrite(world, memory_id, b"not a memory")
    done = runs(world).run("acme", [memory_id])
    assert (done.invalid, done.killed, [flaw.reason for flaw in done.flaws]) == (1, 1, ["not JSON"])
    assert memory_id not in str(done.flaws)
    assert world.instance().hits("office") == []
    overwrite(world, memory_id, whole.body)
    runs(world).run("acme", [memory_id])
    assert world.instance().hits("office") == ["The office is in Oslo"]


def test_an_object_that_a_hand_deleted_is_no_longer_shown_when_an_event_says_so(
    world: World, acme: Instance
) -> None:
    memory_id = acme.stored("The office is in Oslo")
    indexed(world)
    world.state.inner.delete(keys.memory("acme", memory_id))
    assert runs(world).run("acme", [memory_id]).killed == 1
    assert shown_by_index(world) == {} == truth_of(world)


@pytest.mark.promise("P-BOUNDED")
def test_a_run_takes_a_bounded_number_of_ids_and_upkeep_goes_on_until_none_is_left(
    world: World, acme: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [acme.stored(f"statement {number}") for number in range(8)]
    monkeypatch.setattr(indexing, "RUN_IDS", 3)
    monkeypatch.setattr(upkeep, "RUN_IDS", 3)
    assert runs(world).run("acme").left == 5
    done = world.instance().lodestore.upkeep.index("acme", ids)
    assert done.left == 0
    assert shown_by_index(world) == truth_of(world)


def test_a_tenant_whose_manifest_is_unreadable_or_of_another_tokenizer_is_not_added_to(
    world: World, acme: Instance
) -> None:
    acme.stored("The office is in Oslo")
    indexed(world)
    key, whole = keys.manifest("acme"), world.index.inner.get(keys.manifest("acme"))
    assert isinstance(whole, Found)
    for body in (b"{", whole.body.replace(b'"tokenizer":', b'"tokenizer":9')):
        world.index.inner.replace(key, body, expected=getattr(world.index.inner.get(key), "etag", ""))
        with pytest.raises(NeedsRebuild):
            runs(world).run("acme")
    assert len(segments_of(world)) == 1


def test_a_stub_has_a_row_that_still_supersedes(world: World, acme: Instance) -> None:
    oslo = acme.stored("The office is in Oslo")
    bergen = acme.stored("The office is in Bergen", supersedes=[oslo])
    acme.call("forget", id=bergen)
    indexed(world)
    found = world.state.inner.get(keys.memory("acme", bergen))
    assert isinstance(found, Found)
    assert isinstance(decode_record(found.body, "acme", bergen), Stub)
    assert world.instance().hits("office") == []
    assert world.instance().listed(status="superseded") == [oslo]
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert (sum(one.rows for one in manifest.segments), manifest.documents) == (2, 1)
