"""Arguments of a tool, drawn from the schema that `tools/list` shows: near the mark, so that they get far.

Owns: `calls`. Guarantees: every tool and every argument of the list is drawn, also one that a later version adds; most
values have the right type, and ids are often those of memories that exist.
Gives up: nothing that a schema says is left out; what only the tool knows (a valid cursor) is drawn seldom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.fuzz.values import json_values, numbers, texts, weighted

Json = dict[str, Any]

# Ids of memories that a target holds before the first input.
KNOWN_IDS = ("seed-plain", "seed-tagged", "seed-superseded", "seed-forgotten", "seed-note")
WORDS = ("walrus", "harbour", "Oslo", "The walrus lives in the harbour of Oslo")
TIMES = ("2026-03-09", "2026-03-09T01:30:00Z", "1970-01-01", "2200-01-01T00:00:00+02:00")


def calls(tools: Sequence[Json]) -> SearchStrategy[Json]:
    """`{"name", "arguments"}` of any of the tools, as `tools/list` describes them."""
    return st.one_of([_call(tool) for tool in tools])


def _call(tool: Json) -> SearchStrategy[Json]:
    schema = tool["inputSchema"]
    properties: Mapping[str, Json] = schema["properties"]
    right = {name: _right(name, shape) for name, shape in properties.items()}
    values = {name: _value(name, shape) for name, shape in properties.items()}
    needed = {name: right[name] for name in schema.get("required", ())}
    one = [st.fixed_dictionaries({**needed, name: value}) for name, value in values.items()]
    some = st.fixed_dictionaries(needed, optional={n: v for n, v in right.items() if n not in needed})
    most = st.fixed_dictionaries(needed, optional={n: v for n, v in values.items() if n not in needed})
    unknown = st.tuples(some, st.dictionaries(texts(), json_values(), min_size=1, max_size=2)).map(_merged)
    arguments: SearchStrategy[Any] = weighted(
        (6, st.one_of(one or [some])),
        (4, some),
        (2, most),
        (1, unknown),
        (1, st.fixed_dictionaries({}, optional=values)),
        (1, json_values()),
    )
    return st.fixed_dictionaries({"name": st.just(tool["name"]), "arguments": arguments})


def _merged(drawn: tuple[Json, Json]) -> Json:
    return {**drawn[0], **drawn[1]}


def _value(name: str, shape: Json) -> SearchStrategy[Any]:
    return weighted((3, _right(name, shape)), (2, _forgiving(name, shape)), (2, json_values()))


def _right(name: str, shape: Json) -> SearchStrategy[Any]:
    """Of the type that the schema names, and now and then of the value that the tool wants."""
    if "enum" in shape:
        return st.sampled_from(shape["enum"])
    kind = shape.get("type", "string")
    if kind == "array":
        return st.lists(_right(name, shape.get("items", {})), max_size=6)
    if kind == "object":
        return st.dictionaries(texts(), json_values(), max_size=4)
    if kind == "boolean":
        return st.booleans()
    if kind in ("number", "integer"):
        return weighted((3, st.integers(0, 60)), (2, st.floats(0, 1)), (1, numbers()))
    return _text_of(name)


def _text_of(name: str) -> SearchStrategy[str]:
    if name in ("id", "supersedes"):
        return weighted((4, st.sampled_from(KNOWN_IDS)), (1, texts()))
    if name in ("query", "content"):
        padded = st.tuples(texts(), texts()).map("walrus".join)
        return weighted((2, st.sampled_from(WORDS)), (2, texts()), (2, padded))
    if name.endswith(("_at", "_from", "_of")) or name in ("since", "until"):
        return weighted((2, st.sampled_from(TIMES)), (2, st.datetimes().map(str)), (1, texts()))
    return texts()


def _forgiving(name: str, shape: Json) -> SearchStrategy[Any]:
    """The forms that the interface forgives, and their edges: numbers and lists as texts, empty ones."""
    return st.one_of(
        st.sampled_from([None, "", [], {}, "[]", "{}", "null"]),
        numbers().map(str),
        st.lists(texts(), max_size=3).map(lambda items: "[" + ",".join(f'"{item}"' for item in items) + "]"),
        _right(name, shape).map(str),
    )
