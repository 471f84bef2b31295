"""HTTP requests as function-URL events, and a handler's answer as an HTTP response.

Owns: the translation, pure. Guarantees: the event has the shape that Lambda gives it (payload format 2.0):
header names in lower case, a header sent twice folded with a comma, cookies apart, a body that is not text in
base64.
Gives up: streaming answers, and what a function URL adds of its own (trace and forwarding headers).

Source: "Invoking Lambda function URLs" in the AWS Lambda developer guide.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

_TEXT_TYPES = ("application/json", "application/xml", "application/javascript")


class MalformedAnswer(Exception):
    """A handler answered something that is no HTTP response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request as it came: `raw_path` and `query` still percent-encoded, headers in the order of arrival."""

    method: str
    raw_path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    source_ip: str
    protocol: str
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response to send; header names as the handler wrote them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def to_event(request: HttpRequest, *, domain_name: str, request_id: str, now: datetime) -> dict[str, object]:
    """The event. `domain_name` is the server's own name, never the client's word; `now` is in UTC."""
    headers, cookies = _folded(request.headers)
    event: dict[str, object] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": request.raw_path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "local",
            "domainName": domain_name,
            "domainPrefix": domain_name.partition(".")[0],
            "http": {
                "method": request.method,
                "path": request.raw_path,
                "protocol": request.protocol,
                "sourceIp": request.source_ip,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": request_id,
            "routeKey": "$default",
            "stage": "$default",
            "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(now.timestamp() * 1000),
        },
        "isBase64Encoded": False,
    }
    if cookies:
        event["cookies"] = cookies
    if request.query:
        event["queryStringParameters"] = _query(request.query)
    return event | _body(request.body, headers)


def from_response(response: object) -> HttpAnswer:
    """The response in a handler's answer. Raises MalformedAnswer."""
    if not isinstance(response, Mapping):
        raise MalformedAnswer("not an object")
    status, body = response.get("statusCode"), response.get("body", "")
    headers, cookies = response.get("headers") or {}, response.get("cookies") or []
    if isinstance(status, bool) or not isinstance(status, int) or not 200 <= status <= 599:
        raise MalformedAnswer("statusCode")
    if not isinstance(headers, Mapping) or not isinstance(cookies, list):
        raise MalformedAnswer("headers")
    pairs = [(str(name), str(value)) for name, value in headers.items()]
    pairs += [("set-cookie", str(cookie)) for cookie in cookies]
    return HttpAnswer(
        status, tuple(pairs), _answer_body(body, encoded=response.get("isBase64Encoded") is True)
    )


def _folded(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    headers: dict[str, str] = {}
    cookies: list[str] = []
    for name, value in pairs:
        name, value = name.lower(), value.strip()
        if name == "cookie":
            cookies += [cookie.strip() for cookie in value.split(";")]
        else:
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers, cookies


def _query(query: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        fields[name] = f"{fields[name]},{value}" if name in fields else value
    return fields


def _body(body: bytes, headers: Mapping[str, str]) -> dict[str, object]:
    if not body:
        return {}
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if "content-encoding" not in headers and (media_type.startswith("text/") or media_type in _TEXT_TYPES):
        try:
            return {"body": body.decode()}
        except UnicodeDecodeError:
            pass
    return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


def _answer_body(body: object, *, encoded: bool) -> bytes:
    if body is None:
        return b""
    if not isinstance(body, str):
        raise MalformedAnswer("body")
    try:
        return base64.b64decode(body, validate=True) if encoded else body.encode()
    except (binascii.Error, UnicodeEncodeError) as error:
        raise MalformedAnswer("body") from error
