"""Coding agents' own command lines add the server and find it connected, with no login."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from local_runner.child_server import ChildServer, child_server
from tests.clients.environments import NODE, NotInstallable, node_variables, npm_package
from tests.clients.roster import CLAUDE_CODE, CODEX, GEMINI_CLI
from tests.system.processes import RECORDED_SERVER, RecordedEvents, variables

COMMAND_SECONDS = 60.0


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedEvents:
    return RecordedEvents(tmp_path)


@pytest.fixture
def server(tmp_path: Path, recorded: RecordedEvents) -> Iterator[ChildServer]:
    environment = variables(tmp_path / "data", EMBEDDINGS="none", RECORDED=str(recorded.folder))
    with child_server(environment, RECORDED_SERVER) as server:
        yield server


def package(place: str, name: str) -> Path:
    try:
        return npm_package(place, name)
    except NotInstallable as missing:
        pytest.skip(f"a client could not be installed: {missing}")


def run(place: Path, command: Sequence[str | Path]) -> str:
    """What a command says, in a home folder of its own."""
    environment = {"PATH": node_variables()["PATH"], "HOME": str(place), "CODEX_HOME": str(place)}
    # Gemini CLI asks whether the folder that it runs in is trusted.
    environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    ran = subprocess.run(
        [str(part) for part in command],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_claude_code_adds_the_server_and_finds_it_connected(
    server: ChildServer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    claude = package("clients/claude-code-binary", CLAUDE_CODE) / "claude"
    header = ("--header", "X-Memory-Tenant: acme")
    run(tmp_path, (claude, "mcp", "add", "--transport", "http", "lodestore", server.url, *header))
    assert "Connected" in run(tmp_path, (claude, "mcp", "list"))
    # It also looks for OAuth, with no header of ours and no body, and finds nothing.
    posted = [event for event in recorded.of("http") if event.get("body")]
    tenants = {event["headers"].get("x-memory-tenant") for event in posted}
    assert tenants == {"acme"}


def test_codex_takes_the_server_into_its_list(server: ChildServer, tmp_path: Path) -> None:
    codex = package("clients/codex", CODEX) / "bin" / "codex.js"
    program = (NODE / "bin" / "node", codex)
    run(tmp_path, (*program, "mcp", "add", "lodestore", "--url", server.url))
    assert server.url in run(tmp_path, (*program, "mcp", "list"))


def test_gemini_cli_adds_the_server_and_finds_it_connected(
    server: ChildServer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    gemini = package("clients/gemini-cli", GEMINI_CLI) / "bundle" / "gemini.js"
    program = (NODE / "bin" / "node", gemini)
    header = ("--header", "X-Memory-Tenant: acme")
    added = ("mcp", "add", "--scope", "user", "--transport", "http", "lodestore", server.url, *header)
    run(tmp_path, (*program, *added))
    assert "Connected" in run(tmp_path, (*program, "mcp", "list"))
    posted = [event for event in recorded.of("http") if event.get("body")]
    assert {event["headers"].get("x-memory-tenant") for event in posted} == {"acme"}
