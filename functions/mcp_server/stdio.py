"""The same server over standard input and output: `lodestore stdio`.

Owns: one JSON-RPC message a line, read, answered and written. Messages go through the same parser, dispatch
and tools as over HTTP, so that both answer alike; the SDK's own stdio loop would drop what it can't parse
without an answer.
Guarantees: nothing but JSON-RPC on standard output, whatever else in the process prints; a line over the
limit is refused and skipped without being kept; at most `RUNNING_MOST` messages run and `WAITING_MOST`
wait; at the end of input, or on SIGTERM or SIGINT, what was taken is answered before the process ends.
Gives up: the order of answers, and cancelling: a message that is running ends by itself.

Source: MCP 2026-07-28 and 2025-11-25, "Transports", stdio.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from lodestore.bootstrap import build
from lodestore.domain.caller import Caller
from lodestore.domain.limits import BODY_BYTES
from mcp_server.dispatch import Dispatch
from mcp_server.envelope import INVALID_REQUEST, Malformed, parse
from mcp_server.exchange import Exchange, Record
from mcp_server.http_event import compact_json
from mcp_server.observability import Counters, Observer

RUNNING_MOST = 8
WAITING_MOST = 56
STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = 0, 1, 2


def run(variables: Mapping[str, str]) -> None:
    """Serve until the input ends or a signal says so. Raises SettingsError before anything is served.

    CONVERSATION, optional, takes the place of the header X-Conversation-Id.
    """
    counters = Counters()
    lodestore = build(variables, meter=counters)
    caller = lodestore.access.local_caller(variables.get("CONVERSATION") or None)
    observer = Observer(clock=lodestore.clock, counters=counters, log=sys.stderr, metrics=None)
    dispatch = Dispatch(lodestore, observer)
    with _protocol_streams() as (source, sink):
        with _ended_by_signals():
            Session(dispatch, observer, caller, sink).serve(source)
        lodestore.counts.flush()


class Session:
    """One client on one pair of streams."""

    def __init__(self, dispatch: Dispatch, observer: Observer, caller: Caller, sink: BinaryIO) -> None:
        self._dispatch = dispatch
        self._observer = observer
        self._caller = caller
        self._sink = sink
        self._writing = threading.Lock()
        self._places = threading.BoundedSemaphore(RUNNING_MOST + WAITING_MOST)

    def serve(self, source: BinaryIO) -> None:
        """Answer every line of `source`; returns when it has ended and all is answered."""
        with ThreadPoolExecutor(RUNNING_MOST, thread_name_prefix="message") as pool:
            for line in bounded_lines(source, BODY_BYTES):
                self._places.acquire()
                pool.submit(self._handle, line)

    def _handle(self, line: bytes | None) -> None:
        record = self._observer.begin("")
        try:
            self._write(self._answers(line, record))
        except Exception as error:  # noqa: BLE001 - most likely the client is gone; the log says
            self._observer.failed(record, error)
        finally:
            self._places.release()
            self._observer.finish(record)

    def _answers(self, line: bytes | None, record: Record) -> list[Mapping[str, object]]:
        try:
            if line is None:
                raise Malformed(INVALID_REQUEST, f"The message has more than {BODY_BYTES:,} bytes.")
            message = parse(line)
        except Malformed as malformed:
            record.error, record.status = f"rpc{malformed.code}", 400
            error = {"code": malformed.code, "message": malformed.message}
            return [{"jsonrpc": "2.0", "id": malformed.id, "error": error}]
        record.note_method(message.method, notification=message.id is None)
        record.note_tenant(self._caller.tenant)
        exchange = Exchange(caller=self._caller, record=record, fault=message.fault)
        reply = self._dispatch.answer(message, exchange, None)
        record.status = reply.status
        return [] if reply.payload is None else [*reply.before, reply.payload]

    def _write(self, payloads: list[Mapping[str, object]]) -> None:
        lines = b"".join(compact_json(payload).encode() + b"\n" for payload in payloads)
        if not lines:
            return
        with self._writing:
            self._sink.write(lines)
            self._sink.flush()


def bounded_lines(source: BinaryIO, most: int) -> Iterator[bytes | None]:
    """Every line that is not blank, without its end; None in place of one of more than `most` bytes."""
    while line := source.readline(most + 2):
        if len(line.rstrip(b"\r\n")) > most:
            while line and not line.endswith(b"\n"):
                line = source.readline(most)
            yield None
        elif line.strip():
            yield line.strip()


@contextmanager
def _protocol_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Input and output for the protocol alone: what else reads finds nothing, what else prints is logged."""
    sys.stdout.flush()
    with (
        os.fdopen(os.dup(STANDARD_INPUT), "rb") as source,
        os.fdopen(os.dup(STANDARD_OUTPUT), "wb") as sink,
        Path(os.devnull).open("rb") as nothing,
    ):
        os.dup2(nothing.fileno(), STANDARD_INPUT)
        os.dup2(STANDARD_ERROR, STANDARD_OUTPUT)
        try:
            yield source, sink
        finally:
            sys.stdout.flush()
            os.dup2(source.fileno(), STANDARD_INPUT)
            os.dup2(sink.fileno(), STANDARD_OUTPUT)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGINT end the block as the end of input does."""
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except _Ended:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Ended(BaseException):
    """A signal asked for the end. Not an Exception, so that nothing on the way takes it for a failure."""


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended
