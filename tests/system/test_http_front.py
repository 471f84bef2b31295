"""What a client meets at the socket: bounds on size, time and number, and nothing of the inside."""

from __future__ import annotations

import http.client
import json
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import Any, cast

import pytest

from local_runner.connection import BoundedHead
from local_runner.function_table import Function, InvocationContext
from local_runner.server import CannotBind, http_server, listen, url_of
from local_runner.web import Bounds, FunctionUrl
from lodestore.adapters.system_clock import SystemClock

WAIT_SECONDS = 30.0

Answering = Callable[[dict[str, Any]], object]


@contextmanager
def serving(answer: Answering, bounds: Bounds | None = None) -> Iterator[int]:
    """A server in a thread; its port."""

    def handler(event: dict[str, object], _context: InvocationContext) -> object:
        return answer(cast("dict[str, Any]", event))

    listening = listen("127.0.0.1", 0)
    application = FunctionUrl(
        Function("http", handler), clock=SystemClock(), domain_name="127.0.0.1", bounds=bounds
    )
    ready = Event()
    server = http_server(application, ready.set)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        assert ready.wait(WAIT_SECONDS)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(WAIT_SECONDS)
        application.close()
        listening.close()


def post(
    port: int, body: bytes, headers: dict[str, str] | None = None, path: str = "/mcp"
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def echo(event: dict[str, Any]) -> dict[str, object]:
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(event)}


def test_a_request_reaches_the_function_as_an_event() -> None:
    with serving(echo) as port:
        status, event = post(port, b'{"a":1}', {"X-Memory-Tenant": "acme"}, "/mcp?b=2")
    assert status == 200
    assert event["body"] == '{"a":1}'
    assert (event["rawPath"], event["rawQueryString"]) == ("/mcp", "b=2")
    assert event["headers"]["x-memory-tenant"] == "acme"
    assert event["requestContext"]["http"]["sourceIp"] == "127.0.0.1"


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize("size", [1025, 4096])
def test_a_body_over_the_limit_is_refused_by_name_and_never_reaches_the_function(size: int) -> None:
    bodies: list[object] = []

    def answer(event: dict[str, Any]) -> object:
        bodies.append(event["body"])
        return echo(event)

    with serving(answer, Bounds(body_bytes=1024, drained_bytes=4096)) as port:
        status, error = post(port, b"x" * size)
        assert post(port, b"1")[0] == 200
    assert (status, bodies) == (413, ["1"])
    assert (error["error"], error["field"], error["limit"], error["got"]) == ("too_large", "body", 1024, size)
    assert error["written"] is False


@pytest.mark.promise("P-BOUNDED")
def test_a_body_said_to_be_far_over_the_limit_is_refused_before_it_comes() -> None:
    with serving(echo) as port, socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as client:
        client.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
        answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"limit":1048576,"got":1000000000' in answer


def chunks(port: int) -> tuple[socket.socket, bytes]:
    """A connection that has begun a body whose length it did not say."""
    client = socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS)
    client.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    return client, b"400\r\n" + b"x" * 1024 + b"\r\n"


def send_without_end(client: socket.socket, chunk: bytes) -> None:
    while True:
        client.sendall(chunk)


@pytest.mark.promise("P-BOUNDED")
def test_an_endless_body_is_cut_off() -> None:
    with serving(echo, Bounds(body_bytes=1024, drained_bytes=4096)) as port:
        client, chunk = chunks(port)
        with client, pytest.raises(OSError, match=r"reset|pipe"):
            send_without_end(client, chunk)
        assert post(port, b'"x"')[0] == 200


@pytest.mark.promise("P-BOUNDED")
def test_a_body_that_does_not_come_is_answered_408() -> None:
    with serving(echo, Bounds(body_seconds=0.05)) as port:
        client, _ = chunks(port)
        with client:
            answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"0.05 seconds" in answer


@pytest.mark.promise("P-BOUNDED")
def test_a_head_that_does_not_come_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedHead, "head_seconds", 0.05)
    with serving(echo) as port, socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as client:
        client.sendall(b"POST /mcp HTT")
        assert client.recv(1024) == b""


@pytest.mark.promise("P-BOUNDED")
def test_more_requests_than_can_wait_are_told_to_come_again_and_the_others_are_answered() -> None:
    go_on = Event()

    def answer(event: dict[str, Any]) -> object:
        go_on.wait(WAIT_SECONDS)
        return echo(event)

    with serving(answer, Bounds(running=1, waiting=1)) as port, ExitStack() as open_until_end:
        connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS) for _ in range(3)]
        for connection in connections:
            open_until_end.callback(connection.close)
            connection.request("POST", "/mcp", b"1")
        # Nothing but a refusal can come before the first invocation goes on.
        (first, *_), _, _ = select.select([c.sock for c in connections], [], [], WAIT_SECONDS)
        refused = next(c for c in connections if c.sock is first)
        response = refused.getresponse()
        assert (response.status, response.headers["Retry-After"]) == (429, "1")
        assert json.loads(response.read())["retryable"] is True
        go_on.set()
        assert [c.getresponse().status for c in connections if c is not refused] == [200, 200]


def test_what_a_function_raises_is_a_502_that_says_nothing_of_it(caplog: pytest.LogCaptureFixture) -> None:
    def answer(_event: dict[str, Any]) -> object:
        raise ValueError("the secret text of a memory")

    with serving(answer) as port:
        status, error = post(port, b"{}")
    assert (status, error["error"], error["written"]) == (502, "unavailable", "unknown")
    assert "secret" not in json.dumps(error)
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


def test_a_malformed_answer_is_a_502() -> None:
    with serving(lambda _event: {"body": "no status"}) as port:
        assert post(port, b"{}")[0] == 502


@pytest.mark.promise("P-BOUNDED")
def test_a_function_that_does_not_answer_is_a_504_that_does_not_deny_a_write() -> None:
    go_on = Event()
    with serving(lambda _event: go_on.wait(WAIT_SECONDS), Bounds(answer_seconds=0.05)) as port:
        status, error = post(port, b"{}")
        go_on.set()
    assert (status, error["written"], error["retryable"]) == (504, "unknown", True)


def test_one_connection_serves_many_requests() -> None:
    with serving(echo) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
        for number in range(3):
            connection.request("POST", "/mcp", str(number).encode(), {"Content-Type": "application/json"})
            assert json.loads(connection.getresponse().read())["body"] == str(number)
        connection.close()


def test_a_port_in_use_is_an_error_of_one_line_that_names_it() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotBind, match=rf"^HOST=127.0.0.1 PORT={port} can't be listened on: .*$"):
            listen("127.0.0.1", port)


def test_the_url_is_one_that_a_client_on_this_machine_can_call() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert url_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
