"""What inputs are sent to: the real handler in a process, and the real server behind a socket.

Owns: `HandlerTarget`, `ServerTarget`, and the memories that a target holds before the first input. Guarantees: an
answer that does not come within `HANG_SECONDS` ends the process and is told as a hang; what a target logs is kept, and
a stack in it is a finding too. Gives up: going on with a process that hung; the next input starts a new one.
"""

from __future__ import annotations

import base64
import json
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Protocol
from urllib.parse import urlsplit

from local_runner.child_server import ChildServer, child_server
from tests.fuzz.judging import Answered
from tests.handlers.wire import LOCAL, call, event, request
from tests.system.processes import variables

HANDLER = "mcp_server.handler:handler"
HANG_SECONDS = 10.0
PATIENCE_SECONDS = 3.0
ANSWER_BYTES = 8 << 20
# No throttle: it would answer in the place of what is tried.
QUICK = {"EMBEDDINGS": "none", "REQUESTS_PER_SECOND": "10000", "BURST": "100000"}
SEED = (
    {"content": "The walrus lives in the harbour of Oslo", "id": "seed-plain"},
    {"content": "The walrus eats clams", "id": "seed-tagged", "tags": ["sea"], "metadata": {"a": [1]}},
    {"content": "The walrus is called Ole", "id": "seed-superseded"},
    {"content": "The walrus is called Olav", "id": "seed-successor", "supersedes": ["seed-superseded"]},
    {"content": "The walrus left on Monday", "id": "seed-forgotten"},
    {"content": "A walrus of this chat", "id": "seed-note", "scope": "conversation"},
)  # fmt: skip

Json = dict[str, Any]


class Target(Protocol):
    """Takes inputs, one at a time."""

    def send(self, sent: Json) -> Answered:
        """What comes back for one input."""
        ...


class HandlerTarget:
    """The Lambda handler in a process of its own."""

    def __init__(self, folder: Path, handler: str = HANDLER, seconds: float = HANG_SECONDS) -> None:
        self._folder = folder
        self._handler = handler
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._log = (folder / "log.txt").open("ab")

    def send(self, sent: Json) -> Answered:
        """The handler's answer to `sent["event"]`."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(sent["event"]).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._line(process.stdout)
        if line is None:
            hung = process.poll() is None
            self._stop()
            return Answered(hung=hung, raised="" if hung else "the process ended")
        said = json.loads(line)
        if "raised" in said:
            return Answered(raised=said["raised"])
        answer = said["answer"]
        return Answered(answer["statusCode"], answer["headers"], answer["body"])

    def logged(self) -> str:
        """All that the process has written to its log."""
        return (self._folder / "log.txt").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End the process."""
        self._stop()
        self._log.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            environment = variables(self._folder / "data", **QUICK)
            command = [sys.executable, "-m", "tests.fuzz.lambda_process", self._handler]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, env=environment, stdin=pipe, stdout=pipe, stderr=self._log
            )
            assert self._process.stdout is not None
            # How long a start takes is not what is looked at.
            self._process.stdout.readline()
        return self._process

    def _line(self, stream: IO[bytes]) -> bytes | None:
        # An answer is written at once: where its beginning is, its end follows.
        return (stream.readline() or None) if _begins(stream, self._seconds) else None

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


class ServerTarget:
    """The server of `make run`, spoken to in bytes. A request that has not all it promised is ended after a while."""

    def __init__(self, server: ChildServer, seconds: float = HANG_SECONDS + 2) -> None:
        address = urlsplit(server.url)
        self._address = (address.hostname or "", address.port or 0)
        self._seconds = seconds
        self._server = server

    def send(self, sent: Json) -> Answered:
        """The server's answer to the bytes. Where none begins within `PATIENCE_SECONDS`, nothing more is sent."""
        data = base64.b64decode(sent["bytes"])
        try:
            with socket.create_connection(self._address, self._seconds) as connection:
                return _answered(_exchanged(connection, data, 0 if sent["cut"] else PATIENCE_SECONDS))
        except TimeoutError:
            return Answered(hung=True)
        except ConnectionRefusedError:
            return Answered(raised="no server any more")

    def logged(self) -> str:
        """All that the server has logged."""
        return self._server.logged()


def _exchanged(connection: socket.socket, data: bytes, patience: float) -> bytes:
    received = bytearray()
    try:
        connection.sendall(data)
        if not _begins(connection, patience):
            connection.shutdown(socket.SHUT_WR)
        while len(received) < ANSWER_BYTES and (part := connection.recv(65_536)):
            received += part
    except (BrokenPipeError, ConnectionResetError):
        # It closed before it had read everything; what it said before is its answer.
        pass
    return bytes(received)


def _begins(source: IO[bytes] | socket.socket, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def _answered(received: bytes) -> Answered:
    head, _, body = received.partition(b"\r\n\r\n")
    if not head:
        return Answered(closed=True)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines if ": " in line)
    return Answered(int(first.split(" ")[1]), headers, body.decode("utf-8", "surrogateescape"))


def seeds() -> Iterator[Json]:
    """The events that store what a target holds at first."""
    headers = {**LOCAL, "x-conversation-id": "chat-1"}
    calls = [call("remember", dict(given)) for given in SEED] + [call("forget", {"id": "seed-forgotten"})]
    for message in calls:
        yield {"event": event(headers=headers, body=json.dumps(message))}


def tools_of(target: Target) -> list[Json]:
    """`tools/list`, as the target's callers see it."""
    answer = target.send({"event": event(headers=LOCAL, body=json.dumps(request("tools/list")))})
    tools: list[Json] = json.loads(answer.body)["result"]["tools"]
    return tools


@contextmanager
def handler_target(handler: str = HANDLER) -> Iterator[HandlerTarget]:
    """A handler in a process over a folder of its own, with the first memories in it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="lodestore-fuzz-")))
        target = HandlerTarget(folder, handler)
        stack.callback(target.close)
        for seed in seeds():
            target.send(seed)
        yield target


@contextmanager
def server_target(more: Mapping[str, str] | None = None) -> Iterator[ServerTarget]:
    """The server over a folder of its own."""
    with TemporaryDirectory(prefix="lodestore-fuzz-") as folder:
        environment = {**variables(Path(folder)), **QUICK, **(more or {})}
        with child_server(environment) as server:
            yield ServerTarget(server)
