"""Whatever the vector engine does, recall answers as the shards do, says so, and the next sleep mends it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.format import keys
from lodestore.ports.vector_index import Busy, Failure, NoIndex, Refused
from lodestore.services.vector_reading import REST_SECONDS
from lodestore.services.vector_rows import keys_of
from tests.services.engine_world import A_WHILE, EngineWorld, degraded
from tests.services.stand_in_embedder import StandInEmbedder, WordEmbedder

FACTS = [
    f"note {n}: the {thing} is in room {n}" for n, thing in enumerate("lathe kiln press drill saw".split())
]
FAILURES = [Busy("503"), Busy("429"), Busy("402"), Refused("403"), NoIndex()]


@pytest.fixture
def world(folder: Path) -> Iterator[EngineWorld]:
    world = EngineWorld(folder)
    yield world
    world.close()


@pytest.fixture
def told(world: EngineWorld) -> list[str]:
    acme = world.instance()
    return [acme.stored(fact) for fact in FACTS]


def due(world: EngineWorld, tenant: str = "acme") -> bool:
    """Whether a sleep of the tenant is noted."""
    return any(
        keys.parse_due(entry.key) == tenant
        for page in world.index.inner.list(keys.DUE)
        for entry in page.entries
    )


@pytest.mark.usefixtures("told")
@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("failure", FAILURES, ids=repr)
def test_an_engine_that_fails_costs_a_recall_nothing_but_its_help(
    world: EngineWorld, failure: Failure
) -> None:
    world.vectors.failing["query"] = failure
    answer = world.instance().call("recall", query="where is the kiln")
    assert degraded(answer)
    assert world.meter.counts["vector_engine_failed"] == 1
    assert world.agrees("where is the kiln")[0] == FACTS[1]
    world.vectors.failing.clear()
    assert not degraded(world.instance().call("recall", query="where is the kiln"))


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.usefixtures("told")
def test_a_busy_engine_is_left_in_peace_for_a_while_and_answers_say_so(world: EngineWorld) -> None:
    acme = world.instance()
    world.vectors.failing["query"] = Busy("429")
    for _ in range(5):
        assert degraded(acme.call("recall", query="where is the kiln"))
    assert world.vectors.calls["query"] == 1
    assert world.meter.counts["vector_engine_rested"] == 4
    world.vectors.failing.clear()
    world.clock.advance(timedelta(seconds=REST_SECONDS))
    assert not degraded(acme.call("recall", query="where is the kiln"))


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("failure", [Refused("another dimension"), NoIndex()], ids=repr)
def test_what_does_not_pass_by_itself_is_noted_for_the_next_sleep(
    world: EngineWorld, failure: Failure
) -> None:
    world.vectors.failing["query"] = failure
    world.instance().call("recall", query="where is the kiln")
    assert due(world)


@pytest.mark.parametrize("failure", [Busy("503"), Refused("403")], ids=repr)
@pytest.mark.parametrize("operation", ["put", "create", "delete"])
def test_what_could_not_be_put_is_indexed_all_the_same_and_put_by_a_later_run(
    world: EngineWorld, operation: str, failure: Failure
) -> None:
    world.vectors.failing[operation] = failure
    acme = world.instance()
    ids = [acme.stored(fact) for fact in FACTS]
    acme.call("forget", id=ids[0])
    assert world.agrees("where is the drill")[0] == FACTS[3]
    assert world.meter.counts["vector_filling_failed"] >= 1
    assert due(world)
    world.vectors.failing.clear()
    report = world.sleep()
    assert report.complete
    assert world.ids() == set(ids[1:])
    assert all(entry.in_engine for entry in world.manifest().segments)
    assert not degraded(world.instance().call("recall", query="where is the drill"))


def test_a_merge_of_what_is_filled_and_what_is_not_is_not_taken_for_filled(world: EngineWorld) -> None:
    acme = world.instance()
    for n in range(30):
        # Every second put fails, and merges go on meanwhile.
        world.vectors.failing = {"put": Busy("503")} if n % 2 else {}
        acme.stored(f"the code of shelf {n} is {n * 7}")
        there = world.stored()
        manifest = world.manifest()
        segments = world.plain().lodestore.merging._segments.load("acme", manifest.names)
        for entry in manifest.segments:
            segment = segments[entry.name]
            assert segment is not None
            if entry.in_engine:
                assert set(keys_of(segment, range(len(segment)))) <= there
    assert len(world.manifest().segments) < 30, "there were merges"
    world.agrees("code of shelf", limit=50, min_score=0)


def test_an_index_that_someone_deleted_is_missed_by_nobody_and_filled_again(
    world: EngineWorld, told: list[str]
) -> None:
    world.vectors.drop(world.name())
    assert degraded(world.instance().call("recall", query="where is the press"))
    assert world.agrees("where is the press")[0] == FACTS[2]
    assert due(world)
    world.sleep()
    assert world.ids() == set(told)
    assert not degraded(world.instance().call("recall", query="where is the press"))


def test_an_index_deleted_while_more_is_written_is_begun_again_with_all_of_it(
    world: EngineWorld, told: list[str]
) -> None:
    world.vectors.drop(world.name())
    more = world.instance().stored("note 9: the anvil is outside")
    assert world.ids() == {*told, more}
    assert world.meter.counts["vector_index_missing"] == 1
    world.agrees("where is the anvil")


def test_an_index_of_another_dimension_is_dropped_and_made_anew(world: EngineWorld, told: list[str]) -> None:
    world.vectors.drop(world.name())
    world.vectors.create(world.name(), 7, text=False)
    assert degraded(world.instance().call("recall", query="where is the saw"))
    assert world.agrees("where is the saw")[0] == FACTS[4]
    for _ in range(3):
        world.sleep()
    assert world.ids() == set(told)
    assert not degraded(world.instance().call("recall", query="where is the saw"))


def test_a_lost_vector_hides_no_memory_and_comes_back_with_the_sweep(
    world: EngineWorld, told: list[str]
) -> None:
    lost = [key for key in world.stored() if key.startswith(f"{told[1]}~")]
    world.vectors.delete(world.name(), lost)
    assert world.agrees("where is the kiln")[0] == FACTS[1]
    assert world.meter.counts["vector_engine_short"] >= 1
    report = world.sleep("acme", "sweep")
    assert report.steps[0].counts["vectors_unmarked"] == 1
    assert set(lost) <= world.stored()


def test_keys_that_are_none_of_ours_are_swept(world: EngineWorld, told: list[str]) -> None:
    (vector,) = [v for v in world.vectors.indexes[world.name()].vectors.values() if v.key.startswith(told[0])]
    strange = vector.__class__("not ours", vector.vector, vector.attributes)
    world.vectors.put(world.name(), [strange])
    assert world.agrees("where is the lathe")[0] == FACTS[0]
    assert world.sleep("acme", "purge").steps[0].counts["vectors_deleted"] == 1
    assert world.ids() == set(told)


@pytest.mark.parametrize("failure", [Busy("503"), Refused("403")], ids=repr)
@pytest.mark.parametrize("operation", ["list", "describe", "delete", "drop"])
def test_a_sweep_that_the_engine_fails_is_said_and_stops_no_other_step(
    world: EngineWorld, told: list[str], operation: str, failure: Failure
) -> None:
    acme = world.instance()
    acme.call("update_memory", id=told[0], content="note 0: the lathe was sold")
    world.variables = {**world.variables, "VECTOR_TEXT": "1"} if operation == "drop" else world.variables
    if operation == "drop":
        world.plain()._after("acme")
        world.instance().lodestore.upkeep.index("acme")
        assert world.manifest().engine_left
    world.vectors.failing[operation] = failure
    report = world.sleep()
    purge = next(step for step in report.steps if step.step == "purge")
    assert purge.counts["vectors_failed"] == 1
    assert purge.status == "done"
    world.vectors.failing.clear()
    for _ in range(2):
        world.sleep()
    assert len(world.stored()) == len(FACTS)
    assert world.manifest().engine_left == ()


@pytest.mark.case("B83")
def test_what_had_no_embedding_gets_its_vector_with_the_back_fill(folder: Path) -> None:
    world = EngineWorld(folder)
    embedder = StandInEmbedder()
    world.embedder = embedder
    embedder.failing = True
    memory_id = world.instance().stored("Nora is allergic to nuts")
    assert world.vectors.indexes == {}, "nothing to put, so no index"
    assert world.instance().hits("allergic") == ["Nora is allergic to nuts"]
    embedder.failing = False
    world.sleep()
    assert world.ids() == {memory_id}
    assert world.agrees("who can eat peanuts") == ["Nora is allergic to nuts"]
    world.close()


@pytest.mark.usefixtures("told")
@pytest.mark.case("B01")
@pytest.mark.promise("P-TENANT")
def test_an_erased_tenant_has_no_index_left_and_others_keep_theirs(world: EngineWorld) -> None:
    zephyr = world.instance("zephyr")
    kept = [zephyr.stored(fact) for fact in FACTS[:3]]
    erasing = world.instance().lodestore.erasing
    before = erasing.count("acme")
    erased = erasing.run("acme")
    assert (erased.vector_indexes, erased.left) == (1, 0)
    assert before > erased.versions
    assert set(world.vectors.indexes) == {world.name("zephyr")}
    assert world.ids("zephyr") == set(kept)
    assert erasing.verify("acme").left == 0
    assert '"vector_indexes": 1' in str(erasing.verify("acme").receipt)
    assert world.agrees("where is the kiln", "zephyr")[0] == FACTS[1]


@pytest.mark.usefixtures("told")
def test_an_erasure_takes_indexes_of_earlier_models_too(world: EngineWorld) -> None:
    world.embedder = WordEmbedder("newer words", 16)
    world.instance().lodestore.upkeep.run("acme")
    assert len(world.vectors.indexes) == 2
    assert world.instance().lodestore.erasing.run("acme").vector_indexes == 2
    assert world.vectors.indexes == {}


@pytest.mark.usefixtures("told")
@pytest.mark.promise("P-SILENT-NEVER")
def test_an_erasure_without_the_engine_says_that_an_index_is_left(world: EngineWorld) -> None:
    assert world.plain().lodestore.erasing.run("acme").left == 1


def test_an_erased_memory_has_no_vector_left(world: EngineWorld, told: list[str]) -> None:
    erasing = world.instance().lodestore.erasing_memory
    assert erasing.look("acme", told[0]).vectors == 1
    erased = erasing.run("acme", told[0])
    assert (erased.gone, erased.vectors) == (True, 0)
    assert world.ids() == set(told[1:])


def test_a_memory_whose_vector_could_not_be_deleted_is_not_said_to_be_gone(
    world: EngineWorld, told: list[str]
) -> None:
    world.vectors.failing["delete"] = Busy("503")
    erased = world.instance().lodestore.erasing_memory.run("acme", told[0])
    assert (erased.gone, erased.vectors) == (False, 1)
    world.vectors.failing.clear()
    world.clock.advance(A_WHILE)
    assert world.instance().lodestore.erasing_memory.run("acme", told[0]).gone
