"""What recall shows of statements that repeat or contradict each other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.services.world import Instance, World, rows


def _by_content(instance: Instance, query: str, **arguments: object) -> dict[str, dict[str, object]]:
    return {
        str(hit["content"]): hit for hit in rows(instance.call("recall", query=query, **arguments), "hits")
    }


def test_statements_that_contradict_each_other_both_show_newest_first_and_point_to_each_other(
    world: World, acme: Instance
) -> None:
    old = acme.stored("The retry limit is 3")
    world.clock.advance(timedelta(days=2))
    other = acme.stored("The retry limit of the importer is generous")
    new = acme.stored("The retry limit is 5")
    found = _by_content(acme, "what is the retry limit")
    names = list(found)
    assert names.index("The retry limit is 5") < names.index("The retry limit is 3")
    assert found["The retry limit is 5"]["contradicts"] == [old]
    assert found["The retry limit is 3"]["contradicts"] == [new]
    assert found["The retry limit of the importer is generous"]["contradicts"] == []
    assert {str(hit["id"]) for hit in found.values()} == {old, other, new}
    scores = [float(str(hit["score"])) for hit in found.values()]
    assert scores == sorted(scores, reverse=True)


def test_two_that_agree_are_one_and_oppose_the_third_together(world: World, acme: Instance) -> None:
    for number, content in enumerate(
        ("The retry limit is 3", "The retry limit is 5", "the retry limit is 3")
    ):
        acme.stored(content, id=f"limit-{number}")
        world.clock.advance(timedelta(days=1))
    hits = rows(acme.call("recall", query="retry limit", limit=10), "hits")
    shown = {str(hit["id"]): hit for hit in hits}
    assert list(shown) == ["limit-2", "limit-1"]
    assert shown["limit-1"]["contradicts"] == ["limit-2"]
    assert shown["limit-2"]["contradicts"] == ["limit-1"]
    assert shown["limit-2"]["similar"] == ["limit-0"]


def test_the_newest_of_what_says_the_same_stays_and_names_the_others(world: World, acme: Instance) -> None:
    acme.stored("The office is in Oslo", id="first")
    world.clock.advance(timedelta(days=1))
    acme.stored("the office is in Oslo.", id="second")
    (hit,) = rows(acme.call("recall", query="office"), "hits")
    assert (hit["id"], hit["similar"]) == ("second", ["first"])


@pytest.mark.case("B75")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The plan quota is 5 MB", "The plan quota is 5 Mb"),
        ("Alert the team when load > 80", "Alert the team when load < 80"),
        ("The calibration offset is -5", "The calibration offset is 5"),
        ("The hosting price is $5", "The hosting price is €5"),
        ("Nora has blood type O-", "Nora has blood type O+"),
        ("Run the job when x == y", "Run the job when x != y"),
        ("The area is 10² m", "The area is 102 m"),
        ("The total is 1.500 euros", "The total is 1500 euros"),
        ("Build passes on x && y", "Build passes on x || y"),
        ("el año de la casa", "el ano de la casa"),
        ("温度は5度です", "温度は-5度です"),
        ("The env var is Path", "The env var is PATH"),
    ],
)
def test_two_facts_that_differ_by_a_sign_a_unit_or_a_capital_both_show(
    world: World, acme: Instance, one: str, other: str
) -> None:
    acme.stored(one)
    world.clock.advance(timedelta(days=1))
    acme.stored(other)
    assert set(_by_content(acme, one, limit=20, min_score=0)) == {one, other}


def test_the_same_words_of_two_speakers_both_show(world: World, acme: Instance) -> None:
    acme.stored("My favourite colour is blue.", source="alice")
    world.clock.advance(timedelta(days=1))
    acme.stored("my favourite colour is blue", source="bob")
    hits = rows(acme.call("recall", query="favourite colour"), "hits")
    assert {hit["source"] for hit in hits} == {"alice", "bob"}


def test_a_distinct_fact_is_never_pushed_out_by_what_repeats_another(acme: Instance) -> None:
    for number in range(8):
        acme.stored(f"The office is in Oslo{'.' * (number % 2)}", id=f"same-{number}")
    acme.stored("The office is not in Oslo", id="distinct")
    assert "distinct" in {str(hit["id"]) for hit in rows(acme.call("recall", query="office in Oslo"), "hits")}
