"""Values joined to a name that promises a secret: `password = hunter2!X9`, `"apiKey": "…"`, `the password is …`.

Owns: the ways a name and its value are joined, in code, JSON, YAML, shells, XML, SQL, tables and sentences.
Guarantees: each name looks at no more than MAX_VALUE characters after it and a found value is passed over whole,
so the work is linear in the text times a constant.
Gives up: a value on another line than its name unless it is quoted, and values with white space in them other
than quoted passphrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lodestore.domain.secret_finding import Finding
from lodestore.domain.secret_names import Name, lowered, next_name
from lodestore.domain.secret_values import MAX_VALUE, Form, Role, is_plausible

MAX_BARE = 256
# `pw=pw=pw=…`: a value within a value within … this often is no text that anyone wrote; it goes as a whole.
MAX_NESTED = 4
LONG_NESTED = 64
LEAST_PASSPHRASE_WORDS = 4

_QUOTED = (
    r"[bru]?(?:"
    rf"\\\"(?P<escaped>[^\"\\\n]{{1,{MAX_VALUE}}})\\\""
    rf"|\"(?P<double>(?:[^\"\\\n]|\\[^\n]){{1,{MAX_VALUE}}}+)\""
    rf"|'(?P<single>(?:[^'\\\n]|\\[^\n]){{1,{MAX_VALUE}}}+)'"
    rf"|`(?P<ticks>[^`\n]{{1,{MAX_VALUE}}})`"
    r")"
)
_BARE = rf"[\"'`]?(?P<bare>[^\s\"'`]{{1,{MAX_BARE}}})"
_AFTER_NAME = r"(?:\\?[\"']|[`\]*_)]){0,4}"
_JOINED = re.compile(
    _AFTER_NAME + rf"[ \t]{{0,8}}(?::=|[=-]>|={{1,3}}|:|\uff1a|\uff1d|\|)[*_]{{0,3}}"
    rf"(?:\s{{0,16}}{_QUOTED}|[ \t]{{0,8}}{_BARE})"
)
_STATED = re.compile(
    _AFTER_NAME
    + r"[ \t]{0,4}(?:(?:is|was|to|ist|war|lautet|es|est|é|è|är|は|是|为)[ \t:]{0,3}|[ \t](?=[\"'`]))"
    rf"(?:{_QUOTED}|(?<=[\s是为は]){_BARE})"
)
_BESIDE = re.compile(rf"[ \t]{{1,4}}{_BARE}")
_ELEMENT = re.compile(rf">[ \t]{{0,4}}(?:{_QUOTED}|(?P<bare>[^\s<]{{1,{MAX_BARE}}}))[ \t]{{0,4}}</")
_OPTION = re.compile(rf"[ \t]{{1,4}}(?:{_QUOTED}|{_BARE})")
_REST_OF_TOKEN = re.compile(r"[^\s\"'`]*")
_NEXT_PAIR = re.compile(r"[,;&](?:\s{0,4}[\w .-]{1,32}[=:]|$)|\[redacted:|\\n|\\r")
_NEXT_PARAMETER = re.compile(r"[&#]|\[redacted:")
_END_OF_STATEMENT = re.compile(r"[ \t]*(?:$|[\n.,;)])")
_OPENING = "*([_"
_CLOSING = ".,;:)]}>*|"
_QUOTES = ("escaped", "double", "single", "ticks")


def find_assignments(text: str) -> Iterator[Finding]:
    """The values, without their quotes, in order; none overlap."""
    small = lowered(text)
    judged = nested = 0
    name = next_name(text, small, 0)
    while name is not None:
        at = name.end
        value = _value_of(name, text)
        if value is not None:
            nested = nested + 1 if name.end + LONG_NESTED < judged else 0
            judged = max(judged, value.end)
            if value.is_secret or nested > MAX_NESTED:
                at = value.end
                yield Finding(name.kind, value.start, value.end)
        name = next_name(text, small, at)


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    is_secret: bool


def _value_of(name: Name, text: str) -> _Value | None:
    for pattern, form in _ways(name, text):
        match = pattern.match(text, name.end)
        if match is None:
            continue
        groups = match.groupdict()
        quote = next((quote for quote in _QUOTES if groups.get(quote) is not None), None)
        if quote is None:
            return _bare(name, text, match, form)
        quoted_form = Form.STATED_QUOTED if form is Form.STATED else Form.QUOTED
        return _quoted(name, match[quote], match.start(quote), quoted_form)
    return None


def _ways(name: Name, text: str) -> Iterator[tuple[re.Pattern[str], Form]]:
    is_shell = (name.is_shouted or name.role is Role.LOOSE) and text[name.end : name.end + 1] == "="
    yield _JOINED, Form.SHELL if is_shell else Form.BARE
    if name.identifier.startswith("--"):
        yield _OPTION, Form.BARE
    if text[name.start - 1 : name.start] == "<":
        yield _ELEMENT, Form.BARE
    yield _STATED, Form.STATED
    yield _BESIDE, Form.BESIDE


def _quoted(name: Name, value: str, start: int, form: Form) -> _Value:
    trimmed = value.strip()
    start += len(value) - len(value.lstrip())
    if " " in trimmed and "passphrase" in name.identifier.lower() and form is Form.QUOTED:
        is_secret = len(trimmed.split()) >= LEAST_PASSPHRASE_WORDS and trimmed.islower()
    else:
        is_secret = is_plausible(trimmed, name.role, form)
    return _Value(start, start + len(trimmed), is_secret)


def _bare(name: Name, text: str, match: re.Match[str], form: Form) -> _Value | None:
    value, start = match["bare"], match.start("bare")
    is_parameter = text[name.start - 1 : name.start] in ("?", "&")
    cut = (_NEXT_PARAMETER if is_parameter else _NEXT_PAIR).search(value)
    is_whole = cut is not None or len(value) < MAX_BARE
    value = value[: cut.start()] if cut is not None else value
    opened = value.lstrip(_OPENING)
    trimmed = opened.rstrip(_CLOSING)
    start += len(value) - len(opened)
    if not trimmed:
        return None
    if form is Form.STATED and _END_OF_STATEMENT.match(text, start + len(trimmed)):
        form = Form.STATED_LAST
    end = start + len(trimmed) if is_whole else _end_of_token(text, match.end("bare"))
    return _Value(start, end, is_plausible(trimmed, name.role, form))


def _end_of_token(text: str, at: int) -> int:
    rest = _REST_OF_TOKEN.match(text, at)
    return rest.end() if rest else at


def value_names_secret(name: Name, value: str) -> bool:
    """Whether `value`, standing under a mapping's key with this name, is a secret as a whole."""
    return _quoted(name, value, 0, Form.QUOTED).is_secret


def number_names_secret(name: Name, value: int) -> bool:
    """Whether a whole number under this name is a password rather than a count: six digits or more."""
    return name.role is Role.PASSWORD and abs(value) >= 100_000
