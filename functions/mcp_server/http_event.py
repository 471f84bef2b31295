"""A Lambda function URL's request and answer as values (payload format 2.0).

Owns: the form of the event and of the response dictionary.
Guarantees: header names are lower case and values trimmed; names that differ only by case are folded by a
comma, as a function URL folds a header that was sent twice. Any event gives a request, if need be an empty
one.
Gives up: cookies, the query string and the body's meaning.

Source: AWS Lambda developer guide, "Request and response payloads" of function URLs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

JSON_TYPE = "application/json"
EVENTS_TYPE = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request. `body` is text, or base64 where `is_base64`; `request_id` is "" where there is none.

    domain      the server's own name, as the platform writes it
    principal   the ARN of the IAM principal whose signature the platform has checked; None: it checked none
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: str
    is_base64: bool
    request_id: str
    domain: str = ""
    principal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """One answer. `payload` None: no body at all; otherwise it is sent as compact UTF-8 JSON.

    before   messages in front of the payload; with any, the body is a finished stream of server-sent events
    """

    status: int
    payload: Mapping[str, object] | None = None
    before: tuple[Mapping[str, object], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_headers(self, more: Mapping[str, str]) -> HttpAnswer:
        """The same answer with more headers; those that it has already stay."""
        return replace(self, headers={**more, **self.headers})

    def to_event(self) -> dict[str, object]:
        """The dictionary that a function URL turns into the HTTP response."""
        kind = EVENTS_TYPE if self.before else JSON_TYPE
        typed = {} if self.payload is None else {"content-type": kind}
        return {
            "statusCode": self.status,
            "headers": {"cache-control": "no-store", **typed, **self.headers},
            "body": self._body(),
            "isBase64Encoded": False,
        }

    def _body(self) -> str:
        if self.payload is None:
            return ""
        if not self.before:
            return compact_json(self.payload)
        return "".join(
            f"event: message\ndata: {compact_json(one)}\n\n" for one in (*self.before, self.payload)
        )


def read_event(event: Mapping[str, object]) -> HttpRequest:
    """The request that the event describes; what it lacks is empty."""
    context = _mapping(event.get("requestContext"))
    http = _mapping(context.get("http"))
    return HttpRequest(
        method=_text(http.get("method")).upper(),
        path=_text(event.get("rawPath")) or _text(http.get("path")),
        headers=_headers(_mapping(event.get("headers"))),
        body=_text(event.get("body")),
        is_base64=event.get("isBase64Encoded") is True,
        request_id=_text(context.get("requestId")),
        domain=_text(context.get("domainName")),
        principal=_text(_mapping(_mapping(context.get("authorizer")).get("iam")).get("userArn")) or None,
    )


def compact_json(value: object) -> str:
    """JSON without white space, non-ASCII as it is. Raises ValueError for a number that JSON has not."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _headers(given: Mapping[str, object]) -> dict[str, str]:
    folded: dict[str, str] = {}
    for name, value in given.items():
        lower, trimmed = name.lower(), _text(value).strip(" \t")
        folded[lower] = f"{folded[lower]},{trimmed}" if lower in folded else trimmed
    return folded


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
