"""The local runner with other handlers in its table: each writes down its events in the folder RECORDED.

Owns: one handler for each function, and a program that serves with them. Guarantees: the HTTP handler passes
on to the real one, so that a client is answered; the indexer's fails where FAIL_CHANGES is set.
"""

from __future__ import annotations

import json
from pathlib import Path

from local_runner.function_table import CHANGES, HTTP, SCHEDULE, InvocationContext
from local_runner.one_machine import run
from lodestore.bootstrap import environment
from mcp_server.handler import handler as real_http

TABLE = {name: f"tests.system.recorded_server.{name}" for name in (HTTP, CHANGES, SCHEDULE)}


def http(event: dict[str, object], context: InvocationContext) -> object:
    _record(event, context)
    return real_http(event, context)


def changes(event: dict[str, object], context: InvocationContext) -> object:
    _record(event, context)
    if environment().get("FAIL_CHANGES"):
        raise RuntimeError("the indexer is broken")
    return {"batchItemFailures": []}


def schedule(event: dict[str, object], context: InvocationContext) -> object:
    _record(event, context)
    return {}


def _record(event: dict[str, object], context: InvocationContext) -> None:
    place = Path(environment()["RECORDED"]) / f"{context.aws_request_id}.json"
    unfinished = place.with_suffix(".part")
    unfinished.write_text(json.dumps(event), encoding="utf-8")
    unfinished.rename(place)


if __name__ == "__main__":
    run(environment(), TABLE)
