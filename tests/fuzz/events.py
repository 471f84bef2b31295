"""Function-URL events around a body: headers, encodings, paths and members as no gateway would fold them.

Owns: the event of one input. Guarantees: most events differ from a sound one in one or two places, so that they get
far. Gives up: what HTTP itself refuses; `raw_requests` has that.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.fuzz.messages import VERSIONS
from tests.fuzz.values import json_values, texts, weighted
from tests.handlers.wire import LOCAL, MODERN, event

Json = dict[str, Any]

PATHS = (
    "/mcp", "/mcp/", "//mcp", "/mcp//", "/MCP", "/mcp/../health", "/%6dcp", "/mcp%2f", "/mcp%00", "/mcp;x=1", "/./mcp",
    "/health", "/health/", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/",
    "", "mcp", "/../../etc/passwd", "/..%2f..%2f", "/mcp?x=1", "/mcp#x", "/\u202e", "/" + "a" * 9_000,
)  # fmt: skip
METHODS = (
    "POST",
    "GET",
    "DELETE",
    "PUT",
    "OPTIONS",
    "HEAD",
    "PATCH",
    "TRACE",
    "CONNECT",
    "post",
    "",
    "POST POST",
)
TYPES = (
    "application/json", "application/json; charset=utf-8", 'application/json;charset="utf-8"', "text/plain",
    "application/json; charset=utf-16", "multipart/form-data", "application/json,application/json", ";", "",
)  # fmt: skip
ENCODINGS = ("gzip", "br", "deflate", "identity", "gzip, gzip", "x")
HEADERS = (
    "x-memory-tenant", "X-Memory-Tenant", "x-tenant-id", "x-conversation-id", "authorization", "x-api-key", "accept",
    "host", "origin", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id", "cookie",
    "content-type", "content-encoding", "content-length", "transfer-encoding", "x-forwarded-for", "x-forwarded-host",
    "user-agent", "expect", "access-control-request-method", "access-control-request-headers",
)  # fmt: skip
HEADER_VALUES = (
    "acme", "default", "a,b", "a, a", "*", "null", "Bearer", "Bearer x", "Bearer " + "x" * 9_000, "Basic Og==",
    "text/event-stream", "application/json, text/event-stream", "127.0.0.1", "evil.example", "http://evil.example",
    "http://127.0.0.1:1", "tools/call", "recall", "=?utf-8?B?4pyT?=", "\r\nx: y", "é", "年", *VERSIONS,
)  # fmt: skip


def events(bodies: SearchStrategy[str]) -> SearchStrategy[Json]:
    """An event with one of the bodies."""
    return st.builds(
        _event,
        bodies,
        weighted((2, st.just({})), (3, _headers())),
        weighted((5, st.just(("POST", "/mcp"))), (2, _places())),
        weighted(
            (2, st.just("text")),
            (2, st.just("base64")),
            (1, st.sampled_from(("gzip", "utf-16", "broken", "false"))),
        ),
        weighted((6, st.just({})), (1, _members())),
    )


def tool_events(messages: SearchStrategy[Json]) -> SearchStrategy[Json]:
    """A sound event with one of the tool calls; the headers of 2026-07-28 are there where the call is of it."""
    return st.tuples(messages, st.booleans(), st.sampled_from((None, "chat-1"))).map(_tool_event)


def message_events(bodies: SearchStrategy[str]) -> SearchStrategy[Json]:
    """A sound event with one of the bodies."""
    return bodies.map(lambda body: _event(body, {}, ("POST", "/mcp"), "text", {}))


def _tool_event(drawn: tuple[Json, bool, str | None]) -> Json:
    message, ascii_only, conversation = drawn
    body = json.dumps(message, ensure_ascii=ascii_only)
    own = {} if conversation is None else {"x-conversation-id": conversation}
    return _event(body, {**own, "mcp-name": message["params"]["name"]}, ("POST", "/mcp"), "text", {})


def _headers() -> SearchStrategy[Json]:
    names = weighted((6, st.sampled_from(HEADERS)), (1, texts()))
    values = weighted((4, st.sampled_from(HEADER_VALUES)), (1, texts()))
    types = st.sampled_from(TYPES).map(lambda kind: {"content-type": kind})
    encoded = st.sampled_from(ENCODINGS).map(lambda how: {"content-encoding": how})
    return weighted((4, st.dictionaries(names, values, max_size=3)), (1, types), (1, encoded))


def _places() -> SearchStrategy[tuple[str, str]]:
    return st.tuples(
        weighted((3, st.just("POST")), (3, st.sampled_from(METHODS)), (1, texts())),
        weighted((4, st.sampled_from(PATHS)), (1, texts())),
    )


def _members() -> SearchStrategy[Json]:
    """Members of the event itself, of any value: what calls the function need not be a function URL."""
    names = (
        "version",
        "rawPath",
        "rawQueryString",
        "headers",
        "requestContext",
        "isBase64Encoded",
        "body",
        "cookies",
    )
    return st.dictionaries(st.sampled_from(names), json_values(), min_size=1, max_size=2)


def _event(body: str, headers: Json, place: tuple[str, str], how: str, members: Json) -> Json:
    method, path = place
    modern = {"mcp-protocol-version": MODERN, "mcp-method": _method_of(body)} if MODERN in body else {}
    text, is_base64 = _encoded(body, how)
    made = event(method, path, headers={**LOCAL, **modern, **headers}, body=text, is_base64=is_base64)
    return {**made, **members}


def _encoded(body: str, how: str) -> tuple[str, bool]:
    data = body.encode("utf-8", "surrogatepass")
    if how == "base64":
        return base64.b64encode(data).decode(), True
    if how == "gzip":
        return base64.b64encode(gzip.compress(data, 1, mtime=0)).decode(), True
    if how == "utf-16":
        return base64.b64encode(body.encode("utf-16", "surrogatepass")).decode(), True
    if how == "broken":
        return base64.b64encode(data).decode()[:-1] + "*", True
    return (body, False) if how == "text" else (base64.b64encode(data).decode(), False)


def _method_of(body: str) -> str:
    """The method that a header of 2026-07-28 has to repeat."""
    found = re.search(r'"method": "([a-zA-Z/]+)"', body)
    return found.group(1) if found else "tools/call"
