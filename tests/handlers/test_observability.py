"""One log line and one set of metrics for each request, and nothing of what a caller wrote in either."""

from __future__ import annotations

import hashlib
import io
import json
import logging
from pathlib import Path

import pytest

from mcp_server.endpoint import Endpoint
from mcp_server.observability import Counters, Observer
from tests.handlers.stand_ins import StandIn, keys_mode, stand_in
from tests.handlers.wire import LOCAL, call, event, post, post_modern, request, send


class Watched:
    """An endpoint whose log and metrics a test reads."""

    def __init__(self, core: StandIn) -> None:
        self._log, self._metrics = io.StringIO(), io.StringIO()
        self.counters = Counters()
        observer = Observer(clock=core.clock, counters=self.counters, log=self._log, metrics=self._metrics)
        self.endpoint = Endpoint(core, observer)

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._log.getvalue().splitlines()]

    def line(self) -> dict[str, object]:
        return self.lines()[-1]

    def metrics(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._metrics.getvalue().splitlines()]


@pytest.fixture
def watched(core: StandIn) -> Watched:
    return Watched(core)


def test_each_request_has_one_line_with_what_an_operator_asks_for(watched: Watched) -> None:
    post(watched.endpoint, call("recall", {"query": "tea"}))
    post_modern(watched.endpoint, call("remember", {"content": "conflict"}))
    first, second = watched.lines()
    assert {name: first[name] for name in ("method", "tool", "status", "error", "request_id")} == {
        "method": "tools/call",
        "tool": "recall",
        "status": 200,
        "error": "",
        "request_id": "r-1",
    }
    assert first["ms"] == 0.0
    assert first["tenant"] == hashlib.sha256(b"default").hexdigest()[:12]
    assert (second["tool"], second["error"]) == ("remember", "conflict")


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        (event("GET", headers=LOCAL), 405, "method_not_allowed"),
        (event("GET", "/x"), 404, "not_found"),
        (event(headers={**LOCAL, "origin": "https://evil.example"}), 403, "forbidden"),
        (event(headers=LOCAL, body="{"), 400, "rpc-32700"),
        (event(headers=LOCAL, body="[]"), 400, "rpc-32600"),
        (event(headers=LOCAL, body="x" * 2_000_000), 413, "too_large"),
        (
            event(headers={**LOCAL, "x-memory-tenant": "a,b"}, body=json.dumps(call("recall"))),
            400,
            "invalid_argument",
        ),
        (event(headers=LOCAL, body=json.dumps(call("nope"))), 200, "rpc-32602"),
        (
            event(headers={**LOCAL, "mcp-protocol-version": "2099-01-01"}, body=json.dumps(call("x"))),
            400,
            "rpc-32602",
        ),
    ],
)
def test_refusals_are_counted_by_reason(
    watched: Watched, sent: dict[str, object], status: int, error: str
) -> None:
    assert send(watched.endpoint, sent).status == status
    assert (watched.line()["status"], watched.line()["error"]) == (status, error)
    (counted,) = watched.metrics()
    assert counted["outcome"] == error
    assert counted["Requests"] == [1.0]


def test_a_wrong_key_is_counted(tmp_path: Path) -> None:
    core, _ = keys_mode(tmp_path)
    watched = Watched(core)
    post(watched.endpoint, request("ping"))
    assert (watched.line()["status"], watched.line()["error"]) == (401, "unauthenticated")


def test_metrics_have_latency_by_tool_and_errors_by_code_in_embedded_metric_format(watched: Watched) -> None:
    post(watched.endpoint, call("recall", {"query": "tea"}))
    post(watched.endpoint, call("remember", {"content": "conflict"}))
    post(watched.endpoint, request("tools/list"))
    seen = [(line["operation"], line["outcome"], line["Latency"]) for line in watched.metrics()]
    assert seen == [("recall", "ok", [0.0]), ("remember", "conflict", [0.0]), ("tools/list", "ok", [0.0])]
    described = watched.metrics()[0]["_aws"]
    assert isinstance(described, dict)
    (directive,) = described["CloudWatchMetrics"]
    assert directive["Namespace"] == "Lodestore"
    assert directive["Dimensions"] == [["operation", "outcome", "service"]]
    assert directive["Metrics"] == [
        {"Name": "Requests", "Unit": "Count"},
        {"Name": "Latency", "Unit": "Milliseconds"},
        {"Name": "StorageRequests", "Unit": "Count"},
        {"Name": "RequestCostMicroUsd", "Unit": "None"},
    ]


@pytest.mark.promise("P-SILENT-NEVER")
def test_what_the_core_counts_is_written_once_with_the_next_request(watched: Watched) -> None:
    watched.counters.count("quarantined")
    watched.counters.count("quarantined", 2)
    post(watched.endpoint, request("ping"))
    post(watched.endpoint, request("ping"))
    assert [line.get("counted") for line in watched.lines()] == [{"quarantined": 3}, None]
    assert [line["quarantined"] for line in watched.metrics() if "quarantined" in line] == [[3.0]]


def test_what_fails_unforeseen_is_logged_by_type_and_place_with_the_reference_that_the_client_got(
    watched: Watched,
) -> None:
    answer = post(watched.endpoint, call("remember", {"content": "boom"}))
    failure, line = watched.lines()
    assert failure["level"] == "ERROR"
    assert failure["type"] == "RuntimeError"
    assert str(failure["place"]).startswith("tests.handlers.stand_ins:")
    assert failure["request_id"] == "r-1"
    assert "r-1" in str(answer.structured["message"])
    assert line["error"] == "unavailable"


def test_a_failure_outside_the_tools_is_500_with_a_reference_and_no_text(tmp_path: Path) -> None:
    class Broken(StandIn):
        def health(self) -> dict[str, object]:
            raise RuntimeError("a secret of the inside")

    whole = stand_in(tmp_path)
    watched = Watched(Broken(whole.settings, whole.toolbox, whole.access, whole.clock, whole.store))
    answer = send(watched.endpoint, event("GET", "/health"))
    assert answer.status == 500
    assert answer.json["error"] == "unavailable"
    assert "r-1" in str(answer.json["message"])
    assert "secret" not in answer.text
    assert watched.lines()[0]["type"] == "RuntimeError"


def test_names_that_a_client_made_up_are_not_logged(watched: Watched) -> None:
    for message in (
        request("x/secret"),
        call("secret"),
        {"jsonrpc": "2.0", "method": "notifications/secret"},
    ):
        post(watched.endpoint, message)
        post_modern(watched.endpoint, {"id": 1, **message}) if "id" in message else None
    for line in (*watched.lines(), *watched.metrics()):
        assert "secret" not in json.dumps(line)
    assert [line["method"] for line in watched.lines()] == [
        "other",
        "other",
        "tools/call",
        "tools/call",
        "notification",
    ]


def test_the_sdks_own_logging_which_quotes_messages_is_off(endpoint: Endpoint) -> None:
    endpoint.prepare()
    for name in ("mcp", "mcp.server.runner", "mcp.server.lowlevel.server"):
        assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)
    assert logging.getLogger("mcp").propagate is False
