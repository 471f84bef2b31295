"""Tenants above the threshold are answered by the vector engine, and as by the shards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.limits import CONTENT_BYTES
from lodestore.format import keys
from lodestore.ports.vector_index import HITS_MOST
from tests.services.engine_world import EngineWorld, degraded
from tests.services.stand_in_embedder import WordEmbedder
from tests.structure.source_tree import ROOT

FACTS = [
    "The office moved to the third floor",
    "Nora is allergic to peanuts",
    "We deploy on Thursdays, never on Fridays",
    "The staging database is called heron",
    "Invoices are sent on the first of the month",
]


@pytest.fixture
def world(folder: Path) -> Iterator[EngineWorld]:
    world = EngineWorld(folder)
    yield world
    world.close()


def told(world: EngineWorld, tenant: str = "acme", facts: list[str] | None = None) -> list[str]:
    acme = world.instance(tenant)
    return [acme.stored(fact) for fact in facts or FACTS]


def test_a_tenants_vectors_are_in_an_index_of_its_own_and_answer_its_recalls(world: EngineWorld) -> None:
    ids = told(world)
    assert set(world.vectors.indexes) == {keys.vector_index("acme", "words")}
    assert world.ids() == set(ids)
    assert world.agrees("who is allergic to peanuts")[0] == FACTS[1]
    assert world.meter.counts["vector_engine_used"] == 1
    assert world.vectors.calls["query"] == 1


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_answer_from_the_engine_is_not_degraded(world: EngineWorld) -> None:
    told(world)
    assert not degraded(world.instance().call("recall", query="peanuts"))


def test_vectors_carry_no_word_of_a_memory(world: EngineWorld) -> None:
    acme = world.instance(conversation="chat-of-nora")
    acme.stored("Nora likes plums", tags=["fruit"], category="tastes", source="nora", scope="conversation")
    (vector,) = world.vectors.indexes[world.name()].vectors.values()
    assert vector.text is None
    said = repr(vector.attributes).lower()
    assert not [w for w in ("nora", "plums", "fruit", "tastes", "chat") if w in said]
    assert set(vector.attributes) == {
        *("type", "category", "tags", "scope", "conversation", "status", "created_at")
    }


@pytest.mark.case("B67")
def test_long_content_and_many_wide_tags_are_taken_and_found_by_each_tag(world: EngineWorld) -> None:
    tags = [f"{'年' * 58}{n:02}" for n in range(30)]
    content = "the quarterly plan " * 640
    assert 12_000 < len(content) <= CONTENT_BYTES
    acme = world.instance()
    acme.stored(content, tags=tags)
    assert len(world.stored()) > 50, "a long text has several vectors"
    assert acme.hits("quarterly plan", tags=tags[:3]) == world.plain().hits("quarterly plan", tags=tags[:3])
    assert acme.hits("quarterly plan", tags=[tags[7]])
    assert world.meter.counts["vector_engine_used"] == 2


@pytest.mark.case("B35")
def test_a_filter_finds_what_hundreds_of_nearer_memories_would_hide(world: EngineWorld) -> None:
    acme = world.instance()
    contract = "the zeppelin contract was signed in the old town hall by both parties"
    acme.stored(contract, tags=["legal"], type="decision", category="court")
    world.indexing = "off"
    for n in range(HITS_MOST + 60):
        acme.stored(f"zeppelin contract {n}")
    world.indexing = "on"
    world._index("acme")
    narrowings: list[dict[str, object]] = [{"tags": ["legal"]}, {"type": "decision"}, {"category": "court"}]
    for narrow in narrowings:
        asked = world.vectors.calls["query"]
        assert world.agrees("zeppelin contract", limit=5, **narrow) == [contract]
        assert world.vectors.calls["query"] == asked + 2, "under the filter, and without it for the scale"
    assert world.meter.counts["vector_engine_used"] == 3


@pytest.mark.promise("P-TENANT")
def test_a_conversations_notes_are_found_in_it_alone(world: EngineWorld) -> None:
    note = "the password hint is a bird"
    world.instance(conversation="a").stored(note, scope="conversation")
    world.instance("zephyr").stored("the password hint is a fish")
    assert world.instance(conversation="a").hits("password hint") == [note]
    assert world.instance(conversation="b").hits("password hint") == []
    assert world.instance("zephyr").hits("password hint") == ["the password hint is a fish"]
    assert world.name("acme") != world.name("zephyr")


@pytest.mark.case("B46")
def test_what_has_expired_is_found_by_neither(world: EngineWorld) -> None:
    acme = world.instance()
    acme.stored("the door code is 4711", ttl_days=60 / 86_400)
    world.clock.advance(timedelta(seconds=58))
    assert world.agrees("door code") == ["the door code is 4711"]
    world.clock.advance(timedelta(seconds=3))
    assert world.agrees("door code") == []


@pytest.mark.case("B52")
def test_a_memory_is_found_after_each_of_its_updates(world: EngineWorld) -> None:
    acme = world.instance()
    memory_id = acme.stored("the lead is Ana")
    for name in ("Ben", "Cleo", "Dan"):
        acme.call("update_memory", id=memory_id, content=f"the lead is {name}")
        assert world.agrees("who is the lead") == [f"the lead is {name}"]
    assert len(world.stored()) == 4, "no delete came before the sweep"
    world.sleep()
    assert len(world.stored()) == 1
    assert world.agrees("who is the lead") == ["the lead is Dan"]


def test_a_vector_that_was_replaced_a_moment_ago_is_not_swept_yet(world: EngineWorld) -> None:
    acme = world.instance()
    memory_id = acme.stored("the lead is Ana")
    acme.call("update_memory", id=memory_id, content="the lead is Ben")
    world.instance().lodestore.sleeping.run("acme", {"purge"})
    assert len(world.stored()) == 2
    assert world.sleep("acme", "purge").steps[0].counts["vectors_deleted"] == 1
    assert len(world.stored()) == 1


@pytest.mark.case("B02")
@pytest.mark.promise("P-FORGOTTEN")
def test_a_forgotten_memorys_vectors_are_gone_with_the_next_run_of_the_indexer(world: EngineWorld) -> None:
    acme = world.instance()
    badge = acme.stored("Nora's badge number is 4471")
    told(world)
    assert badge in world.ids()
    acme.call("forget", id=badge)
    assert badge not in world.ids()
    assert world.agrees("badge number", min_score=0) == world.plain().hits("badge number", min_score=0)
    assert "badge" not in repr(acme.hits("badge number", min_score=0))
    world.sleep()
    acme.call("restore_memory", id=badge)
    assert badge in world.ids()
    assert world.agrees("badge number")[0] == "Nora's badge number is 4471"


@pytest.mark.case("B11")
@pytest.mark.promise("P-FORGOTTEN")
def test_a_put_that_arrives_after_the_forget_brings_nothing_back(world: EngineWorld) -> None:
    acme = world.instance()
    secret = acme.stored("the vault opens at nine")
    late = list(world.vectors.indexes[world.name()].vectors.values())
    acme.call("forget", id=secret)
    told(world)
    world.vectors.put(world.name(), late)
    assert acme.hits("when does the vault open", min_score=0) == world.plain().hits(
        "when does the vault open", min_score=0
    )
    assert "vault" not in repr(acme.hits("vault", min_score=0))
    world.sleep()
    assert secret not in world.ids()


def test_superseded_memories_and_the_past_are_found_as_by_the_shards(world: EngineWorld) -> None:
    acme = world.instance()
    old = acme.stored("the capital of the project is Oslo")
    world.clock.advance(timedelta(days=3))
    before = world.clock.now().isoformat()
    world.clock.advance(timedelta(days=3))
    acme.stored("the capital of the project is Bergen", supersedes=[old])
    assert world.agrees("capital of the project") == ["the capital of the project is Bergen"]
    assert len(world.agrees("capital of the project", include_superseded=True)) == 2
    assert world.agrees("capital of the project", as_of=before) == ["the capital of the project is Oslo"]


def test_merged_segments_are_not_put_again(world: EngineWorld) -> None:
    acme = world.instance()
    for n in range(40):
        acme.stored(f"fact number {n} about topic {n % 7}")
    manifest = world.manifest()
    assert len(manifest.segments) < 40, "segments were merged"
    assert all(entry.in_engine for entry in manifest.segments)
    puts = world.vectors.calls["put"]
    world.sleep()
    assert world.vectors.calls["put"] == puts == 40
    world.agrees("topic 3", limit=10)


def test_a_rebuilt_index_is_answered_by_the_engine_again(world: EngineWorld) -> None:
    told(world)
    world.instance().lodestore.rebuilding.run("acme")
    assert not any(entry.in_engine for entry in world.manifest().segments)
    assert world.agrees("who is allergic")[0] == FACTS[1]
    world._index("acme")
    assert all(entry.in_engine for entry in world.manifest().segments)
    world.agrees("who is allergic")


def test_another_model_begins_an_index_of_its_own_and_the_old_one_is_dropped(world: EngineWorld) -> None:
    told(world)
    first = world.name()
    world.embedder = WordEmbedder("other words", 24)
    world.sleep()
    assert world.name() != first
    assert len(world.stored()) == len(FACTS)
    assert world.agrees("who is allergic")[0] == FACTS[1]
    world.sleep()
    assert set(world.vectors.indexes) == {world.name()}
    assert world.manifest().engine_left == ()


def test_full_texts_are_stored_and_searched_only_where_that_is_turned_on(folder: Path) -> None:
    world = EngineWorld(folder, text=True)
    told(world)
    texts = {vector.text for vector in world.vectors.indexes[world.name()].vectors.values()}
    assert texts == set(FACTS)
    assert world.agrees("who is allergic to peanuts")[0] == FACTS[1]
    world.variables = {**world.variables, "VECTOR_TEXT": "0"}
    world.embedder = WordEmbedder()
    world.instance().stored("one more fact")
    assert world.manifest().engine is None, "left, and dropped with its texts by the next sleep"
    world.sleep()
    world.sleep()
    assert all(vector.text is None for vector in world.vectors.indexes[world.name()].vectors.values())
    world.agrees("who is allergic to peanuts")
    world.close()


def test_a_dry_run_changes_nothing_in_the_engine(world: EngineWorld) -> None:
    acme = world.instance()
    memory_id = acme.stored("the lead is Ana")
    acme.call("update_memory", id=memory_id, content="the lead is Ben")
    before = world.stored()
    report = world.sleep("acme", "sweep", "purge", dry_run=True)
    assert {step.step: step.counts["vectors_deleted"] for step in report.steps} == {"sweep": 1, "purge": 1}
    assert world.stored() == before


def test_a_process_without_a_vector_bucket_imports_and_asks_nothing_of_one(world: EngineWorld) -> None:
    told(world)
    before = dict(world.vectors.calls)
    world.plain().hits("who is allergic")
    assert dict(world.vectors.calls) == before
    code = (
        "import sys, tempfile; from lodestore.bootstrap import build;"
        " build({'DATA': tempfile.mkdtemp(), 'EMBEDDINGS': 'none'}).workers.shutdown();"
        " sys.exit(any('s3vectors' in name or name == 'botocore' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_bucket_without_a_threshold_is_left_alone(world: EngineWorld) -> None:
    world.variables = {"VECTOR_BUCKET": "vectors"}
    told(world)
    world.instance().hits("who is allergic")
    assert not world.vectors.calls
