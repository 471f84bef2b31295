"""From a grant and headers to a caller: no header reaches further than the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from lodestore.domain.caller import Caller, Grant, Role
from lodestore.errors import Forbidden, InvalidArgument, SettingsError
from lodestore.services.access import Access
from tests.faults.hostile_store import Fault, on
from tests.handlers.stand_ins import StandIn, endpoint_of, stand_in
from tests.handlers.wire import call, post, request

OF_ONE = Grant(Role.WRITER, ("acme",))
OF_TWO = Grant(Role.READER, ("acme", "zephyr"))
OF_ANY = Grant(Role.ADMIN, None)
MALFORMED_TENANTS = [
    "",
    " ",
    "../other",
    "acme,zephyr",
    "acme,acme",
    "a/b",
    "-a",
    ".a",
    "é",
    "a\x00b",
    "a" * 129,
    "acme ",
]
MALFORMED_CONVERSATIONS = ["", " ", "a b", "a,a", "é", "a\tb", "a\x00", "x" * 513, "\x7f"]


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return stand_in(tmp_path).access


def _caller(
    access: Access, grant: Grant, memory_tenant: str | None = None, tenant_id: str | None = None
) -> Caller:
    return access.caller(grant, {"X-Memory-Tenant": memory_tenant, "X-Tenant-Id": tenant_id}, None)


def test_a_key_for_one_tenant_needs_no_header(access: Access) -> None:
    assert _caller(access, OF_ONE) == Caller("acme", None, Role.WRITER)


def test_a_key_for_several_tenants_must_name_one(access: Access) -> None:
    with pytest.raises(Forbidden, match="tenant"):
        _caller(access, OF_TWO)
    for tenant in ("acme", "zephyr"):
        assert _caller(access, OF_TWO, tenant) == Caller(tenant, None, Role.READER)


@pytest.mark.promise("P-TENANT")
@pytest.mark.parametrize("tenant", ["other", "Acme", "ACME", "acme-corp", "acm", "acme.", "default"])
def test_a_key_reaches_no_tenant_but_its_own_by_any_header(access: Access, tenant: str) -> None:
    for grant in (OF_ONE, OF_TWO):
        for headers in ((tenant, None), (None, tenant), (tenant, "acme")):
            with pytest.raises(Forbidden) as caught:
                _caller(access, grant, *headers)
            assert "zephyr" not in str(caught.value.to_dict())


def test_the_first_header_decides(access: Access) -> None:
    assert _caller(access, OF_TWO, "acme", "zephyr").tenant == "acme"
    assert _caller(access, OF_TWO, None, "zephyr").tenant == "zephyr"


@pytest.mark.case("B26")
@pytest.mark.parametrize("tenant", MALFORMED_TENANTS)
def test_a_malformed_tenant_is_refused_by_the_name_of_its_header(access: Access, tenant: str) -> None:
    for grant in (OF_ONE, OF_TWO, OF_ANY):
        for field, headers in (("X-Memory-Tenant", (tenant, "acme")), ("X-Tenant-Id", (None, tenant))):
            with pytest.raises(InvalidArgument) as caught:
                _caller(access, grant, *headers)
            assert caught.value.field == field


def test_the_default_tenant_serves_open_mode_and_no_key(access: Access) -> None:
    assert _caller(access, OF_ANY).tenant == "default"
    assert _caller(access, OF_ANY, "other").tenant == "other"
    with pytest.raises(Forbidden):
        _caller(access, OF_TWO)


def test_without_a_default_tenant_a_request_must_name_one(tmp_path: Path) -> None:
    access = stand_in(tmp_path, TENANT="").access
    with pytest.raises(Forbidden) as caught:
        _caller(access, OF_ANY)
    assert caught.value.field == "X-Memory-Tenant"
    assert _caller(access, OF_ANY, "other").tenant == "other"


@pytest.mark.parametrize("conversation", ["a", "x" * 512, "!#$%&'()*+-./:;<=>?@[]^_`{|}~", "urn:uuid:1"])
def test_a_conversation_is_taken_as_it_is(access: Access, conversation: str) -> None:
    assert access.caller(OF_ONE, {}, conversation).conversation == conversation


@pytest.mark.parametrize("conversation", MALFORMED_CONVERSATIONS)
def test_a_malformed_conversation_is_refused_by_name_and_never_echoed(
    access: Access, conversation: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        access.caller(OF_ONE, {}, conversation)
    assert caught.value.field == "X-Conversation-Id"
    assert len(conversation) < 8 or conversation not in str(caught.value.to_dict())


def test_over_stdio_the_caller_is_admin_of_the_default_tenant(tmp_path: Path) -> None:
    core = stand_in(tmp_path, TENANT="acme")
    assert core.access.local_caller() == Caller("acme", None, Role.ADMIN)
    assert core.access.local_caller("c1") == Caller("acme", "c1", Role.ADMIN)
    with pytest.raises(SettingsError, match="TENANT"):
        stand_in(tmp_path, TENANT="").access.local_caller()


@pytest.mark.case("B26")
@pytest.mark.parametrize("header", ["X_Memory_Tenant", "X_Tenant_Id"])
@pytest.mark.parametrize(
    "tenant", [tenant for tenant in MALFORMED_TENANTS if tenant.strip() == tenant and tenant]
)
def test_over_http_a_malformed_tenant_is_400_before_any_storage_request(
    tmp_path: Path, header: str, tenant: str
) -> None:
    core = stand_in(tmp_path)
    answer = post(endpoint_of(core), call("recall", {"query": "x"}), **{header: tenant})
    assert answer.status == 400
    assert answer.json["field"] == header.replace("_", "-")
    assert not core.store.requests
    assert not core.calls


def test_over_http_a_malformed_conversation_is_400_by_name(tmp_path: Path) -> None:
    core = stand_in(tmp_path)
    for conversation in ("a,a", "a b", "x" * 513):
        answer = post(endpoint_of(core), call("recall", {"query": "x"}), X_Conversation_Id=conversation)
        assert (answer.status, answer.json["field"]) == (400, "X-Conversation-Id")
    assert not core.calls


@pytest.mark.parametrize("message", [request("tools/list"), call("recall", {"query": "x"}), request("x/y")])
def test_over_http_a_missing_tenant_is_403_with_the_reason(
    tmp_path: Path, message: dict[str, object]
) -> None:
    core = stand_in(tmp_path, TENANT="")
    answer = post(endpoint_of(core), message)
    assert answer.status == 403
    assert answer.json["error"] == "forbidden"
    assert "X-Memory-Tenant" in str(answer.json["next_step"])
    assert "operator" in str(answer.json["next_step"])


def test_what_a_client_asks_first_needs_no_tenant(tmp_path: Path) -> None:
    endpoint = endpoint_of(stand_in(tmp_path, TENANT=""))
    handshake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    assert post(endpoint, request("initialize", handshake)).status == 200
    assert post(endpoint, request("ping")).status == 200
    assert post(endpoint, {"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
    assert post(endpoint, request("server/discover")).json["error"] == {
        "code": -32601,
        "message": "Method not found",
        "data": "server/discover",
    }


def _two_keys(core: StandIn) -> tuple[str, str]:
    return core.access.issue_key(["acme"], Role.WRITER), core.access.issue_key(["zephyr"], Role.WRITER)


@pytest.mark.case("B90")
def test_over_http_a_key_is_taken_from_either_header_and_from_no_other(tmp_path: Path) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    endpoint = endpoint_of(core)
    key, _ = _two_keys(core)
    for headers in (
        {"Authorization": f"Bearer {key}"},
        {"Authorization": f"bearer  {key}"},
        {"X_API_Key": key},
        {"X_API_Key": key, "Authorization": "Basic eDp5"},
        {"X_API_Key": key, "Authorization": f"Bearer {key}"},
    ):
        answer = post(endpoint, call("recall", {"query": "x"}), **headers)
        assert answer.status == 200
    assert {called.caller.tenant for called in core.calls} == {"acme"}
    core.calls.clear()
    for headers in ({}, {"Authorization": key}, {"Authorization": f"Basic {key}"}, {"Cookie": f"key={key}"}):
        assert post(endpoint, call("recall", {"query": "x"}), **headers).status == 401
    assert not core.calls


@pytest.mark.case("B90")
@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", "Bearer lode_" + "A" * 43, "Basic eDp5", "x"]
)
def test_over_http_401_names_the_scheme_and_the_reason_and_no_metadata(
    tmp_path: Path, authorization: str
) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    for message in (
        request("initialize"),
        request("ping"),
        request("tools/list"),
        call("recall"),
        "no message",
    ):
        answer = post(endpoint_of(core), message, Authorization=authorization)
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json["error"] == "unauthenticated"
        assert answer.json["message"]
        assert "Authorization: Bearer" in str(answer.json["next_step"])
        assert "resource_metadata" not in answer.text + str(answer.headers)


def test_over_http_two_keys_at_once_are_400_by_name(tmp_path: Path) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    one, other = _two_keys(core)
    doubled: list[tuple[str, dict[str, str]]] = [
        ("Authorization", {"Authorization": f"Bearer {one},Bearer {other}"}),
        ("X-API-Key", {"X_API_Key": f"{one},{other}"}),
        ("X-API-Key", {"X_API_Key": one, "Authorization": f"Bearer {other}"}),
    ]
    for field, headers in doubled:
        answer = post(endpoint_of(core), call("recall"), **headers)
        assert (answer.status, answer.json["field"]) == (400, field)
    assert not core.calls


@pytest.mark.promise("P-TENANT")
def test_over_http_a_key_for_one_tenant_gets_403_for_another(tmp_path: Path) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    key, _ = _two_keys(core)
    answer = post(endpoint_of(core), call("recall"), X_API_Key=key, X_Memory_Tenant="zephyr")
    assert (answer.status, answer.json["error"], answer.json["field"]) == (
        403,
        "forbidden",
        "X-Memory-Tenant",
    )
    assert not core.calls


def test_over_http_a_store_that_cannot_check_a_key_is_503_and_can_be_tried_again(tmp_path: Path) -> None:
    core = stand_in(tmp_path, AUTH="keys")
    key, _ = _two_keys(core)
    core.store.inject(on(Fault.UNAVAILABLE, "get"))
    endpoint = endpoint_of(core)
    answer = post(endpoint, request("ping"), X_API_Key=key)
    assert (answer.status, answer.json["error"]) == (503, "unavailable")
    assert answer.headers["retry-after"]
    assert post(endpoint, request("ping"), X_API_Key=key).status == 200
