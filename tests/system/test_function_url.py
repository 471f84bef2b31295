"""HTTP requests become the events that a Lambda function URL sends, and answers become responses."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from local_runner.function_url import HttpRequest, MalformedAnswer, from_response, to_event

NOW = datetime(2026, 3, 9, 1, 30, 5, 250_000, UTC)
JSON = ("Content-Type", "application/json")


def request(*headers: tuple[str, str], body: bytes = b"", query: str = "") -> HttpRequest:
    return HttpRequest(
        method="POST",
        raw_path="/mcp",
        query=query,
        headers=headers,
        source_ip="127.0.0.1",
        protocol="HTTP/1.1",
        body=body,
    )


def event_of(sent: HttpRequest) -> dict[str, Any]:
    return cast("dict[str, Any]", to_event(sent, domain_name="127.0.0.1", request_id="r-1", now=NOW))


def test_the_event_has_the_shape_of_payload_format_2() -> None:
    event = event_of(request(JSON, ("User-Agent", "curl"), body=b'{"a":1}'))
    assert event == {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "user-agent": "curl"},
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "local",
            "domainName": "127.0.0.1",
            "domainPrefix": "127",
            "http": {
                "method": "POST",
                "path": "/mcp",
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "curl",
            },
            "requestId": "r-1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "09/Mar/2026:01:30:05 +0000",
            "timeEpoch": 1773019805250,
        },
        "body": '{"a":1}',
        "isBase64Encoded": False,
    }


@pytest.mark.promise("P-TENANT")
def test_a_header_sent_twice_is_folded_with_a_comma_so_that_no_second_value_is_lost() -> None:
    event = event_of(request(("X-Memory-Tenant", "acme"), ("x-memory-tenant", " zephyr ")))
    assert event["headers"] == {"x-memory-tenant": "acme,zephyr"}


def test_the_domain_name_is_the_server_s_own_and_not_the_client_s_word() -> None:
    event = event_of(request(("Host", "evil.example")))
    assert event["requestContext"]["domainName"] == "127.0.0.1"
    assert event["headers"]["host"] == "evil.example"


def test_cookies_come_apart_from_the_headers() -> None:
    event = event_of(request(("Cookie", "a=1; b=2"), ("Cookie", "c=3")))
    assert event["cookies"] == ["a=1", "b=2", "c=3"]
    assert event["headers"] == {}


def test_query_fields_sent_twice_are_folded_too() -> None:
    event = event_of(request(query="a=1&b=&a=%C3%A9"))
    assert event["rawQueryString"] == "a=1&b=&a=%C3%A9"
    assert event["queryStringParameters"] == {"a": "1,\u00e9", "b": ""}


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ([("Content-Type", "application/octet-stream")], b"text"),
        ([JSON, ("Content-Encoding", "gzip")], b"text"),
        ([JSON], b"\xff\xfe"),
        ([], b"text"),
    ],
)
def test_a_body_that_is_not_plain_text_comes_in_base64(headers: list[tuple[str, str]], body: bytes) -> None:
    event = event_of(request(*headers, body=body))
    assert event["isBase64Encoded"] is True
    assert base64.b64decode(event["body"]) == body


def test_a_request_without_a_body_has_none() -> None:
    assert "body" not in event_of(request(JSON))


def test_a_response_keeps_status_headers_cookies_and_body() -> None:
    answer = from_response(
        {
            "statusCode": 201,
            "headers": {"a": "b"},
            "cookies": ["c=1"],
            "body": "\u5e74",
            "isBase64Encoded": False,
        }
    )
    assert answer.status == 201
    assert answer.headers == (("a", "b"), ("set-cookie", "c=1"))
    assert answer.body == "\u5e74".encode()


def test_a_body_in_base64_is_sent_as_its_bytes() -> None:
    assert from_response({"statusCode": 200, "body": "/w==", "isBase64Encoded": True}).body == b"\xff"


@pytest.mark.parametrize(
    "response",
    [
        None,
        "text",
        {},
        {"statusCode": "200"},
        {"statusCode": True},
        {"statusCode": 99},
        {"statusCode": 200, "headers": 7},
        {"statusCode": 200, "cookies": "c=1"},
        {"statusCode": 200, "body": {"a": 1}},
        {"statusCode": 200, "body": "@@@", "isBase64Encoded": True},
        {"statusCode": 200, "body": "\ud800"},
    ],
)
def test_an_answer_that_is_no_response_is_refused(response: object) -> None:
    with pytest.raises(MalformedAnswer):
        from_response(response)
