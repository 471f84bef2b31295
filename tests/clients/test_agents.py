"""Coding agents run whole: a stand-in of their model asks for the calls, the agents make them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from local_runner.child_server import ChildServer, child_server
from tests.clients.environments import NODE, NotInstallable, node_variables, npm_package
from tests.clients.model_stand_in import Asked, StandIn, model_stand_in
from tests.clients.roster import CLAUDE_CODE, CODEX, GEMINI_CLI
from tests.clients.steps import note, note_missing
from tests.clients.test_clients import stored
from tests.system.processes import RECORDED_SERVER, RecordedEvents, variables

AGENT_SECONDS = 120.0
FACT = "Standup is at 09:15"
ARGUMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("remember", {"content": FACT}),
    ("recall", {"query": "standup", "limit": 999}),
    ("recall", {"query": "standup"}),
)


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedEvents:
    return RecordedEvents(tmp_path)


@pytest.fixture
def server(tmp_path: Path, recorded: RecordedEvents) -> Iterator[ChildServer]:
    environment = variables(tmp_path / "data", EMBEDDINGS="none", RECORDED=str(recorded.folder))
    with child_server(environment, RECORDED_SERVER) as server:
        yield server


def installed(name: str, place: str, package: str) -> Path:
    try:
        return npm_package(place, package)
    except NotInstallable as missing:
        note_missing(name, str(missing))
        pytest.skip(f"a client could not be installed: {missing}")


def run(place: Path, command: Sequence[str], given: Mapping[str, str]) -> str:
    """What an agent says, in a home folder of its own."""
    environment = {"PATH": node_variables()["PATH"], "HOME": str(place), **given}
    ran = subprocess.run(
        command,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=AGENT_SECONDS,
    )
    return ran.stdout + ran.stderr


def tool_results(body: Mapping[str, Any]) -> list[str]:
    """What the agent told its model of each call, in order: Anthropic's messages, OpenAI's items, Gemini's contents."""
    contents = [one.get("content") for one in body.get("messages", ())]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    results = [part for part in parts if part.get("type") == "tool_result"]
    outputs = [one for one in body.get("input", ()) if one.get("type") == "function_call_output"]
    parts = [part for one in body.get("contents", ()) for part in one["parts"]]
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    every = (
        *(one.get("content", one.get("output")) for one in (*results, *outputs)),
        *(one["response"] for one in answers),
    )
    return [json.dumps(one, ensure_ascii=False) for one in every]


def judge(name: str, server: ChildServer, recorded: RecordedEvents, model: StandIn, said: str) -> None:
    """Note the agent's row of the table, then assert it."""
    posted = [event for event in recorded.of("http") if event.get("body")]
    messages = [json.loads(event["body"]) for event in posted]
    called = [one["params"] for one in messages if one["method"] == "tools/call"]
    told = tool_results(model.bodies[-1]) if model.bodies else []
    whole = len(told) == len(ARGUMENTS)
    done = {
        "list": "tools/list" in {one["method"] for one in messages},
        "remember": asyncio.run(stored(server.url, name)) == [FACT],
        "error": whole and "limit" in told[1] and "999" in told[1],
        "recall": whole
        and FACT in told[2]
        and [(one["name"], one["arguments"]) for one in called] == [*ARGUMENTS],
        "headers": {event["headers"].get("x-memory-tenant") for event in posted} == {name},
    }
    note(name, **done)
    assert all(done.values()), (done, called, told, said[-3_000:])


def test_claude_code_remembers_recovers_and_recalls_for_its_model(
    server: ChildServer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    claude = installed("claude-code", "clients/claude-code-binary", CLAUDE_CODE) / "claude"
    entry = {"type": "http", "url": server.url, "headers": {"X-Memory-Tenant": "claude-code"}}
    servers = tmp_path / "servers.json"
    servers.write_text(json.dumps({"mcpServers": {"lodestore": entry}}), encoding="utf-8")
    asked = [Asked(f"mcp__lodestore__{tool}", arguments) for tool, arguments in ARGUMENTS]
    with model_stand_in(asked) as model:
        options = ("--bare", "--strict-mcp-config", "--mcp-config", str(servers))
        allowed = ("--allowedTools", "mcp__lodestore__remember,mcp__lodestore__recall")
        given = {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "stand-in",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
        }
        said = run(tmp_path, (str(claude), "-p", "When is standup?", *options, *allowed), given)
    judge("claude-code", server, recorded, model, said)


def test_codex_remembers_recovers_and_recalls_for_its_model(
    server: ChildServer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    codex = installed("codex", "clients/codex", CODEX) / "bin" / "codex.js"
    asked = [Asked(f"mcp__lodestore/{tool}", arguments) for tool, arguments in ARGUMENTS]
    with model_stand_in(asked) as model:
        (tmp_path / "config.toml").write_text(
            f"""
model = "stand-in"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "{model.url}/v1"
wire_api = "responses"
[mcp_servers.lodestore]
url = "{server.url}"
http_headers = {{ "X-Memory-Tenant" = "codex" }}
startup_timeout_sec = {AGENT_SECONDS}
required = true
""",
            encoding="utf-8",
        )
        # It asks before a tool that writes, and nobody is there to answer; its model only calls what stands above.
        unasked = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        program = (str(NODE / "bin" / "node"), str(codex))
        command = (*program, "exec", *unasked, "When is standup?")
        said = run(tmp_path, command, {"CODEX_HOME": str(tmp_path)})
    judge("codex", server, recorded, model, said)


def test_gemini_cli_remembers_recovers_and_recalls_for_its_model(
    server: ChildServer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    gemini = installed("gemini-cli", "clients/gemini-cli", GEMINI_CLI) / "bundle" / "gemini.js"
    entry = {"httpUrl": server.url, "headers": {"X-Memory-Tenant": "gemini-cli"}, "trust": True}
    settings = {
        "mcpServers": {"lodestore": entry},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
    }
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    asked = [Asked(f"mcp_lodestore_{tool}", arguments) for tool, arguments in ARGUMENTS]
    with model_stand_in(asked) as model:
        given = {
            "GEMINI_API_KEY": "stand-in",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }
        command = (str(NODE / "bin" / "node"), str(gemini), "--model", "gemini-2.5-flash", "--yolo")
        said = run(tmp_path, (*command, "--prompt", "When is standup?"), given)
    judge("gemini-cli", server, recorded, model, said)
