"""The HTTP side: one ASGI application in front of one function.

Owns: reading a request within bounds, the function's place in a bounded pool of threads, and what a client
is told when the function itself gives no answer.
Guarantees: a body over the limit is refused while it is read, a slow one after 10 s; no more than 16
invocations run and 256 wait; what a client is told shows nothing internal; a request that may have written
says so (P-BOUNDED, P-SILENT-NEVER).
Gives up: streaming, WebSockets, TLS.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from local_runner.function_table import Function
from local_runner.function_url import HttpAnswer, HttpRequest, MalformedAnswer, from_response, to_event
from lodestore.domain.limits import BODY_BYTES
from lodestore.errors import LodestoreError, TooLarge, Unavailable
from lodestore.ports.clock import Clock

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

log = logging.getLogger("lodestore.web")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much at once, how large, how long. A body up to `drained_bytes` is read to its end before it is
    refused, so that its sender is listening when it hears why.
    """

    running: int = 16
    waiting: int = 256
    body_bytes: int = BODY_BYTES
    drained_bytes: int = 8 * BODY_BYTES
    body_seconds: float = 10.0
    answer_seconds: float = 60.0


class _Disconnected(Exception):
    """The client went away before its request was whole."""


class FunctionUrl:
    """Serves a function as a function URL would. `close` drops waiting requests and lets running ones end."""

    def __init__(
        self, function: Function, *, clock: Clock, domain_name: str, bounds: Bounds | None = None
    ) -> None:
        self._function = function
        self._clock = clock
        self._domain_name = domain_name
        self._bounds = bounds or Bounds()
        self._pool = ThreadPoolExecutor(self._bounds.running, thread_name_prefix="invocation")
        self._admitted = 0
        self._invoked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            answer = await self._answer(scope, receive)
        except _Disconnected:
            return
        await _send(answer, send)

    def warm_up(self) -> None:
        """Invoke the function once with GET /health, so that what it refuses at its start is heard at ours.

        Raises what the function raises, and MalformedAnswer.
        """
        request = HttpRequest(
            method="GET",
            raw_path="/health",
            query="",
            headers=(("host", self._domain_name),),
            source_ip="",
            protocol="HTTP/1.1",
            body=b"",
        )
        answer = from_response(self._function.invoke(self._event_of(request)))
        if answer.status != HTTPStatus.OK:
            raise MalformedAnswer(f"status {answer.status} to GET /health")

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _answer(self, scope: Scope, receive: Receive) -> HttpAnswer:
        if self._admitted >= self._bounds.running + self._bounds.waiting:
            busy = Unavailable("Too many requests at once; this one was not looked at.")
            return _refusal(429, busy, ("retry-after", "1"), ("connection", "close"))
        self._admitted += 1
        try:
            return await self._invoke(await self._read(scope, receive))
        except TooLarge as error:
            return _refusal(413, error, ("connection", "close"))
        except TimeoutError:
            slow = Unavailable(f"The body did not come within {self._bounds.body_seconds:g} seconds.")
            return _refusal(408, slow, ("connection", "close"))
        finally:
            self._admitted -= 1

    async def _invoke(self, request: HttpRequest) -> HttpAnswer:
        event = self._event_of(request)
        running = asyncio.get_running_loop().run_in_executor(self._pool, self._function.invoke, event)
        try:
            return from_response(await asyncio.wait_for(running, self._bounds.answer_seconds))
        except TimeoutError:
            log.error("no answer from %s within %g s", self._function.name, self._bounds.answer_seconds)
            return _refusal(504, Unavailable("The request took too long.", written="unknown"))
        except MalformedAnswer as error:
            log.error("malformed answer from %s: %s", self._function.name, error)
        except Exception as error:  # noqa: BLE001 - Lambda too answers 502 for whatever a function raises
            # The kind only: an exception's text may hold what a client sent.
            log.error("%s raised %s", self._function.name, type(error).__name__)
        return _refusal(502, Unavailable("The server failed at this request.", written="unknown"))

    def _event_of(self, request: HttpRequest) -> dict[str, object]:
        self._invoked += 1
        request_id = f"{self._function.name}-{self._invoked:012d}"
        return to_event(request, domain_name=self._domain_name, request_id=request_id, now=self._clock.now())

    async def _read(self, scope: Scope, receive: Receive) -> HttpRequest:
        body = await asyncio.wait_for(self._body(scope, receive), self._bounds.body_seconds)
        client = scope.get("client")
        return HttpRequest(
            method=scope["method"],
            raw_path=scope["raw_path"].decode("ascii", "replace"),
            query=scope["query_string"].decode("ascii", "replace"),
            headers=tuple(
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
            ),
            source_ip=client[0] if client else "",
            protocol=f"HTTP/{scope['http_version']}",
            body=body,
        )

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        declared = _declared_length(scope)
        if declared > self._bounds.drained_bytes:
            raise self._too_large(declared)
        body = bytearray()
        size = 0
        more = True
        while more and size <= self._bounds.drained_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Disconnected
            part = message.get("body", b"")
            size += len(part)
            if size <= self._bounds.body_bytes:
                body += part
            more = message.get("more_body", False)
        if size > self._bounds.body_bytes:
            raise self._too_large(max(size, declared))
        return bytes(body)

    def _too_large(self, size: int) -> TooLarge:
        return TooLarge(
            f"The body has {size:,} bytes; at most {self._bounds.body_bytes:,}.",
            field="body",
            limit=self._bounds.body_bytes,
            got=size,
            next_step="Send less in one message.",
        )


def _declared_length(scope: Scope) -> int:
    lengths = (value for name, value in scope["headers"] if name == b"content-length")
    return max((int(value) for value in lengths if value.isdigit()), default=0)


def _refusal(status: int, error: LodestoreError, *headers: tuple[str, str]) -> HttpAnswer:
    body = json.dumps(error.to_dict(), separators=(",", ":")).encode()
    return HttpAnswer(status, (("content-type", "application/json"), *headers), body)


async def _send(answer: HttpAnswer, send: Send) -> None:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in answer.headers
    ]
    if not any(name == b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
