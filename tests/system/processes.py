"""Processes for tests: fresh ones that call tools, servers, and real MCP clients of them.

Owns: starting and ending them. Guarantees: a process sees only the variables that a test gives it and what a
program needs to run at all; none outlives its block. Gives up: speed; each is a new interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).resolve().parents[2]
LODESTORE = [sys.executable, "-m", "local_runner.cli"]
COMMAND_SECONDS = 60.0
CALL_SECONDS = 60.0
POLLS_MOST = 600
POLL_SECONDS = 0.05
RECORDED_SERVER = ("-m", "tests.system.recorded_server")
_INHERITED = ("HOME", "LANG", "PATH", "TMPDIR", "PYTHONDONTWRITEBYTECODE")

Answer = dict[str, Any]


def variables(data: Path, **given: str) -> dict[str, str]:
    """The environment of a process over this folder: no indexer, no maintenance, unless given."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "layers/core/python", "functions"))
    quiet = {"INDEX_EVERY": "0", "SLEEP_EVERY": "0", "DATA": str(data), "PYTHONPATH": paths}
    return {**inherited, **quiet, **given}


def run_lodestore(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    command = [*LODESTORE, *arguments]
    return subprocess.run(
        command, env=dict(environment), capture_output=True, text=True, timeout=COMMAND_SECONDS
    )


class ToolProcess:
    """A process that calls tools, side by side where it is sent several at once."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def send(self, *calls: tuple[str, Answer]) -> None:
        """Begin the calls; `receive` waits for their answers."""
        assert self._process.stdin is not None
        line = json.dumps([{"tool": tool, "arguments": arguments} for tool, arguments in calls])
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def receive(self) -> list[Answer]:
        """The answers of the oldest `send`, in its order."""
        assert self._process.stdout is not None
        answers: list[Answer] = json.loads(self._process.stdout.readline())
        return answers

    def call(self, tool: str, **arguments: object) -> Answer:
        """One call and its answer."""
        self.send((tool, arguments))
        return self.receive()[0]


@contextmanager
def tool_process(environment: Mapping[str, str]) -> Iterator[ToolProcess]:
    """A fresh process; it ends with the block."""
    command = [sys.executable, "-m", "tests.system.tool_process"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=dict(environment), stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield ToolProcess(process)
        finally:
            process.kill()


@contextmanager
def tool_processes(count: int, environment: Mapping[str, str]) -> Iterator[list[ToolProcess]]:
    """Several, all of them up: each has answered a first call."""
    with ExitStack() as stack:
        processes = [stack.enter_context(tool_process(environment)) for _ in range(count)]
        for process in processes:
            process.send(("memory_stats", {}))
        for process in processes:
            process.receive()
        yield processes


def fresh_call(environment: Mapping[str, str], tool: str, **arguments: object) -> Answer:
    """One call in a process that has seen nothing before it."""
    with tool_process(environment) as process:
        return process.call(tool, **arguments)


class RecordedEvents:
    """What the handlers of `recorded_server` were sent, in a folder that RECORDED names."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "recorded"
        self.folder.mkdir()

    def of(self, name: str) -> list[Answer]:
        """The events of a function so far, in order."""
        files = sorted(self.folder.glob(f"{name}-*.json"))
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]

    def wait_for(self, name: str, count: int) -> list[Answer]:
        """The events of a function when there are at least so many."""
        pause = Event()
        for _ in range(POLLS_MOST):
            if len(events := self.of(name)) >= count:
                return events
            pause.wait(POLL_SECONDS)
        raise AssertionError(f"{name} was not called {count} times")


@asynccontextmanager
async def http_client(url: str, *, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    """The official MCP client over HTTP; `_` in a header's name stands for `-`; mode "legacy": `initialize`."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=CALL_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def call_tool(client: Client, tool: str, **arguments: object) -> Answer:
    """The structured answer of a tool that must not fail."""
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is not None
    assert not result.is_error, result.structured_content
    answer: Answer = result.structured_content
    return answer
