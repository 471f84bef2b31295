"""What callers write appears in no log, no metric and no stray output, on Lambda and on one machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.handlers.wire import LOCAL, call, event, modern, modern_headers, request

MARK = "mark-7c1e"
# Everything that logging can be made to say, also by libraries and also as debug.
PROGRAM = """
import json, logging, os, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
if os.environ.get("STORE", "").startswith("s3://"):
    from email.utils import format_datetime
    import boto3, moto
    from lodestore.adapters import s3_store
    from lodestore.adapters.system_clock import SystemClock
    moto.mock_aws().start()
    boto3.client("s3").create_bucket(Bucket="memories")
    make = s3_store.make_clients

    def date(response_dict, **_):
        # In process no HTTP server stands before moto, which every server's `Date` comes from.
        response_dict["headers"].setdefault("date", format_datetime(SystemClock().now(), usegmt=True))

    def made(parallel):
        clients = make(parallel)
        for client in clients:
            client.meta.events.register("before-parse.s3", date)
        return clients

    s3_store.make_clients = made
from lodestore.bootstrap import build, environment
from lodestore.domain.caller import Role
from mcp_server.handler import handler
key = build(environment()).access.issue_key(["mark-7c1e-tenant"], Role.ADMIN)
answers = []
for event in json.load(open(sys.argv[1])):
    event["headers"] = {name: value.replace("KEY", key) for name, value in event["headers"].items()}
    answers.append(handler(event, None))
json.dump({"key": key, "answers": answers}, open(sys.argv[2], "w"))
"""
LAMBDA = {
    "AWS_LAMBDA_FUNCTION_NAME": "mcp",
    "STORE": "s3://memories",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
}
HEADERS = {
    **LOCAL,
    "x-api-key": "KEY",
    "x-conversation-id": f"{MARK}-conversation",
    "user-agent": f"{MARK}-agent",
}


def _post(message: object, **headers: str) -> dict[str, object]:
    named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return event(headers={**HEADERS, **named}, body=json.dumps(message))


def _remember(**more: object) -> dict[str, object]:
    return call(
        "remember",
        {
            "content": f"{MARK} the content",
            "tags": [f"{MARK}-tag"],
            "category": f"{MARK}-category",
            "source": f"{MARK}-source",
            "metadata": {f"{MARK}-name": f"{MARK}-value"},
            **more,
        },
    )


def _events() -> list[dict[str, object]]:
    listed = modern(request("tools/list"))
    return [
        _post(_remember()),
        _post(_remember(scope="conversation", id=f"{MARK}-id")),
        _post(_remember(id=f"{MARK}-id", content=f"{MARK} other")),
        _post(_remember(**{f"{MARK}-argument": 1})),
        _post(_remember(importance=f"{MARK}-importance")),
        _post(_remember(content=f"{MARK} half \ud83d")),
        _post(call("recall", {"query": f"{MARK} query", "tags": [f"{MARK}-tag"]})),
        _post(call("recall", {"query": f"{MARK}" * 2000})),
        _post(call("get_memory", {"id": f"{MARK}-id", "history": True})),
        _post(call("update_memory", {"id": f"{MARK}-id", "content": f"{MARK} new"})),
        _post(call("forget", {"id": f"{MARK}-id", "reason": f"{MARK}-reason"})),
        _post(call("memory_feedback", {"id": f"{MARK}-id", "useful": True, "note": f"{MARK}-note"})),
        _post(call(f"{MARK}-tool", {})),
        _post(request(f"{MARK}/method")),
        _post({"jsonrpc": "2.0", "method": f"notifications/{MARK}", "params": {MARK: MARK}}),
        _post({"jsonrpc": "2.0", "method": "notifications/progress", "params": {MARK: MARK}}),
        _post(listed, **modern_headers(listed)),
        _post(listed, **{**modern_headers(listed), "Mcp_Method": MARK}),
        _post(request("initialize", {MARK: MARK})),
        _post(request("ping"), X_API_Key=f"{MARK}-key"),
        _post(request("ping"), Origin=f"https://{MARK}.example"),
        _post(call("recall", {"query": MARK}), X_Memory_Tenant=f"{MARK}-other"),
        _post(call("recall", {"query": MARK}), X_Conversation_Id=f"{MARK},{MARK}"),
        event(headers=HEADERS, body=f"{{{MARK}"),
        event("GET", f"/{MARK}", headers=HEADERS),
    ]


@pytest.mark.case("B27")
@pytest.mark.promise("P-UNTRUSTED")
@pytest.mark.parametrize("variables", [{}, LAMBDA], ids=["one machine", "Lambda"])
def test_no_word_of_a_caller_is_written_anywhere(tmp_path: Path, variables: dict[str, str]) -> None:
    sent, received = tmp_path / "events.json", tmp_path / "answers.json"
    sent.write_text(json.dumps(_events()))
    environment = {
        "PYTHONPATH": ":".join(path for path in sys.path if path),
        "AUTH": "keys",
        "EMBEDDINGS": "none",
        "DATA": str(tmp_path / "data"),
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(sent), str(received)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(received.read_text())
    assert [answer["statusCode"] for answer in found["answers"]] == [200] * 14 + [202] * 2 + [
        200,
        400,
        200,
    ] + [
        401,
        403,
        403,
        400,
        400,
        404,
    ]
    assert MARK in json.dumps(found["answers"])
    written = done.stdout + done.stderr
    assert written.count('"message":"request"') == len(_events())
    assert MARK not in written
    assert found["key"] not in written
    assert found["key"].removeprefix("lode_")[:16] not in written


def test_on_one_machine_standard_output_stays_clean(tmp_path: Path) -> None:
    sent, received = tmp_path / "events.json", tmp_path / "answers.json"
    sent.write_text(json.dumps(_events()[:2]))
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), "DATA": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(sent), str(received)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "")
