"""OAuth mode: who gets in with which token, and what the others are told.

Each attempt drives the function-URL handler with the event that Lambda sends; `test_oauth_flow` drives the server.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pytest

from lodestore.adapters.jwt_tokens import ASK_AGAIN_SECONDS, JwtTokens
from lodestore.ports.tokens import InvalidToken, IssuerUnavailable
from mcp_server.endpoint import Endpoint
from mcp_server.handler import build_endpoint
from tests.handlers.stand_ins import HandClock
from tests.handlers.wire import Answer, call, event, post, send
from tests.security.token_issuer import Issuer, token_issuer

AUDIENCE = "https://abc.lambda-url.eu-central-1.on.aws/mcp"
METADATA = "https://abc.lambda-url.eu-central-1.on.aws/.well-known/oauth-protected-resource/mcp"
NOTE = {"content": "The build runs on Fridays."}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with token_issuer() as served:
        yield served


@pytest.fixture
def endpoint(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Endpoint:
    return _endpoint(issuer, str(tmp_path_factory.mktemp("data")))


def _endpoint(issuer: Issuer, data: str, **more: str) -> Endpoint:
    chosen = {"AUTH": "oauth", "OAUTH_ISSUER": issuer.address, "OAUTH_AUDIENCE": AUDIENCE, "DATA": data}
    return build_endpoint({**chosen, "TENANT": "", "EMBEDDINGS": "none", **more})


def _remember(endpoint: Endpoint, token: str | None, **headers: str) -> Answer:
    sent = {} if token is None else {"authorization": f"Bearer {token}"}
    return post(endpoint, call("remember", NOTE), **{**sent, **headers})


def test_a_good_token_writes_for_the_tenant_of_its_claim(endpoint: Endpoint, issuer: Issuer) -> None:
    answer = _remember(endpoint, issuer.token(AUDIENCE))
    assert answer.status == 200
    assert answer.structured["status"] == "stored"
    other = post(
        endpoint,
        call("recall", {"query": "build Fridays"}),
        authorization=f"Bearer {issuer.token(AUDIENCE, tenant='acme-corp')}",
    )
    assert other.structured["count"] == 0


def test_no_token_is_401_and_says_where_to_get_one(endpoint: Endpoint) -> None:
    answer = _remember(endpoint, None)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == (
        f'Bearer resource_metadata="{METADATA}", scope="memory:read memory:write"'
    )
    assert "oauth-protected-resource" in str(answer.json["next_step"])


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"exp": int(time.time()) - 60}, "expired"),
        # Hours ahead: a long run of all tests comes here late.
        ({"nbf": int(time.time()) + 86_400}, "not valid yet"),
        ({"aud": "https://other.example/mcp"}, "another audience"),
        ({"aud": None}, "lacks a claim"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"sub": None}, "lacks a claim"),
        ({"exp": None}, "lacks a claim"),
        ({"nonce": "n"}, "ID token"),
        ({"token_use": "id"}, "ID token"),
    ],
)
def test_a_token_that_fails_a_check_is_401_with_the_reason(
    endpoint: Endpoint, issuer: Issuer, claims: dict[str, object], said: str
) -> None:
    answer = _remember(endpoint, issuer.token(AUDIENCE, **claims))
    assert answer.status == 401
    assert said in str(answer.json["message"])
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_a_token_signed_by_another_or_by_nobody_is_401(endpoint: Endpoint, issuer: Issuer) -> None:
    with token_issuer() as other:
        other.address = issuer.address
        forged = other.token(AUDIENCE)
    head, body, _ = issuer.token(AUDIENCE).split(".")
    nobody = f"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{body}."
    assert [
        _remember(endpoint, token).status for token in (forged, nobody, f"{head}.{body}.", "x", "a.b.c")
    ] == [401] * 5


def test_a_token_without_a_tenant_or_a_scope_of_ours_is_403(endpoint: Endpoint, issuer: Issuer) -> None:
    answers = [
        _remember(endpoint, issuer.token(AUDIENCE, tenant=tenant))
        for tenant in (None, "", "a/b", 7, ["acme", 7])
    ]
    assert [answer.status for answer in answers] == [403] * 5
    unscoped = _remember(endpoint, issuer.token(AUDIENCE, scope="openid profile"))
    assert unscoped.status == 403
    assert 'error="insufficient_scope"' in unscoped.headers["www-authenticate"]


@pytest.mark.promise("P-TENANT")
def test_no_header_takes_the_place_of_the_claim(endpoint: Endpoint, issuer: Issuer) -> None:
    token = issuer.token(AUDIENCE)
    assert _remember(endpoint, token, X_Memory_Tenant="other").status == 403
    assert _remember(endpoint, token, X_Memory_Tenant="acme").status == 200


def test_a_reader_is_refused_by_the_tool_and_sees_no_tool_that_writes(
    endpoint: Endpoint, issuer: Issuer
) -> None:
    token = issuer.token(AUDIENCE, scope="memory:read")
    assert _remember(endpoint, token).structured["error"] == "forbidden"


def test_both_well_known_paths_say_the_same_and_only_in_this_mode(
    endpoint: Endpoint, issuer: Issuer, tmp_path: object
) -> None:
    paths = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")
    first, second = (send(endpoint, event("GET", path)) for path in paths)
    assert first.json == second.json
    assert first.json["resource"] == AUDIENCE
    assert first.json["authorization_servers"] == [issuer.address]
    assert first.headers["access-control-allow-origin"] == "*"
    keys = build_endpoint({"AUTH": "keys", "DATA": str(tmp_path), "EMBEDDINGS": "none"})
    assert [send(keys, event("GET", path)).status for path in paths] == [404, 404]


def test_a_refusal_reads_no_body_and_imports_no_sdk(endpoint: Endpoint, issuer: Issuer) -> None:
    expired = issuer.token(AUDIENCE, exp=1)
    for header in ({}, {"authorization": f"Bearer {expired}"}):
        assert send(endpoint, event(headers=header, body="{not json")).status == 401
    assert endpoint._dispatch is None
    assert "mcp_server.endpoint" in sys.modules


def test_cognito_s_tokens_are_known_by_their_client(issuer: Issuer, tmp_path: object) -> None:
    endpoint = _endpoint(issuer, str(tmp_path), OAUTH_AUDIENCE="", OAUTH_CLIENT_IDS="c1, c2")
    good = {"client_id": "c2", "token_use": "access", "scope": "lodestore/memory:write"}
    assert _remember(endpoint, issuer.token(None, **good)).status == 200
    for wrong in ({"client_id": "c3"}, {"client_id": None}, {"token_use": "id"}):
        assert _remember(endpoint, issuer.token(None, **{**good, **wrong})).status == 401


def test_made_up_key_ids_are_no_flood_at_the_issuer_and_new_keys_are_found() -> None:
    with token_issuer() as issuer:
        clock = HandClock()
        tokens = JwtTokens(issuer.address, AUDIENCE, clock)
        assert tokens.claims(issuer.token(AUDIENCE))["tenant"] == "acme"
        issuer.turn_keys("key-2")
        for _ in range(20):
            with pytest.raises(InvalidToken):
                tokens.claims(issuer.token(AUDIENCE))
        assert issuer.asked["/keys"] == 1
        clock.pause(ASK_AGAIN_SECONDS)
        assert tokens.claims(issuer.token(AUDIENCE))["sub"] == "user-1"
        assert issuer.asked["/keys"] == 2


def test_an_issuer_that_is_away_is_503_at_first_and_forgiven_later() -> None:
    with token_issuer() as issuer:
        clock = HandClock()
        tokens = JwtTokens(issuer.address, AUDIENCE, clock)
        issuer.down = True
        with pytest.raises(IssuerUnavailable):
            tokens.claims(issuer.token(AUDIENCE))
        issuer.down = False
        clock.pause(ASK_AGAIN_SECONDS)
        tokens.claims(issuer.token(AUDIENCE))
        issuer.down = True
        clock.pause(7200)
        assert tokens.claims(issuer.token(AUDIENCE))["sub"] == "user-1"
