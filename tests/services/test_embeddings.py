"""Vectors find what words do not, and their absence costs nothing else."""

from __future__ import annotations

import pytest

from tests.faults.hostile_store import on
from tests.services.stand_in_embedder import StandInEmbedder
from tests.services.world import Instance, World, rows


@pytest.fixture
def embedder(world: World) -> StandInEmbedder:
    world.embedder = StandInEmbedder()
    return world.embedder


def freshness(answer: dict[str, object]) -> dict[str, object]:
    found = answer["freshness"]
    assert isinstance(found, dict)
    return found


@pytest.mark.usefixtures("embedder")
def test_a_paraphrase_that_shares_no_word_is_found(world: World) -> None:
    instance = world.instance()
    instance.stored("Nora is allergic to peanuts")
    instance.stored("The premises moved to Bergen")
    answer = instance.call("recall", query="nuts", explain=True)
    assert [hit["content"] for hit in rows(answer, "hits")] == ["Nora is allergic to peanuts"]
    assert freshness(answer)["embeddings"] == "used"


def test_the_embedder_is_asked_once_for_a_write(world: World, embedder: StandInEmbedder) -> None:
    instance = world.instance()
    instance.stored("Nora is allergic to peanuts")
    assert embedder.passages_asked == 1


@pytest.mark.case("B83")
def test_a_memory_whose_embedding_failed_is_found_by_words_and_filled_in_later(
    world: World, embedder: StandInEmbedder
) -> None:
    instance = world.instance()
    embedder.failing = True
    memory_id = instance.stored("Nora is allergic to peanuts")
    embedder.failing = False
    assert instance.hits("allergic") == ["Nora is allergic to peanuts"]
    assert instance.call("memory_stats")["embeddings_missing"] == 1
    assert instance.lodestore.backfill.run("acme").filled == 1
    assert instance.call("memory_stats")["embeddings_missing"] == 0
    assert instance.hits("nuts") == ["Nora is allergic to peanuts"]
    assert instance.get(memory_id)["version"] == 1


def test_a_dry_run_of_the_back_fill_counts_and_changes_nothing(
    world: World, embedder: StandInEmbedder
) -> None:
    instance = world.instance()
    embedder.failing = True
    instance.stored("Nora is allergic to peanuts")
    embedder.failing = False
    before = world.state.count("replace")
    assert instance.lodestore.backfill.run("acme", dry_run=True).left == 1
    assert world.state.count("replace") == before


def test_an_embedder_that_fails_at_the_query_costs_the_vectors_and_is_said(
    world: World, embedder: StandInEmbedder
) -> None:
    instance = world.instance()
    instance.stored("Nora is allergic to peanuts")
    embedder.failing = True
    answer = instance.call("recall", query="allergic nuts")
    assert answer["count"] == 1
    assert freshness(answer)["embeddings"] == "failed"
    assert "words only" in str(answer["message"])


@pytest.mark.parametrize("dim", [4, 9])
def test_vectors_of_another_model_are_never_scored_and_are_made_anew(world: World, dim: int) -> None:
    world.embedder = StandInEmbedder("first")
    world.instance().stored("Nora is allergic to peanuts")
    world.embedder = StandInEmbedder("second", dim)
    instance = world.instance()
    assert instance.hits("nuts") == []
    assert instance.hits("allergic") == ["Nora is allergic to peanuts"]
    assert instance.call("memory_stats")["embeddings_missing"] == 1
    assert instance.lodestore.backfill.run("acme").filled == 1
    assert instance.hits("nuts") == ["Nora is allergic to peanuts"]
    assert instance.call("memory_stats")["embeddings_missing"] == 0


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_the_back_fill_never_undoes_a_newer_write(world: World, embedder: StandInEmbedder) -> None:
    instance = world.instance()
    embedder.failing = True
    memory_id = instance.stored("Nora is allergic to peanuts")
    embedder.failing = False

    def meanwhile(_: object) -> None:
        instance.call("update_memory", id=memory_id, content="Nora may eat peanuts again")

    world.state.inject(on(meanwhile, "replace"))
    instance.lodestore.backfill.run("acme")
    assert instance.get(memory_id)["content"] == "Nora may eat peanuts again"


@pytest.mark.usefixtures("embedder")
def test_a_new_content_or_source_is_embedded_anew(world: World) -> None:
    instance = world.instance()
    memory_id = instance.stored("We deploy on Friday")
    instance.call("update_memory", id=memory_id, content="Nora is allergic to peanuts")
    assert instance.hits("nuts") == ["Nora is allergic to peanuts"]
    assert instance.hits("ship", min_score=0) == []
    instance.call("update_memory", id=memory_id, source="release")
    assert instance.hits("ship", min_score=0) == []
    instance.call("update_memory", id=memory_id, source="Release")
    assert instance.hits("ship", min_score=0) == ["Nora is allergic to peanuts"]


def test_keywords_alone_serve_where_there_is_no_embedder(acme: Instance) -> None:
    acme.stored("Nora is allergic to peanuts")
    answer = acme.call("recall", query="allergic")
    assert (answer["count"], freshness(answer)["embeddings"]) == (1, "none")
    assert acme.call("memory_stats")["embeddings_missing"] == 0
