"""A loopback HTTP server that answers S3 requests by a script, so that every answer of S3 can be had on the wire.

Owns: the answers, in order, and the requests as they arrived. Guarantees: each request takes the next answer; when
the script is at its end every further request is a 500 that fails the test's count. Gives up: checking signatures.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.stores.servers import LOOPBACK

DATE = "Sun, 29 Nov 2026 12:00:00 GMT"
ETAG = '"9dd4e461268c8034f5c8564e155c67a6"'


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `hang_up`: the connection is closed instead. `silent`: nothing comes until the test ends.

    `length` announces another length than the body has, and the connection is closed after it.
    """

    status: int = 200
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hang_up: bool = False
    silent: bool = False
    length: int | None = None

    @property
    def content(self) -> bytes:
        """The body, or S3's XML for an error code."""
        if not self.code:
            return self.body
        return f"<Error><Code>{self.code}</Code><Message>secret detail</Message></Error>".encode()


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: Message
    body: bytes


class ScriptedS3:
    """The script and the record of one test."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.answers: list[Answer] = []
        self.seen: list[Seen] = []
        self.connections = 0
        self.over = threading.Event()
        self.guard = threading.Lock()

    def will(self, *answers: Answer) -> None:
        """The next answers."""
        self.answers.extend(answers)

    def next_answer(self, request: Seen) -> Answer:
        """Records the request and takes its answer."""
        with self.guard:
            self.seen.append(request)
            return self.answers.pop(0) if self.answers else Answer(500, "EndOfScript")


@contextmanager
def scripted_s3() -> Iterator[ScriptedS3]:
    """The server, on a free port."""
    server = ThreadingHTTPServer((LOOPBACK, 0), BaseHTTPRequestHandler)
    script = ScriptedS3(f"http://{LOOPBACK}:{server.server_port}")
    server.RequestHandlerClass = _handler_of(script)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        server.server_close()
        serving.join()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.send_response_only(answer.status)
    length = len(answer.content) if answer.length is None else answer.length
    headers = {"Date": DATE, "ETag": ETAG, "Last-Modified": DATE, **answer.headers}
    for name, value in {**headers, "Content-Length": str(length)}.items():
        if value:
            handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(answer.content)
    handler.close_connection = answer.length is not None


def _handler_of(script: ScriptedS3) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with script.guard:
                script.connections += 1

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = script.next_answer(Seen(self.command, self.path, self.headers, body))
            if answer.silent:
                script.over.wait()
            if answer.silent or answer.hang_up:
                self.close_connection = True
                return
            _send(self, answer)

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is http.server's
            """Nothing: the test has the record."""

    for method in ("GET", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    return Handler
