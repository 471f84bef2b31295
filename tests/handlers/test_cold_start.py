"""What is refused is refused before the SDK is imported, in a process that has not served anything yet."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.handlers.wire import LOCAL, call, event, request

PROGRAM = """
import json, sys
from mcp_server.handler import handler
answers = [handler(event, None) for event in json.load(sys.stdin)]
loaded = {name.partition(".")[0] for name in sys.modules}
heavy = sorted(loaded & {"mcp", "mcp_types", "pydantic", "starlette", "boto3"})
print(json.dumps({"statuses": [answer["statusCode"] for answer in answers], "heavy": heavy}))
"""
CHALLENGED = {**LOCAL, "authorization": "Bearer lode_" + "A" * 43}


def _in_a_new_process(events: list[dict[str, object]], variables: Mapping[str, str]) -> dict[str, object]:
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(events),
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def _post(message: object, **headers: str) -> dict[str, object]:
    return event(headers={**LOCAL, **headers}, body=json.dumps(message))


def test_in_key_mode_no_refusal_waits_for_the_sdk(tmp_path: Path) -> None:
    refused: list[tuple[dict[str, object], int]] = [
        (event("GET", "/mcp", headers=LOCAL), 405),
        (event("DELETE", "/mcp", headers=LOCAL), 405),
        (event("OPTIONS", "/mcp", headers=LOCAL), 204),
        (event("GET", "/health"), 200),
        (event("GET", "/.well-known/oauth-protected-resource/mcp"), 404),
        (event("GET", "/"), 404),
        (_post(request("ping")), 401),
        (event(headers=CHALLENGED, body=json.dumps(request("ping"))), 401),
        (event(headers={**CHALLENGED, "origin": "https://evil.example"}, body="{}"), 403),
        (event(headers=LOCAL, body="x" * 1_048_577), 413),
        (event(headers={**LOCAL, "x-api-key": "a,b"}, body="{}"), 400),
    ]
    found = _in_a_new_process([sent for sent, _ in refused], {"AUTH": "keys", "DATA": str(tmp_path)})
    assert found == {"statuses": [status for _, status in refused], "heavy": []}


def test_in_open_mode_no_refusal_waits_for_the_sdk(tmp_path: Path) -> None:
    refused: list[tuple[dict[str, object], int]] = [
        (_post(request("tools/list")), 403),
        (_post(call("recall"), **{"x-memory-tenant": "a,b"}), 400),
        (_post(call("recall"), **{"x-memory-tenant": "a", "x-conversation-id": "a b"}), 400),
        (_post(request("ping"), host="evil.example"), 403),
        (_post(request("ping"), **{"content-type": "text/plain"}), 415),
        (_post([request("ping")]), 400),
        (event(headers=LOCAL, body="{"), 400),
        (event(headers=LOCAL, body="@@@", is_base64=True), 400),
    ]
    found = _in_a_new_process([sent for sent, _ in refused], {"TENANT": "", "DATA": str(tmp_path)})
    assert found == {"statuses": [status for _, status in refused], "heavy": []}


@pytest.mark.case("B91")
def test_a_cold_handler_serves_the_first_message_whatever_session_it_names(tmp_path: Path) -> None:
    sent = _post(call("recall", {"query": "tea"}), **{"mcp-session-id": "gone"})
    assert _in_a_new_process([sent], {"DATA": str(tmp_path)})["statuses"] == [200]


def test_settings_that_contradict_each_other_stop_the_start(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="AUTH"):
        _in_a_new_process([event("GET", "/health")], {"AUTH": "none", "DATA": str(tmp_path)})
