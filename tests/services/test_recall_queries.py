"""Queries as people and programs write them: syntax that they try, and texts that nobody should send."""

from __future__ import annotations

import pytest

from tests.services.world import Instance, World, rows

NOTES = (
    ("Deploy to production with lpctl ship", {"tags": ["ops"], "type": "instruction"}),
    ("Deploy to staging with lpctl ship", {"tags": ["ops"], "type": "instruction"}),
    ("We deploy on Tuesdays only", {"tags": ["team"], "type": "decision"}),
    ("The blue cart takes port 8443", {"tags": ["hardware"], "type": "fact"}),
)


@pytest.fixture
def notes(acme: Instance) -> Instance:
    for content, fields in NOTES:
        acme.stored(content, **fields)
    return acme


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("deploy -staging", {0, 2}),
        ("deploy tag:ops", {0, 1}),
        ("deploy tag:ops -staging", {0}),
        ("deploy type:decision", {2}),
        ("deploy tag:nowhere", set()),
        ("tag:hardware", {3}),
        ("deploy before:2020-01-01", set()),
        ("deploy after:2020-01-01", {0, 1, 2}),
    ],
)
def test_syntax_narrows_what_is_found(notes: Instance, query: str, found: set[int]) -> None:
    assert set(notes.hits(query, limit=10)) == {NOTES[number][0] for number in found}


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("deploy -staging", "2 memories found. Only what passes -staging; in quotes it is plain text."),
        (
            "deploy type:decision",
            "1 memory found. Only what passes type:decision; in quotes it is plain text.",
        ),
        (
            "where is the type:event handler deployed",
            "No memory passes type:event, read as a filter; in quotes it is plain text.",
        ),
        (
            "what does tag:ops tag:v2 deploy",
            "No memory passes tag:v2, read as a filter; in quotes it is plain text.",
        ),
        (
            "blue cart -port",
            "Nothing relevant passes -port, read as a filter; in quotes it is plain text.",
        ),
        ("how do we type:deploy", "3 memories found."),
    ],
)
def test_what_was_read_as_syntax_is_said_and_what_left_nothing_is_named(
    notes: Instance, query: str, said: str
) -> None:
    assert notes.call("recall", query=query)["message"] == said


def test_syntax_in_quotes_is_plain_text(acme: Instance) -> None:
    acme.stored("The git tag:v2 points to the broken build")
    answer = acme.call("recall", query='what does "tag:v2" point to in git')
    assert (answer["count"], answer["message"]) == (1, "1 memory found.")


def test_what_a_query_says_never_widens_the_arguments(notes: Instance) -> None:
    assert notes.hits("deploy type:decision", type=["instruction"]) == []
    assert notes.hits("deploy tag:ops", type=["decision"]) == []
    assert notes.hits("deploy after:2020-01-01", until="2021-01-01") == []


def test_words_in_quotes_come_first(acme: Instance) -> None:
    for number in range(5):
        acme.stored(f"cart cart port port number {number}")
    acme.stored(
        "A long note about many things in which the blue one of the carts, a cart, has some port or other"
    )
    assert "blue" in acme.hits('port of the "blue cart"')[0]


@pytest.mark.parametrize(
    "query",
    [
        "d",
        "the of and is",
        "!?!… --- ///",
        "🙂🙂",
        "deploy 部署 развернуть نشر",
        "deploy " + "lorem ipsum " * 160,
        "'; DROP TABLE memories; --",
        "\\x00 %s {0} ${HOME} <script>alert(1)</script>",
        '"' * 500,
        "tag:" * 300,
        "-" * 1000,
        "(" * 1000,
        "a" * 2000,
        "\u202edeploy\u202c",
        "ＤＥＰＬＯＹ ｔｏ production",
    ],
)
def test_no_query_raises_and_every_score_is_a_probability(notes: Instance, query: str) -> None:
    for mode in ("precision", "balanced", "exploratory"):
        answer = notes.call("recall", query=query, mode=mode)
        found = [float(str(hit["score"])) for hit in rows(answer, "hits")]
        assert all(0 <= score <= 1 for score in found)
        assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("query", ["!?!… --- ///", "🙂🙂", "-" * 1000])
def test_what_has_no_words_that_are_stored_finds_nothing(notes: Instance, query: str) -> None:
    answer = notes.call("recall", query=query)
    assert (answer["count"], answer["message"]) == (0, "Nothing relevant is stored.")


def test_words_that_say_nothing_are_searched_where_there_are_no_others(acme: Instance) -> None:
    acme.stored("To be or not to be")
    acme.stored("Deploy on Tuesdays")
    assert acme.hits("to be or not to be")[0] == "To be or not to be"


def test_a_store_of_one_and_of_two_answers_what_it_has(world: World) -> None:
    alone = world.instance("alone")
    assert alone.hits("office") == []
    alone.stored("The office is in Oslo")
    assert alone.hits("where is our office located?") == ["The office is in Oslo"]
    assert alone.hits("favourite pizza topping") == []
    alone.stored("The boat is in Bergen")
    assert alone.hits("where is our office located?")[0] == "The office is in Oslo"
    assert alone.hits("boat")[0] == "The boat is in Bergen"


@pytest.mark.parametrize("query", ["PROJ-9999", "what is PROJ-9999?", "status of PROJ-9999 in billing"])
def test_an_identifier_that_nobody_stored_is_never_answered_with_high_confidence(
    acme: Instance, query: str
) -> None:
    acme.stored("PROJ-4711 is the migration of billing to Postgres")
    acme.stored("The status page is run by Ana")
    for hit in rows(acme.call("recall", query=query, min_score=0), "hits"):
        assert hit["confidence"] != "HIGH"
    (hit, *_) = rows(acme.call("recall", query="what is PROJ-4711?"), "hits")
    assert "PROJ-4711" in str(hit["content"])
