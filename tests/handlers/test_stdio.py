"""The same server over standard input and output, in a process of its own."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from lodestore.domain.limits import BODY_BYTES
from mcp_server.dispatch import Dispatch
from mcp_server.observability import Counters, Observer
from mcp_server.stdio import WAITING_MOST, Session, bounded_lines
from tests.handlers.sdk_client import Mode, structured
from tests.handlers.stand_ins import StandIn
from tests.handlers.wire import MODERN, call, modern, request

# A program that also prints where it must not; the protocol has standard output for itself.
PROGRAM = """
import sys
from lodestore.bootstrap import environment
from mcp_server import stdio
serve = stdio.Session.serve
def chatty(self, source):
    print("stray words", flush=True)
    return serve(self, source)
stdio.Session.serve = chatty
stdio.run(environment())
"""
ERAS = {"auto": MODERN, "legacy": "2025-11-25"}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def _environment(folder: Path, **variables: str) -> dict[str, str]:
    path = ":".join(entry for entry in sys.path if entry)
    return {"PYTHONPATH": path, "DATA": str(folder), "EMBEDDINGS": "none", **variables}


@contextmanager
def _server(folder: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=_environment(folder, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _lines(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def _by_id(output: bytes) -> dict[object, dict[str, object]]:
    answers = [json.loads(line) for line in output.splitlines()]
    return {answer["id"]: answer for answer in answers}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_the_sdks_client_remembers_and_recalls(tmp_path: Path, mode: Mode) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", PROGRAM], env=_environment(tmp_path)
    )

    async def talk() -> None:
        async with Client(stdio_client(parameters), mode=mode) as connected:
            assert connected.protocol_version == ERAS[mode]
            assert "recall" in {tool.name for tool in (await connected.list_tools()).tools}
            stored = await structured(connected, "remember", {"content": "Standup is at 09:15"})
            recalled = await structured(connected, "recall", {"query": "standup"})
            assert [hit["id"] for hit in recalled["hits"]] == [stored["id"]]
            with pytest.raises(MCPError, match="Unknown tool"):
                await connected.call_tool("nope", {})

    anyio.run(talk)


def test_everything_that_was_sent_is_answered_before_the_end_of_input_ends_the_process(
    tmp_path: Path,
) -> None:
    sent = _lines(
        request("initialize", HANDSHAKE),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("tools/list", number="list"),
        call("remember", {"content": "half \ud83d"}, number=2),
        call("nope", number=3),
        call("remember", {"content": "x", "colour": "red"}, number=4),
        modern(request("server/discover", number=5)),
        modern(call("recall", {"query": "x"}, number=6)),
        request("ping", number=0),
    )
    with _server(tmp_path) as process:
        output, log = process.communicate(sent, timeout=60)
        assert process.returncode == 0
    answers = _by_id(output)
    assert set(answers) == {1, "list", 2, 3, 4, 5, 6, 0}
    assert b"stray words" not in output
    assert b"stray words" in log
    assert not [word for word in (b"half", b"colour", b"nope") if word in log]
    half, colour = (answers[number]["result"]["structuredContent"] for number in (2, 4))  # type: ignore[index]
    assert (half["error"], half["field"]) == ("invalid_argument", "content")
    assert (colour["error"], colour["field"]) == ("invalid_argument", "colour")
    assert answers[3]["error"] == {"code": -32602, "message": "Unknown tool: nope"}
    assert answers[5]["result"]["supportedVersions"] == [MODERN]  # type: ignore[index]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with _server(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_lines(request("ping")))
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stdout.read() == b""


def test_without_a_tenant_it_does_not_start(tmp_path: Path) -> None:
    with _server(tmp_path, TENANT="") as process:
        output, log = process.communicate(b"", timeout=60)
        assert process.returncode != 0
        assert output == b""
        assert b"TENANT" in log


def test_a_conversation_can_be_set_for_the_process(tmp_path: Path) -> None:
    note = call("remember", {"content": "only here", "scope": "conversation", "id": "note"})
    with _server(tmp_path, CONVERSATION="c1") as process:
        process.communicate(_lines(note), timeout=60)
    (stored,) = (json.loads(path.read_text()) for path in tmp_path.rglob("note.json"))
    assert (stored["scope"], stored["conversation"]) == ("conversation", "c1")


class Spoken:
    """A session over buffers."""

    def __init__(self, core: StandIn) -> None:
        observer = Observer(clock=core.clock, counters=Counters(), log=io.StringIO(), metrics=None)
        self._sink = io.BytesIO()
        self._session = Session(Dispatch(core, observer), observer, core.access.local_caller(), self._sink)

    def answers(self, sent: bytes) -> list[dict[str, object]]:
        self._session.serve(io.BytesIO(sent))
        return [json.loads(line) for line in self._sink.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud83d"}}', -32600),
        (b"[" * 100_000, -32700),
        (b" " * BODY_BYTES + b"xx", -32600),
        (b"x" * (3 * BODY_BYTES), -32600),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_served(
    core: StandIn, line: bytes, code: int
) -> None:
    refused, served = sorted(
        Spoken(core).answers(line + b"\n\n" + _lines(request("ping", number=7))),
        key=lambda answer: "result" in answer,
    )
    assert refused["error"]["code"] == code  # type: ignore[index]
    assert served == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_a_last_line_needs_no_end_and_windows_ends_are_fine(core: StandIn) -> None:
    sent = _lines(request("ping")).replace(b"\n", b"\r\n") + _lines(request("ping", number=2)).rstrip()
    assert {answer["id"] for answer in Spoken(core).answers(sent)} == {1, 2}


def test_notifications_are_not_answered(core: StandIn) -> None:
    assert Spoken(core).answers(_lines({"jsonrpc": "2.0", "method": "notifications/initialized"})) == []


def test_many_messages_at_once_are_all_answered(core: StandIn) -> None:
    many = 5 * WAITING_MOST
    sent = _lines(*(call("recall", {"query": str(number)}, number=number) for number in range(many)))
    assert {answer["id"] for answer in Spoken(core).answers(sent)} == set(range(many))
    assert len(core.calls) == many


def test_a_2026_message_that_lacks_its_envelope_is_served_by_the_handshakes_rules(core: StandIn) -> None:
    (listed,) = Spoken(core).answers(_lines(request("tools/list")))
    assert "resultType" not in listed["result"]  # type: ignore[operator]


@pytest.mark.promise("P-BOUNDED")
def test_a_line_over_the_limit_is_skipped_without_being_kept() -> None:
    source = io.BytesIO(b"ab\nabc\nabcd\n" + b"x" * 1000 + b"\n  \n\r\nabc\r\nxyz1")
    assert list(bounded_lines(source, 3)) == [b"ab", b"abc", None, None, b"abc", None]
