"""Rebuilding from the truth alone: whatever became of the index, the same recalls come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.memory import Memory, Stub
from lodestore.format import keys
from lodestore.format.records import decode_record, encode_record
from lodestore.ports.object_store import Found
from lodestore.retrieval.segment_format import encode_segment
from lodestore.services import rebuilding
from lodestore.services.manifests import MANIFEST_BYTES
from lodestore.services.rebuilding import Rebuilding, Rebuilt
from tests.faults.hostile_store import Request, on
from tests.services.index_truth import (
    answers_of,
    indexed,
    manifest_of,
    markers_of,
    segments_of,
    shown_by_index,
    truth_of,
)
from tests.services.stand_in_embedder import StandInEmbedder
from tests.services.world import Instance, World
from tests.unit.retrieval.random_records import MEMORY, segment

MANIFEST = keys.manifest("acme")
QUERIES = ("office work", "standup", "badge number", "deploy")


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    world.embedder = StandInEmbedder()
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def rebuilds(world: World) -> Rebuilding:
    """The rebuilds of a fresh process."""
    return world.instance().lodestore.rebuilding


def put(world: World, key: str, body: bytes) -> None:
    """Put other bytes at a key of the index, as a hand or a broken disk might."""
    world.index.inner.delete(key)
    world.index.inner.create(key, body)


def remembered(world: World) -> list[str]:
    """A tenant with everything that an index holds, indexed; the ids."""
    acme = world.instance()
    ids = [
        acme.stored(f"The office number {number} is in Oslo", importance=number / 10) for number in range(6)
    ]
    ids.append(acme.stored("Standup is at nine", tags=["plans"], type="event", valid_from="2026-03-01"))
    acme.call("update_memory", id=ids[0], content="The office number 0 is in Bergen")
    ids.append(acme.stored("We deploy on Mondays", supersedes=[ids[1]]))
    badge = acme.stored("Nora's badge number is 4471")
    acme.call("forget", id=badge)
    for number in range(3):
        acme.stored(f"We release number {number} by hand")
        indexed(world)
    world.clock.advance(timedelta(minutes=5))
    indexed(world)
    assert markers_of(world) == set()
    return ids


def _deleted(world: World) -> None:
    for page in list(world.index.inner.list("")):
        for entry in page.entries:
            if not entry.key.startswith(keys.COUNTS):
                world.index.inner.delete(entry.key)


def _corrupt_manifest(world: World) -> None:
    put(world, MANIFEST, b'{"schema": 1, "tenant"')


def _large_manifest(world: World) -> None:
    put(world, MANIFEST, b" " * (MANIFEST_BYTES + 1))


def _segment(world: World, body: bytes | None) -> None:
    manifest = manifest_of(world).manifest
    assert manifest is not None
    key = keys.segment("acme", manifest.names[0])
    world.index.inner.delete(key)
    if body is not None:
        world.index.inner.create(key, body)


def _other_tokenizer(world: World) -> None:
    found = world.index.inner.get(MANIFEST)
    assert isinstance(found, Found)
    put(world, MANIFEST, json.dumps(json.loads(found.body) | {"tokenizer": 0}).encode())


DAMAGES: dict[str, Callable[[World], None]] = {
    "none": lambda _: None,
    "index-deleted": _deleted,
    "manifest-corrupt": _corrupt_manifest,
    "manifest-too-large": _large_manifest,
    "segment-missing": lambda world: _segment(world, None),
    "segment-corrupt": lambda world: _segment(world, b"not a segment"),
    "segment-of-other-length": lambda world: _segment(world, encode_segment(segment([]))),
    "tokenizer-changed": _other_tokenizer,
}


@pytest.mark.promise("P-TRUTH")
@pytest.mark.parametrize("damage", DAMAGES)
def test_after_a_rebuild_every_recall_is_byte_for_byte_what_it_was(world: World, damage: str) -> None:
    remembered(world)
    before = json.dumps(answers_of(world.instance(), *QUERIES))
    DAMAGES[damage](world)
    done = rebuilds(world).run("acme")
    assert json.dumps(answers_of(world.instance(), *QUERIES)) == before
    assert (done.objects, done.memories, done.stubs, done.invalid, done.segments) == (12, 11, 1, 0, 1)
    assert shown_by_index(world) == truth_of(world)
    freshness = world.instance().call("recall", query="office")["freshness"]
    assert isinstance(freshness, dict)
    assert (freshness["degraded"], freshness["pending"]) == (False, 0)


@pytest.mark.promise("P-TRUTH")
@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if damage != "none"])
def test_what_can_not_be_added_to_is_rebuilt_by_the_next_run_of_the_indexer(
    world: World, damage: str
) -> None:
    remembered(world)
    before = answers_of(world.instance(), *QUERIES)
    DAMAGES[damage](world)
    done = world.instance().lodestore.upkeep.index("acme")
    assert done.rebuilt is not None
    assert answers_of(world.instance(), *QUERIES) == before
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-TRUTH")
def test_after_a_change_of_the_embedding_model_a_rebuild_takes_the_vectors_that_are_the_new_ones(
    world: World,
) -> None:
    ids = remembered(world)
    world.embedder = StandInEmbedder(model="another")
    changed = world.instance()
    changed.call("update_memory", id=ids[2], content="The premises number 2 are in Rome")
    rebuilds(world).run("acme")
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert (manifest.model, sum(entry.vectors for entry in manifest.segments)) == ("another", 1)
    stats = world.instance().call("memory_stats")
    assert stats["embeddings_missing"] == stats["total"] - 1 if isinstance(stats["total"], int) else None
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.case("B02")
@pytest.mark.promise("P-FORGOTTEN")
def test_a_forgotten_memory_is_found_neither_at_once_nor_after_a_rebuild_nor_after_maintenance(
    world: World, acme: Instance
) -> None:
    memory_id = acme.stored("Nora's badge number is 4471")
    indexed(world)
    assert acme.hits("badge number")
    acme.call("forget", id=memory_id)
    assert world.instance().hits("badge number") == []
    rebuilds(world).run("acme")
    assert world.instance().hits("badge number") == []
    world.clock.advance(timedelta(days=2))
    world.instance().lodestore.dispatch.run(everyone=True)
    assert world.instance().hits("badge number") == []
    manifest = manifest_of(world).manifest
    assert manifest is not None
    assert (manifest.documents, sum(entry.vectors for entry in manifest.segments)) == (0, 0)
    world.clock.advance(timedelta(hours=4))
    world.instance().lodestore.dispatch.run(everyone=True)
    # The segment that held its words is gone, too.
    assert segments_of(world) == set(manifest.names)


def restored(world: World, acme: Instance, *, as_new: bool = False) -> tuple[str, Stub]:
    """A forgotten memory whose old object was put back by hand; its id, and its tombstone.

    as_new   under the revision of the tombstone itself
    """
    memory_id = acme.stored("Nora's badge number is 4471", idempotency_key="once")
    old = world.state.inner.get(keys.memory("acme", memory_id))
    acme.call("forget", id=memory_id)
    stub = world.state.inner.get(keys.memory("acme", memory_id))
    assert isinstance(old, Found)
    assert isinstance(stub, Found)
    record, memory = (decode_record(found.body, "acme", memory_id) for found in (stub, old))
    assert isinstance(record, Stub)
    body = (
        encode_record(replace(memory, revision=record.revision, recent=record.recent)) if as_new else old.body
    )
    world.state.inner.replace(keys.memory("acme", memory_id), body, expected=stub.etag)
    return memory_id, record


def record_of(world: World, key: str, memory_id: str) -> object:
    found = world.state.inner.get(key)
    return decode_record(found.body, "acme", memory_id) if isinstance(found, Found) else None


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("as_new", [False, True])
def test_an_object_that_a_hand_restored_is_forgotten_again(
    world: World, acme: Instance, as_new: bool
) -> None:
    memory_id, tombstone = restored(world, acme, as_new=as_new)
    _deleted(world)
    done = rebuilds(world).run("acme")
    assert (done.forgotten_again, done.stubs, done.memories) == (1, 1, 0)
    stub = record_of(world, keys.memory("acme", memory_id), memory_id)
    assert isinstance(stub, Stub)
    assert stub.revision > tombstone.revision
    assert (stub.reason, stub.idempotency, stub.forgotten_at) == (
        tombstone.reason,
        tombstone.idempotency,
        tombstone.forgotten_at,
    )
    assert set(tombstone.recent) <= set(stub.recent)
    assert record_of(world, keys.tombstone("acme", memory_id), memory_id) == stub
    assert f"{stub.revision}~{memory_id}" in markers_of(world)
    assert world.instance().hits("badge number") == []
    again = world.instance().remember("Nora's badge number is 4471", idempotency_key="once")
    assert again["status"] == "forgotten"
    assert rebuilds(world).run("acme").forgotten_again == 0


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_text_said_anew_while_a_rebuild_looks_is_not_forgotten(world: World, acme: Instance) -> None:
    memory_id, _ = restored(world, acme)
    writer = world.instance()

    def said_anew(_: Request) -> None:
        world.state.heal()
        world.clock.advance(timedelta(seconds=1))
        writer.call("update_memory", id=memory_id, content="Nora's badge number is 9000")

    world.state.inject(on(said_anew, "replace", keys.memory("acme", memory_id)))
    rebuilds(world).run("acme")
    assert isinstance(record_of(world, keys.memory("acme", memory_id), memory_id), Memory)
    assert world.instance().hits("badge number") == ["Nora's badge number is 9000"]


@pytest.mark.promise("P-FORGOTTEN")
def test_a_missing_tombstone_is_written_and_a_newer_memory_over_an_old_one_stays(
    world: World, acme: Instance
) -> None:
    gone, kept = acme.stored("Nora's badge number is 4471"), acme.stored("Standup is at nine")
    acme.call("forget", id=gone)
    acme.call("forget", id=kept)
    assert acme.stored("Standup is at nine") == kept
    world.state.inner.delete(keys.tombstone("acme", gone))
    done = rebuilds(world).run("acme")
    assert (done.tombstones, done.forgotten_again) == (1, 0)
    assert record_of(world, keys.tombstone("acme", gone), gone) == record_of(
        world, keys.memory("acme", gone), gone
    )
    assert world.instance().listed() == [kept]


def test_a_dry_run_counts_and_writes_nothing(world: World, acme: Instance) -> None:
    restored(world, acme)
    gone = acme.stored("Standup is at nine")
    acme.call("forget", id=gone)
    world.state.inner.delete(keys.tombstone("acme", gone))
    world.state.reset()
    world.index.reset()
    done = rebuilds(world).run("acme", dry_run=True)
    assert (done.dry_run, done.objects, done.forgotten_again, done.tombstones) == (True, 2, 1, 1)
    assert not [r for r in (*world.state.requests, *world.index.requests) if r.writes]


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_object_that_is_no_record_is_counted_and_left_as_it_is(world: World, acme: Instance) -> None:
    memory_id = acme.stored("The office is in Oslo")
    world.state.inner.delete(keys.memory("acme", memory_id))
    world.state.inner.create(keys.memory("acme", memory_id), b"not a memory")
    acme.stored("Standup is at nine")
    done = rebuilds(world).run("acme")
    assert (done.objects, done.invalid, done.memories) == (2, 1, 1)
    found = world.state.inner.get(keys.memory("acme", memory_id))
    assert isinstance(found, Found)
    assert found.body == b"not a memory"


def test_a_tenant_that_has_nothing_gets_no_index(world: World) -> None:
    assert rebuilds(world).run("acme-corp").generation == 0
    assert list(next(iter(world.index.inner.list(""))).entries) == []


@pytest.mark.case("B41")
@pytest.mark.promise("P-BOUNDED")
def test_every_page_of_a_large_tenant_is_rebuilt_in_bounded_segments(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2_345):
        record = replace(MEMORY, id=f"m{number:04}")
        world.state.inner.create(keys.memory("acme", record.id), encode_record(record))
    monkeypatch.setattr(rebuilding, "SEGMENT_ROWS", 1_000)
    seen: list[Rebuilt] = []
    done = rebuilds(world).run("acme", progress=seen.append)
    assert (done.objects, done.segments) == (2_345, 3)
    assert [report.objects for report in seen] == [1_000, 2_000, 2_345]
    assert shown_by_index(world) == truth_of(world)
    assert world.instance().call("memory_stats")["total"] == 2_345


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("as_new", [False, True])
def test_the_indexer_rebuilds_without_a_write_to_the_state_and_leaves_what_a_hand_restored_to_the_sweep(
    world: World, acme: Instance, as_new: bool
) -> None:
    memory_id, tombstone = restored(world, acme, as_new=as_new)
    _deleted(world)
    world.state.reset()
    done = world.instance().lodestore.upkeep.index("acme")
    assert done.rebuilt is not None
    assert [request for request in world.state.requests if request.writes] == []
    assert world.instance().hits("badge number") == []
    assert world.instance().listed(status="all") == []
    world.instance().lodestore.sleeping.run("acme")
    stub = record_of(world, keys.memory("acme", memory_id), memory_id)
    assert isinstance(stub, Stub)
    assert stub.revision > tombstone.revision
