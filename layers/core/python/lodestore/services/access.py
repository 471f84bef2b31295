"""Who is calling: from a key and headers to a `Caller` (`interface.md`, "Who is calling").

Owns: keys (how one is made, stored and looked up), and which tenant and conversation a request may speak
for.
Guarantees: a key is kept as its SHA-256 only; a key reaches the tenants it was made for and no header
widens that (P-TENANT); a doubled header, which arrives folded by a comma, is refused by name and never
half-read.
Gives up: instant revocation. What a key allows is remembered for up to 60 s.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from lodestore.domain.caller import Caller, Grant, Role
from lodestore.errors import Forbidden, InvalidArgument, SettingsError, Unauthenticated, Unavailable
from lodestore.format import keys
from lodestore.format.access_records import MOST_BYTES, decode_access, encode_access
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.object_store import (
    Found,
    Lost,
    ObjectStore,
    ObjectTooLarge,
    StoreUnavailable,
    Unknown,
    Won,
)
from lodestore.services.caller_headers import FOR_THE_OPERATOR, read_conversation, read_tenant
from lodestore.settings import Auth

KEY_BYTES = 32
REMEMBERED_FOR = timedelta(seconds=60)
MOST_REMEMBERED = 1024
MOST_TENANTS = 256
ATTEMPTS = 5
_PAUSE_SECONDS = 0.05
_KEY_PATTERN = re.compile(r"lode_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Remembered:
    digest: bytes
    grant: Grant | None
    at: datetime


class OutsideIdentity(Protocol):
    """Another way to know callers than by our keys: an issuer's tokens, or principals that AWS has checked."""

    def grant(self, credential: str | None, principal: str | None) -> Grant:
        """What the caller may do. Raises Unauthenticated, Forbidden, Unavailable."""
        ...


class Access:
    """Checks credentials against the state bucket. Thread-safe."""

    def __init__(
        self,
        state: ObjectStore,
        *,
        clock: Clock,
        entropy: Entropy,
        auth: Auth,
        default_tenant: str,
        identity: OutsideIdentity | None = None,
    ) -> None:
        """`default_tenant` serves requests without a tenant in open mode; empty: there is none.

        identity   how callers are known where AUTH is oauth or iam
        """
        if (auth in (Auth.OAUTH, Auth.IAM)) is not (identity is not None):
            raise SettingsError(f"AUTH={auth} has no way to check a caller here")
        self._identity = identity
        self._state = state
        self._clock = clock
        self._entropy = entropy
        self._open = auth is Auth.OPEN
        self._default_tenant = default_tenant
        self._lock = threading.Lock()
        self._granted: dict[bytes, _Remembered] = {}
        self._refused: dict[bytes, _Remembered] = {}

    def grant(self, credential: str | None, principal: str | None = None) -> Grant:
        """What the key or token allows; in open mode everything.

        principal   the ARN of the caller whose signature AWS has checked; None: there is none

        Raises Unauthenticated, Forbidden, Unavailable.
        """
        if self._open:
            return Grant(Role.ADMIN, None)
        if self._identity is not None:
            return self._identity.grant(credential, principal)
        if credential is None:
            raise _unauthenticated("This server needs a key, and the request has none.")
        # Only what could be one of our keys is worth a storage request.
        grant = self._look_up(credential) if _KEY_PATTERN.fullmatch(credential) else None
        if grant is None:
            raise _unauthenticated("The key is not known here: mistyped, revoked, or of another deployment.")
        return grant

    def caller(
        self, grant: Grant, tenant_headers: Mapping[str, str | None], conversation_header: str | None
    ) -> Caller:
        """Who this request is.

        tenant_headers       name to value (None: not sent), the one that counts first; the first sent decides
        conversation_header  the value of X-Conversation-Id; None: not sent

        Raises InvalidArgument (a malformed header), Forbidden (no tenant, or one that the key is not for).
        """
        conversation = None if conversation_header is None else read_conversation(conversation_header)
        name, value = next(
            ((name, value) for name, value in tenant_headers.items() if value is not None), (None, None)
        )
        if name is None or value is None:
            return Caller(self._only_tenant(grant, next(iter(tenant_headers), "")), conversation, grant.role)
        tenant = read_tenant(name, value)
        if grant.tenants is not None and tenant not in grant.tenants:
            raise Forbidden(
                f"These credentials are not for the tenant that {name} names.",
                field=name,
                next_step=f"Name a tenant of this key in {name}, or use another key. {FOR_THE_OPERATOR}",
            )
        return Caller(tenant, conversation, grant.role)

    def local_caller(self, conversation: str | None = None) -> Caller:
        """The caller over stdio: an admin of the default tenant. Raises SettingsError, InvalidArgument."""
        if not self._default_tenant:
            raise SettingsError("TENANT is empty, and over stdio there is no header to name one; set TENANT")
        held = None if conversation is None else read_conversation(conversation)
        return Caller(self._default_tenant, held, Role.ADMIN)

    def issue_key(self, tenants: Sequence[str], role: Role) -> str:
        """A new key for these tenants, valid from now on. It is shown once: only its SHA-256 is kept.

        Raises InvalidArgument, Unavailable.
        """
        distinct = tuple(dict.fromkeys(tenants))
        if not 1 <= len(distinct) <= MOST_TENANTS:
            said = f"A key is for 1 to {MOST_TENANTS} tenants."
            raise InvalidArgument(said, field="TENANT", limit=MOST_TENANTS, got=len(distinct))
        for tenant in distinct:
            read_tenant("TENANT", tenant)
        key = "lode_" + base64.urlsafe_b64encode(self._entropy.token(KEY_BYTES)).decode().rstrip("=")
        self._store(keys.access(_digest(key).hex()), encode_access(distinct, role, self._clock.now()))
        return key

    def _store(self, name: str, body: bytes) -> None:
        unanswered = False
        for _ in range(ATTEMPTS):
            outcome = self._state.create(name, body)
            # No one else can have this name: what is there is our own, of an attempt that got no answer.
            if isinstance(outcome, Won) or (unanswered and isinstance(outcome, Lost)):
                return
            unanswered = unanswered or isinstance(outcome, Unknown)
            self._clock.pause(_PAUSE_SECONDS)
        said = "The store did not confirm the new key."
        raise Unavailable(said, written="unknown", next_step="Make another key; nobody has this one.")

    def _only_tenant(self, grant: Grant, header: str) -> str:
        if grant.tenants is None and self._default_tenant:
            return self._default_tenant
        if grant.tenants is not None and len(grant.tenants) == 1:
            return grant.tenants[0]
        raise Forbidden(
            "No tenant: this request names none, and nothing else tells which one is meant.",
            field=header,
            next_step=f"Send the tenant's name in the header {header}. {FOR_THE_OPERATOR}",
        )

    def _look_up(self, key: str) -> Grant | None:
        digest = _digest(key)
        now = self._clock.now()
        with self._lock:
            remembered = self._granted.get(digest) or self._refused.get(digest)
        if remembered is not None and timedelta() <= now - remembered.at < REMEMBERED_FOR:
            return remembered.grant if hmac.compare_digest(remembered.digest, digest) else None
        grant = self._read(keys.access(digest.hex()))
        self._remember(_Remembered(digest, grant, now))
        return grant

    def _read(self, name: str) -> Grant | None:
        try:
            found = self._state.get(name, max_bytes=MOST_BYTES)
            return decode_access(found.body) if isinstance(found, Found) else None
        except (StoreUnavailable, ObjectTooLarge, ValueError) as cause:
            raise Unavailable("The key can't be checked right now.") from cause

    def _remember(self, remembered: _Remembered) -> None:
        with self._lock:
            self._granted.pop(remembered.digest, None)
            self._refused.pop(remembered.digest, None)
            # Two bounds, so that a flood of wrong keys pushes out no right one.
            kept = self._refused if remembered.grant is None else self._granted
            if len(kept) >= MOST_REMEMBERED:
                del kept[next(iter(kept))]
            kept[remembered.digest] = remembered


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _unauthenticated(message: str) -> Unauthenticated:
    how = "Send one as `Authorization: Bearer KEY` or `X-API-Key: KEY`; `make key TENANT=… ROLE=…` makes it."
    return Unauthenticated(message, next_step=f"{how} {FOR_THE_OPERATOR}")
