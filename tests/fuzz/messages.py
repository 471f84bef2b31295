"""JSON-RPC messages of both eras of MCP, well-formed or nearly.

Owns: the envelope around a tool's call or any other method, and how a message becomes the text of a body.
Guarantees: a text is at most a little over what a body may hold, so that the limit itself is tried.
Gives up: HTTP; `events` and `raw_requests` put the text into theirs.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from lodestore.domain.limits import BODY_BYTES
from tests.fuzz.values import endless, json_values, numbers, texts, weighted
from tests.handlers.wire import META, MODERN, VERSION_KEY

Json = dict[str, Any]

METHODS = (
    "initialize", "server/discover", "ping", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "resources/subscribe", "prompts/list", "prompts/get", "completion/complete",
    "logging/setLevel", "notifications/initialized", "notifications/cancelled", "notifications/progress",
    "sampling/createMessage", "tasks/get", "rpc.discover", "",
)  # fmt: skip
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN, "2099-01-01", "", "x")
PARAMS: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "fuzz", "version": "1"},
    "uri": "memory://context",
    "name": "recall_first",
    "cursor": "x",
}


def tool_messages(calls: SearchStrategy[Json]) -> SearchStrategy[Json]:
    """A sound envelope around a call, of either era."""
    plain = calls.map(lambda call: {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    return st.tuples(plain, st.booleans()).map(
        lambda drawn: _modern(drawn[0], META) if drawn[1] else drawn[0]
    )


def messages() -> SearchStrategy[Any]:
    """Any message: members missing, of another type, or hostile."""
    ids = weighted((6, st.just(1)), (1, texts()), (1, numbers()), (1, json_values()), (1, endless()))
    methods = weighted((6, st.sampled_from(METHODS)), (1, texts()), (1, json_values()))
    own = {name: weighted((3, st.just(was)), (1, json_values())) for name, was in PARAMS.items()}
    params = weighted((3, st.just(PARAMS)), (6, st.fixed_dictionaries({}, optional=own)), (1, json_values()))
    parts: dict[str, SearchStrategy[Any]] = {
        "jsonrpc": st.just("2.0"),
        "id": ids,
        "method": methods,
        "params": params,
    }
    sound = st.fixed_dictionaries(parts)
    others = {"jsonrpc": json_values(), "result": json_values(), "error": json_values()}
    loose = st.fixed_dictionaries({}, optional={**parts, **others})
    modern = st.tuples(sound, _metas()).map(lambda drawn: _modern(*drawn))
    batch = st.lists(sound, max_size=3)
    return weighted((4, sound), (6, modern), (2, loose), (1, batch), (1, json_values()))


def _metas() -> SearchStrategy[Any]:
    same = {name: st.just(value) for name, value in META.items()}
    return weighted(
        (2, st.just(dict(META))),
        (1, st.sampled_from(VERSIONS).map(lambda version: {**META, VERSION_KEY: version})),
        (1, st.fixed_dictionaries({}, optional={name: json_values() for name in META})),
        (1, st.fixed_dictionaries({**same, "progressToken": json_values()})),
        (1, json_values()),
    )


def _modern(message: Json, meta: object) -> Json:
    params = message.get("params")
    return {**message, "params": {**params, "_meta": meta}} if isinstance(params, dict) else message


def body_texts(sent: SearchStrategy[Any]) -> SearchStrategy[str]:
    """The message as JSON; some with escapes, some spoilt: cut, doubled, padded to the limit, with a name twice."""
    whole = st.tuples(sent, st.booleans()).map(lambda drawn: _dumped(*drawn))
    spoilt = st.tuples(whole, st.integers(0, 7), st.integers(0, 400)).map(_spoilt)
    return weighted((5, whole), (1, spoilt))


def _dumped(value: object, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)


def _spoilt(drawn: tuple[str, int, int]) -> str:
    text, way, at = drawn
    return (
        text[:at],
        text[:at] + "\x00" + text[at:],
        text + text,
        "\ufeff" + text,
        text.replace("{", '{"id":1,"id":2,', 1),
        text.replace(":", ":NaN,", 1),
        "[" * 100_000,
        text + " " * max(0, BODY_BYTES - len(text) - 1 + at % 3),
    )[way]
