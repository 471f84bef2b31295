"""A service on a loopback socket: it answers what the test laid out, and after that what a real one would.

Owns: the requests as they arrived. Guarantees: listens on 127.0.0.1 only; ends with the test. Gives up: TLS.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from tests.stores.servers import LOOPBACK


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `hang_up`: the connection is closed instead. `silent`: nothing comes until the test ends.

    `length` announces another length than the body has.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False
    silent: bool = False
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Message
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        """The body."""
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


Respond = Callable[[Seen], Answer]


def json_answer(content: object, status: int = 200, **headers: str) -> Answer:
    """An answer of JSON; `_` in a header's name stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps(content).encode(), {"Content-Type": "application/json", **named})


def vector_of(text: str, dim: int) -> list[float]:
    """A vector that depends on the words of a text and on nothing else; texts that share words are near."""
    total = np.zeros(dim)
    for word in text.casefold().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).standard_normal(dim)
    return [float(number) for number in total]


class Service:
    """What the service will do, and what it saw."""

    def __init__(self, endpoint: str, respond: Respond) -> None:
        self.endpoint = endpoint
        self.respond = respond
        self.next: list[Answer] = []
        self.seen: list[Seen] = []
        self.over = threading.Event()
        self._guard = threading.Lock()

    def will(self, *answers: Answer) -> None:
        """The next answers, instead of the right ones."""
        self.next.extend(answers)

    def answer(self, request: Seen) -> Answer:
        """Records a request and answers it."""
        with self._guard:
            self.seen.append(request)
            if self.next:
                return self.next.pop(0)
        return self.respond(request)


@contextmanager
def serving(respond: Respond) -> Iterator[Service]:
    """The service, on a free port."""
    server = ThreadingHTTPServer((LOOPBACK, 0), BaseHTTPRequestHandler)
    service = Service(f"http://{LOOPBACK}:{server.server_port}", respond)
    server.RequestHandlerClass = _handler_of(service)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_of(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = service.answer(Seen(self.path, self.headers, body))
            if answer.silent:
                service.over.wait()
            self.close_connection = answer.silent or answer.hang_up or answer.length is not None
            if answer.silent or answer.hang_up:
                return
            self.send_response_only(answer.status)
            length = len(answer.body) if answer.length is None else answer.length
            for name, value in {**answer.headers, "Content-Length": str(length)}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is http.server's
            """Nothing: the test has the record."""

    return Handler
