"""Tokens of an OpenID Connect or OAuth issuer: signed JWTs, checked with PyJWT.

Owns: where the issuer's keys are found, how long they are kept, and which checks a token has to pass. Guarantees:
asymmetric signatures of our own list only; issuer, time (30 s of leeway) and, where one is set, audience; the keys are
asked for when they are an hour old, or for a key id that is not among them at most every 30 s, so that a flood of
made-up tokens is no flood at the issuer; while the issuer is away, keys that are known serve on. An ID token is no
access token and is refused where it tells itself.
Gives up: opaque tokens, and revoking one before it expires.

Sources: RFC 7519, RFC 8414 and OpenID Connect Discovery for the metadata, RFC 9068 for access tokens as JWTs.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit

import jwt
import urllib3

from lodestore.adapters.sdk_logs import keep_content_out
from lodestore.ports.clock import Clock
from lodestore.ports.tokens import InvalidToken, IssuerUnavailable

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
LEEWAY_SECONDS = 30
KEYS_FOR_SECONDS = 3600.0
ASK_AGAIN_SECONDS = 30.0
DOCUMENT_BYTES_MOST = 262_144
TOKEN_CHARACTERS_MOST = 16_384
_TIMEOUT = urllib3.Timeout(connect=2, read=3)


class JwtTokens:
    """The tokens of `issuer`; `audience` None: the issuer writes none, and the service checks the client instead."""

    def __init__(self, issuer: str, audience: str | None, clock: Clock) -> None:
        self._issuer = issuer
        self._audience = audience
        self._clock = clock
        keep_content_out()
        self._http = urllib3.PoolManager(maxsize=2, retries=False, timeout=_TIMEOUT)
        self._lock = threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._asked: float | None = None
        self._fetched: float | None = None

    def claims(self, token: str) -> Mapping[str, object]:
        """The claims. Raises InvalidToken, IssuerUnavailable."""
        if len(token) > TOKEN_CHARACTERS_MOST:
            raise InvalidToken("it is too long")
        try:
            header = jwt.get_unverified_header(token)
            key = self._key(header.get("kid"))
            found: dict[str, object] = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY_SECONDS,
                options={
                    "require": ["exp", "iss", "sub"] + (["aud"] if self._audience else []),
                    "verify_aud": self._audience is not None,
                },
            )
        except jwt.PyJWTError as error:
            raise InvalidToken(_reason(error)) from None
        if found.get("token_use") == "id" or "nonce" in found or "at_hash" in found:
            raise InvalidToken("it is an ID token, not an access token")
        return found

    def _key(self, name: object) -> jwt.PyJWK:
        with self._lock:
            now = self._clock.elapsed()
            stale = self._fetched is None or now - self._fetched >= KEYS_FOR_SECONDS
            unknown = not isinstance(name, str) or name not in self._keys
            if (stale or unknown) and (self._asked is None or now - self._asked >= ASK_AGAIN_SECONDS):
                self._asked = now
                self._refresh(now)
            if isinstance(name, str) and name in self._keys:
                return self._keys[name]
            if self._fetched is None:
                raise IssuerUnavailable("the issuer's keys could not be read")
            raise InvalidToken("it is signed with a key that the issuer does not publish")

    def _refresh(self, now: float) -> None:
        try:
            document = self._document(self._keys_address())
            held = jwt.PyJWKSet.from_dict(dict(document)).keys
        except (IssuerUnavailable, jwt.PyJWTError):
            if not self._keys:
                raise IssuerUnavailable("the issuer's keys could not be read") from None
            return
        self._keys = {key.key_id: key for key in held if key.key_id is not None}
        self._fetched = now

    def _keys_address(self) -> str:
        for address in _metadata_addresses(self._issuer):
            try:
                metadata = self._document(address)
            except IssuerUnavailable:
                continue
            keys = metadata.get("jwks_uri")
            # A document of another issuer at this address is not this issuer's word (RFC 8414, section 3.3).
            if metadata.get("issuer") == self._issuer and isinstance(keys, str):
                return keys
        raise IssuerUnavailable("the issuer's metadata could not be read")

    def _document(self, address: str) -> Mapping[str, object]:
        secure = address.startswith("https://") or not self._issuer.startswith("https://")
        if not secure:
            raise IssuerUnavailable("an address without TLS")
        try:
            with self._http.request("GET", address, redirect=False, preload_content=False) as response:
                body = response.read(DOCUMENT_BYTES_MOST + 1)
                status = response.status
            found = json.loads(body) if status == 200 and len(body) <= DOCUMENT_BYTES_MOST else None
        except (urllib3.exceptions.HTTPError, ValueError, RecursionError):
            raise IssuerUnavailable("no answer") from None
        if not isinstance(found, dict):
            raise IssuerUnavailable("no JSON object")
        return found


def _metadata_addresses(issuer: str) -> tuple[str, ...]:
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    base = f"{parts.scheme}://{parts.netloc}"
    return (
        f"{base}{path}/.well-known/openid-configuration",
        f"{base}/.well-known/oauth-authorization-server{path}",
    )


def _reason(error: jwt.PyJWTError) -> str:
    reasons: Mapping[type[jwt.PyJWTError], str] = {
        jwt.ExpiredSignatureError: "it has expired",
        jwt.ImmatureSignatureError: "it is not valid yet",
        jwt.InvalidAudienceError: "it is for another audience",
        jwt.InvalidIssuerError: "it is of another issuer",
        jwt.MissingRequiredClaimError: "it lacks a claim that is needed (exp, iss, sub, aud)",
        jwt.InvalidSignatureError: "its signature is wrong",
        jwt.InvalidAlgorithmError: "its algorithm is not accepted",
    }
    return reasons.get(type(error), "it is no signed JWT of this issuer")
