"""HTTP requests as bytes, for the real server: what a socket can say and a function URL would not pass on.

Owns: the bytes of one request. Guarantees: the bytes end; of a request that promises more than it sends the input
says so (`cut`), so that no reader has to wait for the rest.
Gives up: pipelining and TLS.
"""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.fuzz.events import HEADER_VALUES, HEADERS, METHODS, PATHS
from tests.fuzz.values import texts, weighted
from tests.handlers.wire import MODERN

Json = dict[str, Any]

LENGTHS = ("missing", "short", "long", "twice", "negative", "huge", "word", "chunked", "broken chunks")


def raw_requests(bodies: SearchStrategy[str]) -> SearchStrategy[Json]:
    """`{"bytes": base64, "cut"}` of a request with one of the bodies."""
    names = weighted((6, st.sampled_from(HEADERS)), (1, texts()))
    values = weighted((6, st.sampled_from(HEADER_VALUES)), (1, texts()))
    return st.builds(
        _request,
        bodies,
        weighted(
            (5, st.just(("POST", "/mcp"))), (2, st.tuples(st.sampled_from(METHODS), st.sampled_from(PATHS)))
        ),
        weighted((2, st.just([])), (1, st.lists(st.tuples(names, values), max_size=3))),
        weighted((3, st.just("right")), (1, st.sampled_from(LENGTHS))),
        weighted((6, st.just("HTTP/1.1")), (1, st.sampled_from(["HTTP/1.0", "HTTP/2.0", "HTTP/9", "x", ""]))),
    )


def _request(
    body: str, place: tuple[str, str], more: list[tuple[str, str]], length: str, version: str
) -> Json:
    data = _bytes(body)
    modern = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call")] if MODERN in body else []
    headers = [
        ("Host", "127.0.0.1"),
        ("Content-Type", "application/json"),
        ("Connection", "close"),
        *modern,
        *more,
    ]
    lengths, sent = _framed(data, length)
    lines = [b" ".join(_bytes(part) for part in (*place, version))]
    lines += [_bytes(name) + b": " + _bytes(value) for name, value in (*headers, *lengths)]
    text = base64.b64encode(b"\r\n".join(lines) + b"\r\n\r\n" + sent).decode()
    return {"bytes": text, "cut": length == "long"}


def _framed(data: bytes, length: str) -> tuple[list[tuple[str, str]], bytes]:
    size = len(data)
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (size, data) if size else b"0\r\n\r\n"
    numbers = {
        "right": [str(size)],
        "missing": [],
        "short": [str(size // 2)],
        "long": [str(size + 7)],
        "twice": [str(size), str(size + 1)],
        "negative": ["-1"],
        "huge": ["9" * 30],
        "word": ["x"],
    }
    if length in numbers:
        return [("Content-Length", number) for number in numbers[length]], data
    return [("Transfer-Encoding", "chunked")], chunks if length == "chunked" else b"zz\r\n" + chunks


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
