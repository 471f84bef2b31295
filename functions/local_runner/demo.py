"""The demonstration: four calls over MCP, and what the folder holds after each.

Owns: the story and its print. Guarantees: everything shown is an answer of a real server or a file of a real
folder, and both are gone afterwards. Gives up: the MCP SDK; plain JSON-RPC over HTTP shows that none is
needed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from local_runner.child_server import child_server

TENANT = "demo"
FIRST = "Nora leads the Oslo migration; the cut-over is on 12 March."
SECOND = "Nora leads the Oslo migration; the cut-over has moved to 19 March."
QUESTION = "when is the Oslo cut-over?"
CALL_SECONDS = 30.0


class DemoFailed(Exception):
    """A call was not answered as it should be; the text holds the answer."""


class Client:
    """Calls tools at an MCP endpoint, one JSON-RPC message for each."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._connection = HTTPConnection(where.hostname or "", where.port, timeout=CALL_SECONDS)
        self._path = where.path
        self._number = 0

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The tool's structured answer. Raises DemoFailed."""
        self._number += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._connection.request("POST", self._path, json.dumps(message), headers)
        answer = json.loads(self._connection.getresponse().read())
        result = answer.get("result", {})
        if "structuredContent" not in result or result.get("isError"):
            raise DemoFailed(json.dumps(answer))
        content: dict[str, Any] = result["structuredContent"]
        return content

    def close(self) -> None:
        self._connection.close()


def run(variables: Mapping[str, str]) -> None:
    """Print the demonstration. `variables` is the environment that the server starts from."""
    with tempfile.TemporaryDirectory(prefix="lodestore-demo-") as folder:
        own = {
            "DATA": folder,
            "STORE": "",
            "HOST": "127.0.0.1",
            "AUTH": "open",
            "TENANT": TENANT,
            "READ_ONLY": "0",
        }
        with child_server({**variables, **own}) as server:
            print(f"A server at {server.url}, over an empty folder.")
            client = Client(server.url)
            try:
                _story(client, Path(folder))
            finally:
                client.close()
    print("\nThe server has ended and the folder is gone.")


def _story(client: Client, folder: Path) -> None:
    _say("remember", content=FIRST, tags=["oslo"])
    stored = client.call("remember", content=FIRST, tags=["oslo"])
    _show(stored, "status", "id", "version", "revision")
    memory_id = stored["id"]

    _say("recall", query=QUESTION)
    _show_hits(client.call("recall", query=QUESTION))

    _say("update_memory", id=memory_id, content=SECOND)
    _show(client.call("update_memory", id=memory_id, content=SECOND), "id", "version", "changed")
    _say("recall", query=QUESTION)
    _show_hits(client.call("recall", query=QUESTION))

    truth = _file_of(folder, memory_id)
    print("\nThe folder now holds, each file one object (lock files left out):")
    _show_tree(folder)
    print(f"\n{truth.relative_to(folder)}: the truth, one object that a person can read:")
    _show_file(truth)

    _say("forget", id=memory_id, reason="the demonstration is over")
    _show(client.call("forget", id=memory_id, reason="the demonstration is over"), "deleted", "reason")
    _say("recall", query=QUESTION)
    _show_hits(client.call("recall", query=QUESTION))
    print(f"\n{truth.relative_to(folder)}: what a forgotten memory leaves, with nothing of its content:")
    _show_file(truth)


def _file_of(folder: Path, memory_id: str) -> Path:
    found = [path for path in folder.rglob(f"{memory_id}*") if path.is_file() and path.parent.name == TENANT]
    if len(found) != 1:
        raise DemoFailed(f"{len(found)} files of {memory_id}")
    return found[0]


def _say(tool: str, **arguments: object) -> None:
    shown = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    print(f"\n{tool}({shown})")


def _show(answer: Mapping[str, Any], *fields: str) -> None:
    print("  " + json.dumps({name: answer[name] for name in fields}, ensure_ascii=False))


def _show_hits(answer: Mapping[str, Any]) -> None:
    for hit in answer["hits"]:
        print(f"  {hit['score']:.2f} {hit['confidence']}: {hit['content']}")
    if not answer["hits"]:
        print(f"  no hit: {answer['message']}")


def _show_tree(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".locks" not in path.parts:
            print(f"  {path.relative_to(folder)}  ({path.stat().st_size} bytes)")


def _show_file(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        print(f"  {line}")
