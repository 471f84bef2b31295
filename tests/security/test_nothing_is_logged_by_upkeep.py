"""What memories hold appears in no log and no metric of any function or command, whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from local_runner.child_server import child_server
from lodestore.services.tool_schemas import SCHEMAS
from tests.handlers.wire import LOCAL, call, event, request
from tests.security.test_nothing_is_logged import LAMBDA, PROGRAM
from tests.system.processes import http_client, run_lodestore, variables

MARK = "mark-9f3b"
ID = f"{MARK}-id"
# Every tool, and after it what is none: the indexer and maintenance, with sound events, planted objects and nonsense.
UPKEEP = """
from lodestore.bootstrap import build, environment
from lodestore.domain.caller import Role
from lodestore.format import keys
from mcp_server.handler import handler
from indexer.handler import handler as index
from maintenance.handler import handler as maintain
from tests.proof.events import batch_of, record_of
core = build(environment())
key = core.access.issue_key(["mark-9f3b-tenant"], Role.ADMIN)
answers = []
for event in json.load(open(sys.argv[1])):
    event["headers"] = {name: value.replace("KEY", key) for name, value in event["headers"].items()}
    answers.append(handler(event, None))
tenant, planted = "mark-9f3b-tenant", "mark-9f3b-planted"
core.state_store.create(keys.memory(tenant, planted), b'{"content": "mark-9f3b planted"')
core.index_store.create(keys.counts_delta(tenant, "0" * 32, 1), b'{"mark-9f3b": 1}')
core.index_store.create(keys.pending(tenant, "01KK83E8E1FFAX8ZJ4DZ7C44BK", planted), b"mark-9f3b")
where = {"bucket": "memories"} if os.environ.get("STORE", "").startswith("s3://") else {}
start = "state/" if where else ""
records = [[record_of(start + keys.memory(tenant, name), **where)] for name in ("mark-9f3b-id", planted)]
records += [[record_of("mark-9f3b/key", **where)], [{"mark-9f3b": "mark-9f3b"}], ["mark-9f3b"]]
answers.append(index(batch_of(*records)))
answers.append(maintain({"task": "dispatch", "all": True}))
for wrong, call in (({"mark-9f3b": 1}, index), ({"task": "mark-9f3b"}, maintain)):
    try:
        call(wrong)
    except Exception as error:
        answers.append(type(error).__name__)
json.dump({"key": key, "answers": answers}, open(sys.argv[2], "w"))
"""


def _events() -> list[dict[str, object]]:
    headers = {**LOCAL, "x-api-key": "KEY", "x-conversation-id": f"{MARK}-chat", "user-agent": MARK}
    words = {
        "content": f"{MARK} the content, password=hunter2{MARK}",
        "query": f"{MARK} query",
        "id": ID,
        "useful": True,
        "note": f"{MARK} note",
        "reason": f"{MARK} reason",
        "source": f"{MARK}-source",
        "tags": [f"{MARK}-tag"],
        "metadata": {MARK: MARK},
    }  # fmt: skip
    messages = [call("remember", {"id": ID, "content": f"{MARK} first"})]
    for tool, schema in SCHEMAS.items():
        properties = schema["properties"]
        assert isinstance(properties, dict)
        given = {name: value for name, value in words.items() if name in properties}
        messages += [call(tool, given), call(tool, dict.fromkeys(properties, f"{MARK} \u202e"))]
    messages += [
        request("resources/read", {"uri": f"memory://memory/{ID}"}),
        request("prompts/get", {"name": "recall_first", "arguments": {"task": f"{MARK} task"}}),
    ]
    return [event(headers=headers, body=json.dumps(message)) for message in messages]


@pytest.mark.case("B27")
@pytest.mark.promise("P-UNTRUSTED")
@pytest.mark.parametrize("where", [{}, LAMBDA], ids=["one machine", "Lambda"])
def test_no_word_of_a_memory_is_written_by_any_function_or_command(
    tmp_path: Path, where: dict[str, str]
) -> None:
    sent, received = tmp_path / "events.json", tmp_path / "answers.json"
    sent.write_text(json.dumps(_events()))
    environment = {
        "PYTHONPATH": ":".join(path for path in (*sys.path, ".") if path),
        "AUTH": "keys",
        "EMBEDDINGS": "none",
        "DATA": str(tmp_path / "data"),
        **where,
    }
    program = PROGRAM.partition("from lodestore.bootstrap import")[0] + UPKEEP
    done = subprocess.run(
        [sys.executable, "-c", program, str(sent), str(received)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(received.read_text())
    assert len(found["answers"]) == len(_events()) + 4
    assert MARK in json.dumps(found["answers"])
    written = done.stdout + done.stderr
    for service in ("mcp_server", "indexer", "maintenance"):
        assert f'"service":"{service}"' in written
    assert '"invalid"' in written
    assert MARK not in written
    assert "hunter2" not in written
    assert found["key"] not in written
    if not where:
        _commands(environment)


def _commands(environment: dict[str, str]) -> None:
    """What a person runs by hand: progress and failures name nothing that is remembered."""
    by_hand = {**environment, "TENANT": f"{MARK}-tenant"}
    for arguments in (["sleep"], ["rebuild"], ["report"], ["erase", "--yes"]):
        done = run_lodestore(by_hand, *arguments)
        assert done.returncode == 0, (arguments, done.stderr)
        for word in ("content", "first", "note", "reason", "source", "tag", "query"):
            assert f"{MARK} {word}" not in done.stdout + done.stderr
            assert f"{MARK}-{word}" not in done.stdout + done.stderr


@pytest.mark.promise("P-UNTRUSTED")
def test_a_running_server_writes_no_word_of_what_passes_through_it(tmp_path: Path) -> None:
    environment = variables(tmp_path / "data", EMBEDDINGS="none", INDEX_EVERY="0.05", SLEEP_EVERY="0.2")

    async def talk(url: str) -> None:
        async with http_client(url, X_Conversation_Id=f"{MARK}-chat") as client:
            for tool, given in (
                ("remember", {"content": f"{MARK} content", "id": ID}),
                ("recall", {"query": f"{MARK} query"}),
                ("update_memory", {"id": ID, "content": f"{MARK} other"}),
                ("maintain", {}),
                ("forget", {"id": ID, "reason": f"{MARK} reason"}),
            ):
                await client.call_tool(tool, given)
            with pytest.raises(MCPError):
                await client.call_tool(f"{MARK}-tool", {})

    with child_server(environment) as server:
        asyncio.run(talk(server.url))
        logged = server.logged()
    assert logged.count('"message":"request"') >= 6
    assert MARK not in logged
