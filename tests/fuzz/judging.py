"""What an answer may hold, whatever came in.

Owns: `Answered`, `Finding`, `judge`. Guarantees: a status of the server's fault, the words for it inside a 200, the
marks of an exception, a stack, a path or a key of ours is a finding; so is an answer that is no JSON.
Gives up: whether an answer is right; the inputs hold none of these marks, and other tests know the right answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

HANG, RAISED, SERVER_FAULT, LEAK, NO_JSON = "hang", "exception", "5xx", "leak", "no JSON"
LEAKS = re.compile(
    r"Traceback|File \\?\"|\.py\b|site-packages|object at 0x|/(?:tmp|home|usr|work|var|root|opt)/"
    r"|\b[A-Z]\w*(?:Error|Exception)\b|\bpydantic\b|validation errors? for|Input should be"
    r"|memories/|pending/|tombstones/|manifest\.json|snapshot\.json|\.safetensors|\bboto|NoSuchKey|Errno"
)
INSIDE = re.compile(r"failed inside the server|\"code\":\s*-32603")


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back. `raised`: the type of what the handler raised instead; `hung`: nothing came in time.

    closed   the server closed the connection without an answer
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    raised: str = ""
    hung: bool = False
    closed: bool = False

    @property
    def code(self) -> str:
        """What the answer is counted as: a tool's or protocol's error code, or the HTTP status."""
        if self.closed:
            return "closed"
        try:
            value = json.loads(self.body) if self.body else None
        except ValueError:
            value = None
        return f"{self.status} {_code_in(value)}".strip()


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with an answer."""

    kind: str
    why: str


def judge(answered: Answered) -> Finding | None:
    """The first thing that is wrong; None: nothing."""
    if answered.hung:
        return Finding(HANG, "no answer in time")
    if answered.raised:
        return Finding(RAISED, f"the handler raised {answered.raised}")
    if answered.closed:
        return None
    if not 200 <= answered.status < 500:
        return Finding(SERVER_FAULT, f"status {answered.status}: {answered.body[:300]}")
    shown = answered.body + json.dumps(dict(answered.headers), ensure_ascii=False)
    if found := INSIDE.search(shown):
        return Finding(SERVER_FAULT, f"{found.group()!r} in {answered.body[:300]}")
    if found := LEAKS.search(shown):
        return Finding(LEAK, f"{found.group()!r} in {answered.body[:300]}")
    return None if _is_json(answered) else Finding(NO_JSON, repr(answered.body[:300]))


def _is_json(answered: Answered) -> bool:
    kind = next((value for name, value in answered.headers.items() if name.lower() == "content-type"), "")
    if not answered.body or "json" not in kind:
        return True
    try:
        answered.body.encode()
        json.loads(answered.body, parse_constant=_no_constant)
    except ValueError:
        return False
    return True


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _code_in(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    error = value.get("error")
    if isinstance(error, dict):
        return str(error.get("code"))
    result = value.get("result")
    if isinstance(error, str):
        return error
    structured = result.get("structuredContent") if isinstance(result, dict) else None
    inner = structured.get("error") if isinstance(structured, dict) else None
    return inner if isinstance(inner, str) else "ok"
