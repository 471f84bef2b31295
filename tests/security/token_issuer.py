"""An authorization server on loopback: metadata, keys, client registration, codes with PKCE, signed tokens.

Owns: its key pair and what it issues. Guarantees: it is a real one for a client (RFC 8414, RFC 7591, RFC 7636), and
it counts what it was asked. Gives up: logging anyone in; whoever asks for a code gets one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm


class Issuer:
    """One issuer at `address`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: Counter[str] = Counter()
        self.tenant = "acme"
        # What tokens name as their audience, whatever resource the client asked for; None: that resource.
        self.audience: str | None = None
        self.down = False
        self.codes: dict[str, dict[str, str]] = {}
        self.turn_keys()

    def turn_keys(self, name: str = "key-1") -> None:
        """A new key pair in place of the old one."""
        self._name = name
        self._private = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def token(self, audience: str | None, **claims: object) -> str:
        """A signed token, good for ten minutes unless told otherwise; a claim of None is left out."""
        now = int(time.time())
        held: dict[str, object] = {"iss": self.address, "sub": "user-1", "aud": audience}
        held["scope"] = "memory:read memory:write"
        held |= {"iat": now, "exp": now + 600, "tenant": self.tenant, **claims}
        kept = {name: value for name, value in held.items() if value is not None}
        return jwt.encode(kept, self._private, algorithm="RS256", headers={"kid": self._name})

    def keys(self) -> dict[str, Any]:
        """The public keys as a JWK set."""
        public = json.loads(RSAAlgorithm.to_jwk(self._private.public_key()))
        return {"keys": [{**public, "kid": self._name, "use": "sig", "alg": "RS256"}]}

    def metadata(self) -> dict[str, object]:
        """RFC 8414."""
        return {
            "issuer": self.address,
            "jwks_uri": f"{self.address}/keys",
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "registration_endpoint": f"{self.address}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["memory:read", "memory:write"],
        }

    def redeem(self, form: dict[str, str]) -> dict[str, object] | None:
        """RFC 6749, 4.1.3, with the check of RFC 7636; None: refused."""
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or asked["code_challenge"] != challenge:
            return None
        token = self.token(self.audience or form.get("resource"), scope=asked.get("scope", ""))
        return {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": 600,
            "scope": asked.get("scope", ""),
        }


@contextmanager
def token_issuer() -> Iterator[Issuer]:
    """An issuer that answers on a free port while the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
        server.issuer = issuer  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        issuer: Issuer = self.server.issuer  # type: ignore[attr-defined]
        path = urlsplit(self.path)
        issuer.asked[path.path] += 1
        if issuer.down:
            self._answer(503, {})
        elif path.path == "/.well-known/oauth-authorization-server":
            self._answer(200, issuer.metadata())
        elif path.path == "/keys":
            self._answer(200, issuer.keys())
        elif path.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(path.query).items()}
            code = f"code-{len(issuer.codes)}"
            issuer.codes[code] = asked
            self.send_response(302)
            self.send_header(
                "location", f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
            )
            self.end_headers()
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        issuer: Issuer = self.server.issuer  # type: ignore[attr-defined]
        issuer.asked[self.path] += 1
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.path == "/register":
            self._answer(201, {**json.loads(body), "client_id": "client-1"})
        else:
            answer = issuer.redeem({name: values[0] for name, values in parse_qs(body).items()})
            self._answer(200 if answer else 400, answer or {"error": "invalid_grant"})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Nothing is printed."""

    def _answer(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
