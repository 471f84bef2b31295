"""A server that is killed loses nothing that it had answered."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from random import Random

import pytest

from local_runner.child_server import ChildServer, child_server
from tests.system.processes import LODESTORE, call_tool, http_client, tool_process, variables

TOGETHER = 4
ANSWERS_MOST = 40


async def remember_until_killed(server: ChildServer, moment: int, answered: dict[str, str]) -> None:
    """Remember one after the other, four at a time, and kill the server when `moment` answers have come."""

    async def remember(writer: int) -> None:
        async with http_client(server.url) as client:
            for number in range(ANSWERS_MOST):
                content = f"statement {number} of writer {writer}"
                answer = await call_tool(client, "remember", content=content)
                answered[answer["id"]] = content
                if len(answered) == moment:
                    server.process.kill()

    # Each writer's last call fails in its own way when the server is gone.
    await asyncio.gather(*(remember(writer) for writer in range(TOGETHER)), return_exceptions=True)


@pytest.mark.promise("P-DURABLE")
@pytest.mark.parametrize("seed", [1, 2])
def test_every_answered_memory_is_there_after_kill_9(tmp_path: Path, seed: int) -> None:
    environment = variables(tmp_path / "data", INDEX_EVERY="0.05")
    answered: dict[str, str] = {}
    moment = Random(seed).randint(5, ANSWERS_MOST)
    with child_server(environment) as server:
        asyncio.run(remember_until_killed(server, moment, answered))
        assert server.process.wait() == -9
    assert len(answered) >= moment
    with child_server(environment) as server:
        listed = asyncio.run(list_all(server.url))
    assert {memory_id: listed.get(memory_id) for memory_id in answered} == answered
    # What was under way is there whole or not at all.
    with tool_process(environment) as reader:
        assert reader.call("memory_stats")["total"] == len(listed)
    assert not [text for text in listed.values() if not text.startswith("statement ")]


@pytest.mark.promise("P-DURABLE")
def test_every_memory_that_a_stdio_server_answered_is_there_after_kill_9(tmp_path: Path) -> None:
    environment = variables(tmp_path / "data")
    contents = [f"statement {number}" for number in range(ANSWERS_MOST)]
    command, pipe = [*LODESTORE, "stdio"], subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for number, content in enumerate(contents):
            params = {"name": "remember", "arguments": {"content": content}}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        answers = [
            json.loads(server.stdout.readline()) for _ in range(Random(3).randint(5, ANSWERS_MOST - 8))
        ]
        server.kill()
    answered = {answer["result"]["structuredContent"]["content"] for answer in answers}
    assert len(answered) == len(answers)
    with tool_process(environment) as reader:
        listed = {memory["content"] for memory in reader.call("list_memories", limit=100)["memories"]}
    assert answered <= listed <= set(contents)


async def list_all(url: str) -> dict[str, str]:
    listed: dict[str, str] = {}
    cursor: dict[str, str] = {}
    async with http_client(url) as client:
        while True:
            page = await call_tool(client, "list_memories", limit=100, **cursor)
            listed.update((memory["id"], memory["content"]) for memory in page["memories"])
            if "next_cursor" not in page:
                return listed
            cursor = {"cursor": page["next_cursor"]}
