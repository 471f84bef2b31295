"""IAM mode, the limit of one tenant's requests, and functions whose settings are wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from lodestore.domain.caller import Role
from lodestore.errors import Forbidden, SettingsError, Unauthenticated
from lodestore.services.iam_access import IamAccess, parse_principals
from lodestore.services.throttle import BUCKETS_MOST, Throttle
from mcp_server.endpoint import Endpoint
from mcp_server.handler import build_endpoint, serving
from mcp_server.unconfigured import Unconfigured
from tests.handlers.stand_ins import HandClock, endpoint_of, stand_in
from tests.handlers.wire import LOCAL, Answer, call, event, post, send

ROLE = "arn:aws:iam::123456789012:role/teams/agent"
SESSION = "arn:aws:sts::123456789012:assumed-role/agent/session-1"
PRINCIPALS = json.dumps({ROLE: {"tenants": ["acme"], "role": "reader"}})
FUNCTION = {"AWS_LAMBDA_FUNCTION_NAME": "lodestore-dev-mcp-server"}


def _signed(endpoint: Endpoint, principal: str | None, **headers: str) -> Answer:
    named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    sent = event(headers={**LOCAL, **named}, body=json.dumps(call("remember", {"content": "x"})))
    if principal is not None:
        context = sent["requestContext"]
        assert isinstance(context, dict)
        context["authorizer"] = {"iam": {"userArn": principal, "accountId": "123456789012"}}
    return send(endpoint, sent)


@pytest.fixture
def iam(tmp_path: Path) -> Endpoint:
    chosen = {"AUTH": "iam", "IAM_PRINCIPALS": PRINCIPALS, "DATA": str(tmp_path), "TENANT": ""}
    return build_endpoint({**chosen, "EMBEDDINGS": "none"})


@pytest.mark.promise("P-TENANT")
def test_only_a_principal_of_the_settings_gets_in_and_only_with_its_role_and_tenant(iam: Endpoint) -> None:
    assert _signed(iam, None).status == 401
    assert _signed(iam, "arn:aws:sts::123456789012:assumed-role/agents/session-1").status == 403
    assert _signed(iam, "arn:aws:sts::999999999999:assumed-role/agent/session-1").status == 403
    assert _signed(iam, SESSION, X_Memory_Tenant="zephyr").status == 403
    known = _signed(iam, SESSION)
    assert known.status == 200
    assert known.structured["error"] == "forbidden", "a reader wrote"


def test_a_principal_that_a_client_writes_itself_is_nobody(iam: Endpoint) -> None:
    assert (
        post(
            iam, call("recall", {"query": "x"}), X_Amzn_Userarn=SESSION, Authorization=f"Bearer {ROLE}"
        ).status
        == 401
    )


def test_a_user_a_role_and_a_session_are_told_apart() -> None:
    grants = IamAccess(parse_principals(PRINCIPALS))
    assert grants.grant(None, SESSION).role is Role.READER
    assert grants.grant(None, ROLE).tenants == ("acme",)
    for other in (
        f"{ROLE}s",
        "arn:aws:iam::123456789012:user/agent",
        "arn:aws:sts::123456789012:assumed-role/agent",
    ):
        with pytest.raises(Forbidden):
            grants.grant(None, other)
    with pytest.raises(Unauthenticated):
        grants.grant("a key", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"a": {}}',
        '{"a": {"tenants": [], "role": "reader"}}',
        '{"a": {"tenants": ["a/b"], "role": "reader"}}',
        '{"a": {"tenants": ["a"], "role": "root"}}',
        '{"a": {"tenants": ["a"], "role": "reader", "more": 1}}',
    ],
)
def test_a_map_of_principals_that_says_nothing_clear_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="IAM_PRINCIPALS"):
        parse_principals(text)


def test_a_tenant_over_its_rate_gets_429_and_no_storage_request_and_takes_nobody_s_place(
    tmp_path: Path,
) -> None:
    core = stand_in(tmp_path, AUTH="keys", REQUESTS_PER_SECOND="2", BURST="3")
    endpoint = endpoint_of(core)
    loud, quiet = (core.access.issue_key([tenant], Role.WRITER) for tenant in ("loud", "quiet"))
    ask = call("recall", {"query": "tea"})
    assert [post(endpoint, ask, X_API_Key=loud).status for _ in range(3)] == [200] * 3
    before = core.store.requests
    refused = post(endpoint, ask, X_API_Key=loud)
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert core.store.requests == before
    assert len(core.calls) == 3
    assert post(endpoint, ask, X_API_Key=quiet).status == 200
    core.clock.pause(0.5)
    assert post(endpoint, ask, X_API_Key=loud).status == 200


@pytest.mark.promise("P-BOUNDED")
def test_within_any_time_a_bucket_lets_through_what_it_says_and_buckets_are_bounded() -> None:
    clock = HandClock()
    throttle = Throttle(clock, rate=10.0, burst=5)
    passed = 0
    for _ in range(1000):
        passed += throttle.take("acme") == 0.0
        clock.pause(0.01)
    assert 104 <= passed <= 106
    for number in range(BUCKETS_MOST + 10):
        throttle.take(f"t{number}")
    assert len(throttle._buckets) == BUCKETS_MOST


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({}, "AUTH"),
        ({"AUTH": "open", "STORE": "s3://b"}, "AUTH"),
        ({"AUTH": "keys"}, "STORE"),
        ({"AUTH": "keys", "STORE": "s3://b", "INDEX_STORE": "b"}, "INDEX_STORE"),
        ({"AUTH": "keys", "STORE": "s3://b", "INDEX_STORE": "s3://b"}, "INDEX_STORE"),
        ({"AUTH": "keys", "STORE": "s3://b", "BURST": "0"}, "BURST"),
        ({"AUTH": "keys", "STORE": "s3://b", "ALLOWED_ORIGINS": "x"}, "ALLOWED_ORIGINS"),
    ],
)
@pytest.mark.promise("P-SILENT-NEVER")
def test_a_function_that_lacks_a_setting_refuses_every_call_and_its_health_says_why(
    variables: dict[str, str], named: str
) -> None:
    broken = serving({**FUNCTION, "EMBEDDINGS": "none", **variables})
    assert isinstance(broken, Unconfigured)
    refused = broken(event(body=json.dumps(call("recall", {"query": "x"}))))
    assert refused["statusCode"] == 503
    assert named in json.loads(str(refused["body"]))["message"]
    health = broken(event("GET", "/health"))
    assert named in json.loads(str(health["body"]))["status"]


def test_the_log_has_one_line_for_each_refused_call() -> None:
    log = io.StringIO()
    broken = Unconfigured("STORE is missing", log, HandClock())
    broken(event(body="{}"))
    broken(event("GET", "/health"))
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (line["reason"], line["service"], line["misconfigured"]) == ("STORE is missing", "mcp_server", 1)


def test_on_one_machine_a_wrong_setting_stops_the_start() -> None:
    with pytest.raises(SettingsError, match="AUTH"):
        serving({"AUTH": "no"})
