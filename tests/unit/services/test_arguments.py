"""Arguments are forgiving in form and strict in meaning."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lodestore.domain.memory import MemoryType
from lodestore.errors import InvalidArgument, LodestoreError, TooLarge
from lodestore.services.arguments import Arguments

NAMES = ("text", "tags", "type", "number", "whole", "flag", "moment", "mapping", "id", "query", "clear")


def of(**given: object) -> Arguments:
    return Arguments("tool", given, NAMES)


@pytest.mark.case("B31")
@pytest.mark.parametrize("absent", ["", None, [], {}, "  ", "null", "[]", "{}"])
def test_what_models_send_for_nothing_is_nothing(absent: object) -> None:
    arguments = of(
        text=absent, tags=absent, type=absent, number=absent, whole=absent, flag=absent, mapping=absent
    )
    assert arguments.text("text", most_bytes=10) is None
    assert arguments.texts("tags", most=3, most_bytes=10) is None
    assert arguments.choices("type", MemoryType) is None
    assert arguments.number("number", least=0, most=1) is None
    assert arguments.whole("whole", least=0, most=1) is None
    assert arguments.flag("flag") is None
    assert arguments.mapping("mapping", most_bytes=10, most_depth=2) is None


@pytest.mark.case("B32")
def test_json_in_strings_is_read_as_what_it_stands_for() -> None:
    assert of(tags='["a", "b"]').texts("tags", most=3, most_bytes=10) == ("a", "b")
    assert of(tags="a").texts("tags", most=3, most_bytes=10) == ("a",)
    assert of(tags="[draft").texts("tags", most=3, most_bytes=10) == ("[draft",)
    assert of(number="0.7").number("number", least=0, most=1) == 0.7
    assert of(whole="5").whole("whole", least=1, most=50) == 5
    assert of(whole=5.0).whole("whole", least=1, most=50) == 5
    assert of(mapping='{"a": {"b": 1}}').mapping("mapping", most_bytes=99, most_depth=2) == {"a": {"b": 1}}
    assert [of(flag=value).flag("flag") for value in (True, "true", "True", 1, "1")] == [True] * 5
    assert [of(flag=value).flag("flag") for value in (False, "false", "FALSE", 0, "0")] == [False] * 5
    assert of(type='["fact","event"]').choices("type", MemoryType) == (MemoryType.FACT, MemoryType.EVENT)
    assert of(type="Fact").choice("type", MemoryType) is MemoryType.FACT


@pytest.mark.case("B31")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tags", 42),
        ("tags", [1]),
        ("tags", [["a"]]),
        ("tags", {"a": 1}),
        ("text", 5),
        ("text", ["x"]),
        ("type", "opinion"),
        ("type", 3),
        ("number", "much"),
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", "Infinity"),
        ("number", 1.1),
        ("number", True),
        ("number", 10**400),
        ("whole", 1.5),
        ("whole", "2.5"),
        ("flag", "maybe"),
        ("flag", 2),
        ("moment", "yesterday"),
        ("moment", 5),
        ("moment", "2026-02-30"),
        ("mapping", "text"),
        ("mapping", ["a"]),
        ("mapping", {"a": float("nan")}),
        ("id", "a b"),
        ("id", 5),
        ("clear", ["content"]),
    ],
)
def test_a_wrong_meaning_is_refused_by_name(name: str, value: object) -> None:
    arguments = of(**{name: value})
    readers: dict[str, Callable[[], object]] = {
        "tags": lambda: arguments.texts("tags", most=3, most_bytes=10),
        "text": lambda: arguments.text("text", most_bytes=10),
        "type": lambda: arguments.choices("type", MemoryType),
        "number": lambda: arguments.number("number", least=0, most=1),
        "whole": lambda: arguments.whole("whole", least=1, most=50),
        "flag": lambda: arguments.flag("flag"),
        "moment": lambda: arguments.moment("moment"),
        "mapping": lambda: arguments.mapping("mapping", most_bytes=99, most_depth=2),
        "id": lambda: arguments.identifier("id"),
        "clear": lambda: arguments.names("clear", ("tags",)),
    }
    with pytest.raises(InvalidArgument) as caught:
        readers[name]()
    shown = caught.value.to_dict()
    assert (shown["field"], shown["written"]) == (name, False)
    assert shown["limit"]
    assert shown["next_step"] or name == "mapping"


@pytest.mark.promise("P-BOUNDED")
def test_what_is_too_large_says_the_limit_and_the_size() -> None:
    cases: list[tuple[Callable[[], object], str, int, int]] = [
        (lambda: of(text="é" * 6).text("text", most_bytes=10), "text", 10, 12),
        (lambda: of(tags=["a"] * 4).texts("tags", most=3, most_bytes=10), "tags", 3, 4),
        (lambda: of(tags=["x" * 11]).texts("tags", most=3, most_bytes=10), "tags", 10, 11),
        (lambda: of(query="q" * 2001).query(), "query", 2000, 2001),
        (
            lambda: of(mapping={"a": "x" * 9}).mapping("mapping", most_bytes=10, most_depth=2),
            "mapping",
            10,
            17,
        ),
    ]
    for read, field, limit, got in cases:
        with pytest.raises(TooLarge) as caught:
            read()
        shown = caught.value.to_dict()
        assert (shown["field"], shown["limit"], shown["got"]) == (field, limit, got)


def test_a_mapping_too_deep_is_refused_however_deep() -> None:
    deep: dict[str, object] = {}
    for _ in range(500):
        deep = {"a": deep}
    with pytest.raises(TooLarge) as caught:
        of(mapping=deep).mapping("mapping", most_bytes=10_000, most_depth=8)
    assert caught.value.field == "mapping"
    assert of(mapping={"a": [{"b": 1}]}).mapping("mapping", most_bytes=99, most_depth=3) == {"a": [{"b": 1}]}
    with pytest.raises(TooLarge):
        of(mapping={"a": [{"b": [1]}]}).mapping("mapping", most_bytes=99, most_depth=3)


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("name", ["tenant", "Text", "colour", "x" * 500, "\ud800"])
def test_an_unknown_argument_is_refused_and_the_known_ones_are_named(name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Arguments("tool", {name: 1}, NAMES)
    shown = caught.value.to_dict()
    assert "query" in str(shown["limit"])
    assert len(str(shown["field"])) < 80
    str(shown).encode()


@pytest.mark.case("B64")
@pytest.mark.parametrize("lone", ["\ud83d", "ok \udf78 ok"])
def test_half_a_character_is_refused_wherever_it_stands(lone: str) -> None:
    for read in (
        lambda: of(text=lone).text("text", most_bytes=99),
        lambda: of(query=lone).query(),
        lambda: of(tags=["a", lone]).texts("tags", most=3, most_bytes=99),
        lambda: of(mapping={"a": [lone]}).mapping("mapping", most_bytes=99, most_depth=8),
        lambda: of(mapping={lone: 1}).mapping("mapping", most_bytes=99, most_depth=8),
        lambda: of(type=lone).choice("type", MemoryType),
        lambda: of(id=lone).identifier("id"),
        lambda: of(moment=lone).moment("moment"),
        lambda: of(number=lone).number("number", least=0, most=1),
    ):
        with pytest.raises(LodestoreError) as caught:
            read()
        str(caught.value.to_dict()).encode()
        assert caught.value.field in NAMES


def test_a_long_value_is_never_echoed() -> None:
    with pytest.raises(InvalidArgument) as caught:
        of(type="x" * 5000).choice("type", MemoryType)
    assert caught.value.got == "text of 5,000 characters"


def test_only_content_and_query_may_be_the_word_null() -> None:
    assert Arguments("tool", {"content": "null"}, ["content"]).text("content", most_bytes=9) == "null"
    assert of(query="[]").query() == "[]"
    assert of(id="null").identifier("id") is None
    assert of(text="null").text("text", most_bytes=9) is None
