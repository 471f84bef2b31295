"""One JSON-RPC message out of the bytes of a body or a line.

Owns: what is JSON enough (UTF-8, no NaN, no name twice, at most `MOST_LEVELS` deep) and what is one request
or notification (JSON-RPC 2.0, MCP: an id is a text or an integer, parameters are an object, no batches).
Guarantees: standard library only, so that a refusal never waits for the SDK's import. A tool's argument
that no JSON text should hold (half a character, a number without end) is kept out of the SDK and named as
the fault of that argument, for the tool's own error (B64).
Gives up: what a method's parameters mean.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lodestore.errors import InvalidArgument

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
MOST_LEVELS = 64
CALL = "tools/call"
GREETINGS = frozenset({"initialize", "server/discover"})
WITHOUT_TENANT = GREETINGS | {"ping"}
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")

RequestId = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One request, or a notification where `id` is None. `fault`: what is wrong with a tool's arguments."""

    method: str
    params: Mapping[str, object] | None
    id: RequestId | None
    fault: InvalidArgument | None = None

    @property
    def needs_tenant(self) -> bool:
        """Whether it is of no use without a tenant (`interface.md`, "Who is calling")."""
        return self.id is not None and self.method not in WITHOUT_TENANT


class Malformed(Exception):
    """The bytes are not one message. `id` is the request's, where it could be read."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = request_id


def parse(body: bytes) -> Message:
    """The message that `body` holds. Raises Malformed."""
    text, suspicious = _decode(body)
    value, endless = _load(text)
    if _deeper_than(value, MOST_LEVELS, text):
        raise Malformed(INVALID_REQUEST, f"The message is nested more than {MOST_LEVELS} levels deep.")
    message = _message(value)
    return _sound(message) if suspicious or endless else message


def _decode(body: bytes) -> tuple[str, bool]:
    """The text, and whether an escape in it could be half of a surrogate pair."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Malformed(PARSE_ERROR, "The message is not UTF-8.") from None
    return text, _SURROGATE_ESCAPE.search(text) is not None


class _Doubled(Exception):
    """An object has a name twice; readers differ in which value counts."""


def _load(text: str) -> tuple[object, bool]:
    """The value, and whether a number in it is too large to be finite."""
    endless = False

    def number(digits: str) -> float:
        nonlocal endless
        value = float(digits)
        endless = endless or math.isinf(value)
        return value

    try:
        value = json.loads(text, object_pairs_hook=_object, parse_float=number, parse_constant=_no_constant)
    except _Doubled:
        raise Malformed(INVALID_REQUEST, "An object of the message has a name twice.") from None
    except (ValueError, RecursionError):
        raise Malformed(PARSE_ERROR, "The message is not valid JSON.") from None
    return value, endless


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Doubled
    return made


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _deeper_than(value: object, levels: int, text: str) -> bool:
    if text.count("{") + text.count("[") <= levels:
        return False
    row = [value]
    for _ in range(levels):
        row = [item for part in row for item in _items(part) if isinstance(item, dict | list)]
        if not row:
            return False
    return True


def _items(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _message(value: object) -> Message:
    if isinstance(value, list):
        raise Malformed(INVALID_REQUEST, "Batches are not served; send one message at a time.")
    if not isinstance(value, dict):
        raise Malformed(INVALID_REQUEST, "The message is not a JSON object.")
    request_id = value.get("id")
    if "id" in value and (isinstance(request_id, bool) or not isinstance(request_id, int | str)):
        raise Malformed(INVALID_REQUEST, "id must be a text or an integer.")
    if isinstance(request_id, str) and _SURROGATE.search(request_id):
        raise Malformed(INVALID_REQUEST, "id holds a lone surrogate, half of a character.")
    method, params = value.get("method"), value.get("params")
    for holds, said in (
        (value.get("jsonrpc") == "2.0", 'jsonrpc must be "2.0".'),
        (isinstance(method, str) and method != "", "method must be a text; responses are not expected here."),
        (params is None or isinstance(params, dict), "params must be an object."),
    ):
        if not holds:
            raise Malformed(INVALID_REQUEST, said, request_id)
    return Message(method=str(method), params=params, id=request_id)


def _sound(message: Message) -> Message:
    """The message, with a tool's unsound arguments taken out and named. Raises Malformed for other places."""
    params = dict(message.params or {})
    arguments = params.pop("arguments", None) if message.method == CALL else None
    for name, said in _faults({"method": message.method, "params": params}, "message"):
        raise Malformed(INVALID_REQUEST, f"{name} {said}.", message.id)
    for name, said in _faults(arguments, "arguments"):
        fault = InvalidArgument(
            f"{name} {said}.",
            field=name,
            limit="well-formed Unicode and finite numbers",
            next_step=f"Call the tool again with {name} corrected.",
        )
        return Message(method=message.method, params=params, id=message.id, fault=fault)
    return message


def _faults(value: object, name: str) -> Iterator[tuple[str, str]]:
    """Every unsound text, name or number within, under the name of the member of `value` that holds it."""
    waiting: list[tuple[str, object]] = [(name, value)]
    while waiting:
        holder, item = waiting.pop()
        if isinstance(item, str) and _SURROGATE.search(item):
            yield holder, "holds a lone surrogate, half of a character"
        elif isinstance(item, float) and not math.isfinite(item):
            yield holder, "holds a number that is not finite"
        elif isinstance(item, dict):
            waiting.extend((holder, key) for key in item)
            for key, member in item.items():
                own = item is value and not _SURROGATE.search(key)
                waiting.append((key if own else holder, member))
        elif isinstance(item, list):
            waiting.extend((holder, part) for part in item)
