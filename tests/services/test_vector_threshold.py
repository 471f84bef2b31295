"""Crossing the threshold, forwards and back, changes no answer; and a real S3 Vectors (over loopback) serves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lodestore.adapters.s3vectors_index import S3VectorsIndex
from lodestore.ports.vector_index import VectorIndex
from lodestore.services.upkeep import FAILURES
from lodestore.services.vector_filling import LEFT_BELOW
from tests.s3vectors.clients import BUCKET, make_client, running
from tests.services.engine_world import EngineWorld
from tests.services.world import Instance, SeededEntropy, rows

THRESHOLD = 10
ROOMS = [f"the {thing} of floor {n} is in room {n}" for n in range(5) for thing in ("lathe", "kiln", "press")]


@pytest.fixture
def world(folder: Path) -> Iterator[EngineWorld]:
    world = EngineWorld(folder, THRESHOLD)
    yield world
    world.close()


def test_a_small_tenant_costs_the_engine_no_request(world: EngineWorld) -> None:
    acme = world.instance()
    for room in ROOMS[:THRESHOLD]:
        acme.stored(room)
    assert world.agrees("where is the kiln of floor 2")
    world.sleep()
    assert not world.vectors.calls


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_each_recall_on_the_way_up_and_down_and_up_again_is_the_shards(world: EngineWorld) -> None:
    acme = world.instance()
    used: list[bool] = []

    def look(thing: str) -> None:
        before = world.meter.counts["vector_engine_used"]
        world.agrees(thing, limit=50, min_score=0)
        used.append(world.meter.counts["vector_engine_used"] > before)

    ids = []
    for room in ROOMS:
        ids.append(acme.stored(room))
        look(room)
    assert used.index(True) == THRESHOLD, "with the eleventh memory"
    assert all(used[THRESHOLD:])
    for number, memory_id in enumerate(ids):
        acme.call("forget", id=memory_id)
        look(ROOMS[-1])
        if len(ids) - number - 1 <= THRESHOLD * LEFT_BELOW:
            break
    assert used[-2:] == [True, False], "at four fifths of the threshold it leaves"
    assert world.manifest().engine is None
    world.sleep()
    assert world.vectors.indexes == {}
    for room in ROOMS[:4]:
        acme.remember(room, idempotency_key=f"again {room}")
        look(room)
    assert used[-1]
    assert len(world.ids()) == world.manifest().documents


def test_a_tenant_at_the_edge_does_not_go_back_and_forth(world: EngineWorld) -> None:
    acme = world.instance()
    ids = [acme.stored(room) for room in ROOMS[: THRESHOLD + 1]]
    for n in range(6):
        acme.call("forget", id=ids.pop())
        ids.append(acme.stored(f"another thing {n}"))
    assert world.meter.counts["vector_index_begun"] == 1
    assert not world.meter.counts["vector_index_left"]


def test_filling_that_has_no_time_left_goes_on_where_it_stopped(world: EngineWorld) -> None:
    world.indexing = "off"
    plain = world.plain()
    for room in ROOMS:
        plain.stored(room)
        plain.lodestore.indexing.run("acme")
    segments = len(world.manifest().segments)
    filling = world.instance().lodestore.upkeep._filling
    assert filling is not None
    time_for = iter([True] * 3)
    cut = filling.run("acme", going=lambda: next(time_for, False))
    assert (cut.marked, cut.left) == (3, segments - 3)
    world.agrees("the kiln of floor 2", limit=50, min_score=0)
    assert world.meter.counts["vector_engine_used"] == 1
    assert not world.meter.counts["vector_engine_short"], "what is not there yet was not looked for there"
    assert filling.run("acme").left == 0
    assert len(world.ids()) == len(ROOMS)
    world.agrees("the kiln of floor 2", limit=50, min_score=0)


@pytest.fixture
def over_loopback(world: EngineWorld) -> Iterator[Callable[[], VectorIndex]]:
    """The world's engine is S3 Vectors over loopback; makes another client of it."""
    with running() as endpoint:

        def connect() -> VectorIndex:
            client: Any = make_client(endpoint)
            return S3VectorsIndex(client, client, BUCKET, world.clock, SeededEntropy(7))

        world.engine = connect()
        yield connect


@pytest.mark.usefixtures("over_loopback")
def test_the_adapter_over_the_wire_answers_as_the_shards_do(world: EngineWorld) -> None:
    acme = world.instance(conversation="c1")
    for n, room in enumerate(ROOMS):
        acme.stored(room, tags=[f"floor{n // 3}"], scope="conversation" if n % 5 == 0 else "project")
    expected = world.plain(conversation="c1")
    narrowings: list[dict[str, object]] = [
        {},
        {"tags": ["floor2"]},
        {"type": "fact", "limit": 50, "min_score": 0},
    ]
    for arguments in narrowings:
        assert acme.hits("the kiln of floor 2", **arguments) == expected.hits(
            "the kiln of floor 2", **arguments
        )
    assert world.meter.counts["vector_engine_used"] == 3
    assert not world.meter.counts["vector_engine_failed"]
    memory_id = rows(acme.call("recall", query="press of floor 4"), "hits")[0]["id"]
    acme.call("update_memory", id=memory_id, content="the press of floor 4 was sold")
    assert acme.hits("press of floor 4")[0] == "the press of floor 4 was sold"
    report = world.sleep("acme", "purge")
    assert report.steps[0].counts["vectors_deleted"] == 1
    erased = world.instance().lodestore.erasing.run("acme")
    assert (erased.vector_indexes, erased.left) == (1, 0)


class Crowd:
    """Writers, an indexer and sleeps of one tenant at once. Each memory has a word of its own, so that whoever stored
    it knows what a recall has to find, whatever the engine is at. `wrong` tells of answers that were not right.
    """

    def __init__(self, world: EngineWorld, connect: Callable[[], VectorIndex], writers: int) -> None:
        self._world = world
        self._begin = threading.Barrier(writers + 2)
        self._done = threading.Event()
        self.wrong: list[str] = []
        instances = []
        for _ in range(writers):
            # A process has clients of its own.
            world.engine = connect()
            instances.append(world.instance())
        self.keeper = world.instance().lodestore
        self._writers = [
            threading.Thread(target=self._write, args=(instance, number))
            for number, instance in enumerate(instances)
        ]
        acts = (self._index, lambda: self.keeper.sleeping.run("acme", {"purge", "merge"}))
        self._keepers = [threading.Thread(target=self._keep, args=(act,)) for act in acts]

    def run(self) -> None:
        """Until every writer is done."""
        for thread in (*self._keepers, *self._writers):
            thread.start()
        for thread in self._writers:
            thread.join()
        self._done.set()
        for thread in self._keepers:
            thread.join()

    def _write(self, mine: Instance, number: int) -> None:
        self._begin.wait()
        for turn in range(3):
            ids = {}
            for n in range(7):
                said = f"w{number}t{turn}n{n} is the code of a shelf"
                ids[said] = mine.stored(said)
                if mine.hits(said.split()[0], limit=1) != [said]:
                    self.wrong.append(f"{said} was not found after it was stored")
            for said, memory_id in ids.items():
                mine.call("forget", id=memory_id)
                if said in mine.hits(said.split()[0], min_score=0):
                    self.wrong.append(f"{said} was found after it was forgotten")

    def _keep(self, act: Callable[[], object]) -> None:
        self._begin.wait()
        while not self._done.is_set():
            act()

    def _index(self) -> None:
        # Losing every swap to the others is no fault; the next run takes what is left.
        with suppress(*FAILURES):
            self.keeper.upkeep.index("acme")


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_crossing_forwards_and_back_under_writers_readers_and_sleeps_gives_no_wrong_answer(
    world: EngineWorld, over_loopback: Callable[[], VectorIndex]
) -> None:
    world.indexing = "off"
    crowd = Crowd(world, over_loopback, writers=3)
    crowd.run()
    assert crowd.wrong == []
    counts = world.meter.counts
    assert min(counts[f"vector_{what}"] for what in ("index_begun", "index_left", "engine_used")) >= 1
    crowd.keeper.upkeep.index("acme")
    for _ in range(3):
        world.sleep()
    manifest = world.manifest()
    assert (manifest.documents, manifest.engine, manifest.engine_left) == (0, None, ())
