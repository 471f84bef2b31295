"""What a conversation adds to what is found: what stands beside an answer, who said it, and when."""

from __future__ import annotations

import pytest

from lodestore.retrieval.conversation import ConversationFeatures
from lodestore.retrieval.ranking_weights import Weights
from tests.services.world import Instance, World, rows


def said(instance: Instance, *turns: str) -> None:
    for turn in turns:
        speaker, _, content = turn.partition(": ")
        instance.stored(content, source=speaker, type="event")


@pytest.fixture
def talks(world: World) -> Instance:
    """Two conversations in which the same is answered; only in one of them it was asked."""
    said(
        world.instance(conversation="trip"),
        "Ada: Where do we keep the spare boat?",
        "Bert: In the shed behind the mill, as always",
        "Ada: Good to know",
    )
    said(
        world.instance(conversation="garden"),
        "Cleo: The roses need water",
        "Dora: In the shed behind the barn, as always",
        "Cleo: I will do it",
    )
    return world.instance()


def test_an_answer_is_found_by_the_question_beside_it(talks: Instance) -> None:
    answers = [content for content in talks.hits("spare boat shed", mode="exploratory") if "shed" in content]
    assert answers == ["In the shed behind the mill, as always", "In the shed behind the barn, as always"]


def test_who_is_named_in_the_query_is_found_before_others(talks: Instance) -> None:
    for name, place in (("Dora", "barn"), ("Bert", "mill"), ("dora's", "barn")):
        first = talks.hits(f"which shed did {name} speak of", mode="exploratory")[0]
        assert place in first


def test_what_holds_from_the_day_that_is_named_is_found_first(world: World) -> None:
    instance = world.instance(conversation="log")
    for day in (5, 6, 7, 8):
        instance.stored(f"Deployed build {day * 11}", valid_from=f"2025-11-0{day}T09:00:00Z", type="event")
    for query in ("deployed on 6 November 2025", "deployed 2025-11-06", "deployed on Nov 6th, 2025"):
        assert instance.hits(query, mode="exploratory")[0] == "Deployed build 66"


def test_a_row_beside_a_match_that_does_not_match_itself_is_no_hit(world: World) -> None:
    instance = world.instance(conversation="trip")
    said(instance, "Ada: The walrus is called Olga", "Bert: Tuesday then")
    assert instance.hits("walrus", mode="exploratory", min_score=0) == ["The walrus is called Olga"]


@pytest.mark.promise("P-TENANT")
def test_what_another_conversation_noted_for_itself_stands_beside_nothing(world: World) -> None:
    """Two turns open to all, and between them a note of the conversation's own: to others they stand side by side."""
    talking, others = world.instance(conversation="trip"), world.instance()

    def scores(asking: Instance) -> list[object]:
        answer = asking.call("recall", query="spare boat shed", mode="exploratory", explain=True)
        return [{name: hit[name] for name in ("id", "score", "explain")} for hit in rows(answer, "hits")]

    at = "2025-11-0{}T09:00:00Z"
    talking.stored("The spare boat leaks", id="one", valid_from=at.format(1))
    talking.stored("The shed is locked", id="two", valid_from=at.format(3))
    alone = scores(others)
    talking.stored("A spare boat, a shed", scope="conversation", valid_from=at.format(2))
    assert scores(others) == alone != scores(talking)


def test_explain_shows_what_every_feature_adds(talks: Instance) -> None:
    (first, *_) = rows(talks.call("recall", query="Where is the boat of Ada", explain=True), "hits")
    explain = first["explain"]
    assert isinstance(explain, dict)
    assert set(Weights.__slots__) - {"assistant"} <= explain.keys()
    assert set(ConversationFeatures.__slots__) - {"assistant"} <= explain.keys()
    assert explain["named"] > 0 >= explain["question"]
