"""The clients that are tried, and how each is started.

Owns: their versions, those of `locks/`, and the commands. Guarantees: every command is run in the client's own
environment and prints one JSON line {tools, error, recalled}.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.clients.environments import NODE, npm_package, python_environment

PROGRAMS = Path(__file__).parent / "programs"
Command = tuple[str, ...]
NODE_PROGRAM = str(NODE / "bin" / "node")
TYPESCRIPT_1, TYPESCRIPT_2 = "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"
MCP_REMOTE = "mcp-remote@0.15.1"
CLAUDE_CODE, CODEX = "@anthropic-ai/claude-code-linux-x64@2.1.332", "@openai/codex@0.171.0"
GEMINI_CLI = "@google/gemini-cli@0.61.0"


def _python(program: str, *packages: str) -> Callable[[str, str], Command]:
    place = f"clients/{program.removesuffix('_client').replace('_', '-')}"

    def command(url: str, tenant: str) -> Command:
        return (str(python_environment(place, *packages)), str(PROGRAMS / f"{program}.py"), url, tenant)

    return command


def _python_sdk(mode: str) -> Callable[[str, str], Command]:
    def command(url: str, tenant: str) -> Command:
        return (sys.executable, "-m", "tests.clients.programs.python_sdk_client", url, tenant, mode)

    return command


def _typescript(package: str, mode: str) -> Callable[[str, str], Command]:
    major = package.rpartition("@")[2][0]

    def command(url: str, tenant: str) -> Command:
        folder = npm_package(f"clients/typescript-{major}", package)
        return (
            NODE_PROGRAM,
            str(PROGRAMS / "typescript_client.mjs"),
            url,
            tenant,
            str(folder),
            major,
            mode,
        )

    return command


def _mcp_remote(url: str, tenant: str) -> Command:
    proxy = npm_package("clients/mcp-remote", MCP_REMOTE) / "dist" / "proxy.js"
    bridge = (NODE_PROGRAM, str(proxy))
    return (sys.executable, "-m", "tests.clients.programs.bridge_client", url, tenant, *bridge)


CLIENTS: Mapping[str, Callable[[str, str], Command]] = {
    "python-sdk-modern": _python_sdk("auto"),
    "python-sdk-legacy": _python_sdk("legacy"),
    "typescript-1": _typescript(TYPESCRIPT_1, "legacy"),
    "typescript-2-legacy": _typescript(TYPESCRIPT_2, "legacy"),
    "typescript-2-modern": _typescript(TYPESCRIPT_2, "modern"),
    "mcp-remote": _mcp_remote,
    "fastmcp": _python("fastmcp_client", "fastmcp==4.2.3"),
    "pydantic-ai": _python("pydantic_ai_client", "pydantic-ai-slim[mcp]==2.68.0"),
    "strands": _python("strands_client", "strands-agents==1.62.0"),
    "openai-agents": _python("openai_agents_client", "openai-agents==0.24.0"),
    "langchain": _python("langchain_client", "langchain-mcp-adapters==0.3.2", "mcp==1.30.0"),
}
