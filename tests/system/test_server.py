"""The server as its user runs it: a process, real clients, settings, keys, signals."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from local_runner.child_server import ChildServer, child_server
from tests.stores.servers import free_ports
from tests.system.processes import (
    LODESTORE,
    Answer,
    call_tool,
    http_client,
    run_lodestore,
    tool_process,
    variables,
)

TOOLS = {
    "remember",
    "recall",
    "memory_context",
    "get_memory",
    "list_memories",
    "memory_stats",
    "update_memory",
    "forget",
    "memory_feedback",
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildServer]:
    """An open server over an empty folder."""
    with child_server(variables(tmp_path_factory.mktemp("open"), INDEX_EVERY="0.05")) as server:
        yield server


async def remember_and_recall(client: Client, content: str) -> tuple[set[str], list[str]]:
    tools = {tool.name for tool in (await client.list_tools()).tools}
    await call_tool(client, "remember", content=content)
    hits = (await call_tool(client, "recall", query=content))["hits"]
    return tools, [hit["content"] for hit in hits]


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_the_official_client_lists_tools_remembers_and_recalls_over_http(
    server: ChildServer, era: str
) -> None:
    async def talk() -> tuple[set[str], list[str]]:
        async with http_client(server.url, mode=era, X_Memory_Tenant=f"era-{era}") as client:
            return await remember_and_recall(client, "Standup is at 09:15")

    tools, hits = asyncio.run(talk())
    assert tools >= TOOLS
    assert hits == ["Standup is at 09:15"]


def test_the_official_client_lists_tools_remembers_and_recalls_over_stdio_beside_a_running_server(
    tmp_path: Path,
) -> None:
    environment = variables(tmp_path / "data")
    command, *arguments = [*LODESTORE, "stdio"]
    parameters = StdioServerParameters(command=command, args=arguments, env=environment)

    async def talk(url: str) -> tuple[set[str], list[str], Answer]:
        async with Client(parameters) as client:
            tools, hits = await remember_and_recall(client, "Nora leads the Oslo migration")
        async with http_client(url) as client:
            return tools, hits, await call_tool(client, "recall", query="who leads Oslo?")

    with child_server(environment) as beside:
        tools, hits, seen = asyncio.run(talk(beside.url))
    assert tools >= TOOLS
    assert hits == ["Nora leads the Oslo migration"]
    assert [hit["content"] for hit in seen["hits"]] == hits


def test_health_needs_no_key_and_says_what_embeds(server: ChildServer, tmp_path: Path) -> None:
    with child_server(variables(tmp_path, EMBEDDINGS="none")) as plain:
        for url, embeddings in ((server.url, "all-MiniLM-L6-v2/int8"), (plain.url, "none (keyword-only")):
            health = httpx2.get(url.replace("/mcp", "/health"), trust_env=False)
            assert health.status_code == 200
            assert health.json()["status"] == "ok"
            assert health.json()["embeddings"].startswith(embeddings)


def test_a_paraphrase_that_shares_no_word_is_found_by_the_default(server: ChildServer) -> None:
    async def ask() -> Answer:
        async with http_client(server.url) as client:
            await call_tool(client, "remember", content="Jon must never eat peanuts")
            return await call_tool(client, "recall", query="who has a nut allergy")

    hits = asyncio.run(ask())["hits"]
    assert hits[0]["content"] == "Jon must never eat peanuts"


@pytest.mark.promise("P-UNTRUSTED")
def test_the_log_says_what_was_called_and_nothing_of_what_was_said(tmp_path: Path) -> None:
    async def talk(url: str) -> None:
        async with http_client(url) as client:
            await remember_and_recall(client, "the secret name is Rumpelstiltskin")

    with child_server(variables(tmp_path / "data", INDEX_EVERY="0.05", SLEEP_EVERY="0.05")) as server:
        asyncio.run(talk(server.url))
        logged = server.logged()
    assert '"tool":"remember"' in logged
    assert "Rumpelstiltskin" not in logged


def test_a_port_in_use_is_one_line_and_exit_code_1(server: ChildServer, tmp_path: Path) -> None:
    port = str(urlsplit(server.url).port)
    answer = run_lodestore(variables(tmp_path / "data", PORT=port), "serve")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.count("\n") == 1
    assert f"PORT={port}" in answer.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("command", "name", "value"),
    [
        ("serve", "PORT", "http"),
        ("serve", "HOST", "0.0.0.0"),  # noqa: S104 - what must be refused
        ("serve", "STORE", "ftp://elsewhere"),
        ("serve", "ALLOWED_ORIGINS", "anywhere"),
        ("stdio", "INDEX_EVERY", "-1"),
    ],
)
def test_a_setting_with_an_unknown_value_stops_the_start_by_name(
    tmp_path: Path, command: str, name: str, value: str
) -> None:
    answer = run_lodestore(variables(tmp_path / "data", **{name: value}), command)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.count("\n") == 1
    assert name in answer.stderr
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_made_stops_the_start_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    answer = run_lodestore(variables(tmp_path / "file" / "data", PORT="0"), "serve")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.splitlines()[-1].startswith("lodestore: DATA: ")


def test_a_bucket_that_does_not_answer_stops_the_start(tmp_path: Path) -> None:
    (closed,) = free_ports(1)
    nowhere = {
        "STORE": "s3://nowhere",
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{closed}",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    answer = run_lodestore(variables(tmp_path / "unused", PORT="0", **nowhere), "serve")
    assert (answer.returncode, answer.stdout) == (1, "")
    said = "lodestore: the store does not answer; check STORE and DATA, and what the store itself says"
    assert answer.stderr.splitlines()[-1] == said


def test_an_unknown_command_is_exit_code_2(tmp_path: Path) -> None:
    answer = run_lodestore(variables(tmp_path / "data"), "destroy")
    assert (answer.returncode, answer.stdout) == (2, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    with child_server(variables(tmp_path / "data", INDEX_EVERY="0.05", SLEEP_EVERY="0.05")) as server:
        server.process.send_signal(number)
        assert server.process.wait() == 0
        assert "Traceback" not in server.logged()


# Keys.


def make_key(environment: dict[str, str], tenant: str, role: str) -> str:
    answer = run_lodestore({**environment, "TENANT": tenant, "ROLE": role}, "key")
    assert (answer.returncode, answer.stderr) == (0, "")
    key, rest = answer.stdout.split("\n")
    assert key
    assert rest == ""
    return key


def status(url: str, message: Answer, **headers: str) -> int:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(url, json=message, headers=sent, trust_env=False).status_code


@pytest.mark.case("B90")
@pytest.mark.promise("P-TENANT")
def test_a_key_made_beside_a_running_server_is_valid_at_once_for_its_tenants_and_role(tmp_path: Path) -> None:
    environment = variables(tmp_path / "data", AUTH="keys", TENANT="")

    async def write(url: str, key: str) -> Answer:
        async with http_client(url, Authorization=f"Bearer {key}") as client:
            return await call_tool(client, "remember", content="Standup is at 09:15")

    with child_server(environment) as server:
        assert status(server.url, LIST_TOOLS) == 401
        assert status(server.url, LIST_TOOLS, X_API_Key="lode_wrong") == 401
        writer = make_key(environment, "acme", "writer")
        assert asyncio.run(write(server.url, writer))["status"] == "stored"
        assert status(server.url, LIST_TOOLS, X_API_Key=writer) == 200
        assert status(server.url, LIST_TOOLS, X_API_Key=writer, X_Memory_Tenant="zephyr") == 403
        several = make_key(environment, "acme,zephyr", "reader")
        assert status(server.url, LIST_TOOLS, X_API_Key=several) == 403
        assert status(server.url, LIST_TOOLS, X_API_Key=several, X_Memory_Tenant="zephyr") == 200
        assert status(server.url, INITIALIZE, X_API_Key=several) == 200
    with tool_process({**environment, "TENANT": "acme"}) as reader:
        assert reader.call("list_memories")["total"] == 1


@pytest.mark.parametrize(
    ("tenant", "role", "named"),
    [("", "writer", "TENANT"), ("acme", "", "ROLE"), ("acme", "owner", "ROLE"), ("a/b", "writer", "TENANT")],
)
def test_a_key_for_no_tenant_or_an_unknown_role_is_refused_by_name(
    tmp_path: Path, tenant: str, role: str, named: str
) -> None:
    answer = run_lodestore(variables(tmp_path / "data", TENANT=tenant, ROLE=role), "key")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert named in answer.stderr
    assert not (tmp_path / "data").exists()
