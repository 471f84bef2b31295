"""The whole OAuth flow: a real MCP client, a running server, an authorization server on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from local_runner.child_server import child_server
from tests.handlers.wire import LOCAL, call
from tests.security.token_issuer import Issuer, token_issuer
from tests.system.processes import call_tool, run_lodestore, variables

REDIRECT = "http://127.0.0.1:9/callback"


class _Held:
    """The client's tokens, in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class _Browser:
    """A person who agrees to everything."""

    def __init__(self) -> None:
        self._answer: dict[str, list[str]] = {}

    async def open(self, url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.get(url, follow_redirects=False)
        self._answer = parse_qs(urlsplit(answer.headers["location"]).query)

    async def code(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=self._answer["code"][0], state=self._answer["state"][0])


def _environment(data: Path, issuer: Issuer) -> dict[str, str]:
    # The port is the server's own choice, so the audience is a name and the address comes from the metadata.
    issuer.audience = "lodestore"
    chosen = {"OAUTH_ISSUER": issuer.address, "OAUTH_AUDIENCE": issuer.audience}
    return variables(data, AUTH="oauth", TENANT="", EMBEDDINGS="none", **chosen)


async def _converse(url: str) -> tuple[dict[str, object], dict[str, object]]:
    browser = _Browser()
    metadata = OAuthClientMetadata(client_name="test", redirect_uris=[AnyUrl(REDIRECT)])
    provider = OAuthClientProvider(url, metadata, _Held(), browser.open, browser.code)
    async with (
        httpx2.AsyncClient(auth=provider, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        stored = await call_tool(client, "remember", content="Releases are cut on Tuesdays")
        found = await call_tool(client, "recall", query="When are releases cut?")
    return stored, found


def test_a_client_that_knows_only_the_address_logs_in_and_remembers(tmp_path: Path) -> None:
    with token_issuer() as issuer:
        environment = _environment(tmp_path / "data", issuer)
        with child_server(environment) as server:
            stored, found = asyncio.run(_converse(server.url))
            assert stored["status"] == "stored"
            assert found["count"] == 1
        assert (issuer.asked["/register"], issuer.asked["/authorize"], issuer.asked["/token"]) == (1, 1, 1)
        assert (tmp_path / "data/state/memories/acme").is_dir()


def test_a_running_server_refuses_what_the_function_refuses(tmp_path: Path) -> None:
    with token_issuer() as issuer:
        environment = _environment(tmp_path / "data", issuer)
        audience = environment["OAUTH_AUDIENCE"]
        attempts = {
            None: 401,
            issuer.token(audience, exp=1): 401,
            issuer.token("https://other.example/mcp"): 401,
            issuer.token(audience, tenant=None): 403,
            issuer.token(audience, scope="openid"): 403,
            issuer.token(audience): 200,
        }
        with child_server(environment) as server, httpx2.Client(trust_env=False) as http:
            for token, status in attempts.items():
                sent = {"authorization": f"Bearer {token}"} if token else {}
                headers = {"content-type": LOCAL["content-type"], **sent}
                answer = http.post(server.url, json=call("recall", {"query": "releases"}), headers=headers)
                assert answer.status_code == status
            metadata = http.get(
                server.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
            ).json()
            assert metadata["resource"] == server.url


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"AUTH": "oauth"}, "OAUTH_ISSUER"),
        ({"AUTH": "oauth", "OAUTH_ISSUER": "http://issuer.example"}, "OAUTH_ISSUER"),
        ({"AUTH": "oauth", "OAUTH_ISSUER": "https://issuer.example"}, "OAUTH_AUDIENCE"),
        ({"AUTH": "iam"}, "IAM_PRINCIPALS"),
        ({"AUTH": "iam", "IAM_PRINCIPALS": "{}"}, "IAM_PRINCIPALS"),
        ({"AUTH": "open", "HOST": "192.0.2.7"}, "HOST"),
    ],
)
def test_a_mode_that_lacks_its_settings_does_not_start(
    tmp_path: Path, given: dict[str, str], named: str
) -> None:
    answer = run_lodestore(variables(tmp_path / "data", **given), "serve")
    assert answer.returncode == 1
    assert named in answer.stderr
