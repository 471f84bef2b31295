"""Whatever lies in the buckets, answers show nothing internal, what is whole is found, and upkeep goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lodestore.domain.counters import Delta, Note, Tally
from lodestore.format import keys
from lodestore.format.counts import encode_delta
from lodestore.ports.object_store import Found
from tests.fuzz.judging import Answered, judge
from tests.handlers.wire import Answer, call, event, request, send
from tests.security.planted import (
    BODIES,
    NEWER,
    OWN,
    TENANT,
    VALUES,
    bodies_of,
    changed,
    endless_vectors,
    fields_of,
    paths_in,
    places,
    spoilt_segments,
    stand_up,
    variants,
)
from tests.security.strangers import endpoint_over
from tests.services.stand_in_embedder import StandInEmbedder
from tests.services.world import World
from tests.stores.memory_store import Contents, MemoryStore

Json = dict[str, Any]

KINDS = (
    "memory",
    "tombstone",
    "marker",
    "manifest",
    "segment",
    "delta",
    "snapshot",
    "report",
    "receipt",
    "slept",
    "proposal",
    "undo",
    "reviewed",
    "due",
)
HEADERS = {"host": "127.0.0.1", "content-type": "application/json", "x-memory-tenant": TENANT}
TENDED_EVERY = 4
WIDE = {"mode": "exploratory", "limit": 50, "explain": True, "include_superseded": True}
READS: tuple[Json, ...] = (
    call("recall", {"query": "walrus clams", **WIDE}),
    call("recall", {"query": "walrus", "as_of": "2026-06-01"}),
    call("list_memories", {"status": "all", "limit": 100}),
    call("memory_context", {"query": "walrus"}),
    call("memory_stats"),
    call("list_proposals", {"status": "all"}),
    call("get_memory", {"id": "own", "history": True}),
    request("resources/read", {"uri": "memory://context"}),
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    world.state.inner = MemoryStore(world.clock, Contents(versioned=True))
    world.index.inner = MemoryStore(world.clock, Contents(versioned=False))
    world.embedder = StandInEmbedder()
    stand_up(world)
    yield world
    world.close()


class House:
    """A fresh process, spoken to over the wire; every answer is judged."""

    def __init__(self, world: World) -> None:
        self.lodestore = world.instance(TENANT).lodestore
        self._endpoint = endpoint_over(self.lodestore)

    def say(self, message: Json) -> Answer:
        answer = send(self._endpoint, event(headers=HEADERS, body=json.dumps(message)))
        finding = judge(Answered(answer.status, answer.headers, answer.text))
        assert finding is None, (message, finding)
        return answer

    def read_all(self) -> None:
        for message in READS:
            self.say(message)

    def touch(self, memory_id: str) -> None:
        for tool, more in (
            ("get_memory", {"history": True}),
            ("memory_feedback", {"useful": True, "note": "x"}),
            ("update_memory", {"source": "z"}),
            ("forget", {}),
            ("restore_memory", {}),
        ):
            self.say(call(tool, {"id": memory_id, **more}))
        for tool, given in (("decide_proposal", {"accept": True}), ("undo", {})):
            self.say(call(tool, {"id": "0" * 32, **given}))
        self.say(call("remember", {"content": f"after {memory_id}", "supersedes": [memory_id]}))

    def tend(self) -> None:
        self.lodestore.upkeep.index(TENANT)
        self.say(call("maintain"))
        self.lodestore.dispatch.run(everyone=True)

    def finds_own(self) -> bool:
        answer = self.say(call("recall", {"query": "walrus clams", "limit": 50, "mode": "exploratory"}))
        hits = answer.structured["hits"]
        assert isinstance(hits, list)
        return OWN in [hit["content"] for hit in hits]


@pytest.mark.case("B64")
@pytest.mark.promise("P-BOUNDED", "P-TRUTH")
@pytest.mark.parametrize("base", ["own", "gone"])
def test_records_with_a_hostile_field_break_nothing_around_them(world: World, base: str) -> None:
    planted = dict(variants(fields_of(world, base)))
    assert len(planted) > 200
    for memory_id, body in planted.items():
        world.state.inner.create(keys.memory(TENANT, memory_id), body)
        world.index.inner.create(keys.pending(TENANT, NEWER, memory_id), b"")
    House(world).read_all()
    assert House(world).finds_own()
    House(world).tend()
    House(world).read_all()
    assert House(world).finds_own()
    house = House(world)
    for memory_id in planted:
        house.say(call("get_memory", {"id": memory_id}))
    for memory_id in list(planted)[::60]:
        house.touch(memory_id)


@pytest.mark.promise("P-BOUNDED")
def test_a_vector_that_is_no_number_finds_nothing_and_hides_nothing(world: World) -> None:
    world.state.inner.create(keys.memory(TENANT, "planted"), endless_vectors(fields_of(world, "own")))
    world.index.inner.create(keys.pending(TENANT, NEWER, "planted"), b"")
    House(world).read_all()
    assert House(world).finds_own()
    House(world).tend()
    House(world).read_all()
    assert House(world).finds_own()


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER", "P-TRUTH")
@pytest.mark.parametrize("kind", KINDS)
def test_objects_that_are_none_of_ours_are_told_and_break_nothing(world: World, kind: str) -> None:
    for number, name in enumerate(bodies_of(kind)):
        for place in places(world)[kind]:
            place.put(BODIES[name])
        house = House(world)
        house.read_all()
        if kind in ("manifest", "segment"):
            freshness = house.say(READS[0]).structured["freshness"]
            assert isinstance(freshness, dict)
            assert freshness["degraded"] is True, name
        if number % TENDED_EVERY == 0:
            house.touch("planted")
            House(world).tend()
            House(world).read_all()
        assert House(world).finds_own() or kind in ("manifest", "segment")
    House(world).tend()
    assert House(world).finds_own()


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER")
@pytest.mark.parametrize("kind", ["manifest", "snapshot", "delta"])
def test_an_index_object_with_a_hostile_field_breaks_nothing(world: World, kind: str) -> None:
    (place,) = places(world)[kind]
    if kind == "delta":
        place.put(encode_delta(Delta("0" * 32, 1, {"own": Tally(1, 1, 0)}, (Note("own", True, "x"),))))
    found = place.store.get(place.key)
    assert isinstance(found, Found)
    fields = json.loads(found.body)
    for path in paths_in(fields):
        for value in VALUES:
            place.put(changed(fields, path, value))
            house = House(world)
            for message in (READS[0], READS[4]):
                house.say(message)
        House(world).tend()
        assert House(world).finds_own()


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER")
def test_a_segment_with_a_hostile_array_breaks_nothing(world: World) -> None:
    place = next(place for place in places(world)["segment"] if isinstance(place.store.get(place.key), Found))
    found = place.store.get(place.key)
    assert isinstance(found, Found)
    arrays = set()
    for name, body in spoilt_segments(found.body):
        place.put(body)
        House(world).read_all()
        arrays.add(name)
    assert {"id_hash", "revision", "term_at", "vector_scale", "importance", "recalls"} <= arrays
    House(world).tend()
    House(world).read_all()


def test_every_kind_of_key_is_tried(world: World) -> None:
    """Keys of access are tried where keys are, in test_keys; the engine's vectors are no objects."""
    tried = {"pending": "marker", "counts_delta": "delta", "counts_snapshot": "snapshot"}
    makers = {
        name
        for name, made in vars(keys).items()
        if callable(made)
        and not name.startswith(("_", "parse_", "is_"))
        and not name.endswith(("_of", "Name"))
    }
    assert (
        {tried.get(name, name) for name in makers if made_here(name)} - {"access", "vector", "vector_index"}
        == set(places(world))
        == set(KINDS)
    )


def made_here(name: str) -> bool:
    return bool(getattr(keys, name).__module__ == keys.__name__ and name != "Marker")
