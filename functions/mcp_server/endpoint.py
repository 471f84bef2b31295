"""The MCP endpoint over one Lodestore: a function-URL event in, an HTTP answer out.

Owns: the order in which a request is decided: path and method, origin and host, size, credential, message,
tenant, and only then the SDK, whose import costs a second of a cold start.
Guarantees: what a client sent never gets a 5xx; what fails unforeseen gets a 500 with a reference and no
text of the failure; every request has one log line. Thread-safe.
Gives up: being called inside a running event loop; the SDK's own runs in the calling thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lodestore.domain.caller import Grant
from lodestore.errors import LodestoreError
from lodestore.services.caller_headers import CONVERSATION_HEADER
from lodestore.services.deadlines import seconds_left
from lodestore.services.throttle import Throttle
from lodestore.settings import Auth
from mcp_server.envelope import GREETINGS, Malformed, Message, parse
from mcp_server.exchange import Exchange, Record
from mcp_server.gate import Route, check_size, read_body, read_credential, route
from mcp_server.http_event import EVENTS_TYPE, HttpAnswer, HttpRequest, read_event
from mcp_server.observability import Observer
from mcp_server.origins import Origins
from mcp_server.protected_resource import ProtectedResource
from mcp_server.refusals import Refusal, refusal_of, throttled
from mcp_server.surface import Lodestore

if TYPE_CHECKING:
    from mcp_server.dispatch import Dispatch

# The first that was sent decides.
TENANT_HEADERS = ("X-Memory-Tenant", "X-Tenant-Id")


class Endpoint:
    """Call it with an event of a function URL (payload format 2.0); the context is not used."""

    def __init__(
        self, lodestore: Lodestore, observer: Observer, *, allowed_origins: frozenset[str] = frozenset()
    ) -> None:
        self._lodestore = lodestore
        self._observer = observer
        settings = lodestore.settings
        self._open = settings.auth is Auth.OPEN
        self._resource = ProtectedResource(settings) if settings.auth is Auth.OAUTH else None
        self._throttle = Throttle(lodestore.clock, rate=settings.requests_per_second, burst=settings.burst)
        self._origins = Origins(loopback_only=self._open, allowed=allowed_origins)
        self._dispatch: Dispatch | None = None
        self._lock = threading.Lock()

    def __call__(self, event: Mapping[str, object], context: object = None) -> dict[str, object]:
        """The answer as the dictionary that a function URL expects."""
        self._lodestore.budget.begin(seconds_left(context))
        request = read_event(event)
        record = self._observer.begin(request.request_id)
        before = self._lodestore.requests.traffic()
        answer = self._safely(request, record)
        record.traffic = self._lodestore.requests.traffic().since(before)
        record.status = answer.status
        self._observer.finish(record)
        return answer.with_headers(self._origins.headers(request)).to_event()

    def prepare(self) -> None:
        """Import the SDK now instead of with the first message."""
        self._dispatcher()

    def _safely(self, request: HttpRequest, record: Record) -> HttpAnswer:
        try:
            return self._answer(request, record)
        except Refusal as refusal:
            record.error = refusal.code
            return refusal.answer
        except Malformed as malformed:
            record.error = f"rpc{malformed.code}"
            return _malformed(malformed)
        except Exception as error:  # noqa: BLE001 - the last boundary: logged by type, answered without its text
            self._observer.failed(record, error)
            record.error = "internal"
            return _internal(record.request_id)

    def _answer(self, request: HttpRequest, record: Record) -> HttpAnswer:
        match route(request, metadata=self._resource is not None):
            case Route.METADATA if self._resource is not None:
                return self._resource.metadata(request)
            case Route.HEALTH:
                return HttpAnswer(status=200, payload=self._lodestore.health())
            case Route.PREFLIGHT:
                return self._origins.preflight(request)
            case _:
                return self._serve(request, record)

    def _serve(self, request: HttpRequest, record: Record) -> HttpAnswer:
        self._origins.check(request)
        check_size(request)
        credential = None if self._open else read_credential(request.headers)
        try:
            grant = self._lodestore.access.grant(credential, request.principal)
            message = parse(read_body(request))
            record.note_method(message.method, notification=message.id is None)
            exchange = self._exchange(message, request, record, grant)
        except LodestoreError as error:
            challenge = None
            if self._resource is not None:
                challenge = self._resource.challenge(request, error, token_sent=credential is not None)
            raise refusal_of(error, challenge) from error
        reply = self._dispatcher().answer(message, exchange, request.headers)
        before = reply.before if EVENTS_TYPE in request.headers.get("accept", "") else ()
        return HttpAnswer(status=reply.status, payload=reply.payload, before=before)

    def _exchange(self, message: Message, request: HttpRequest, record: Record, grant: Grant) -> Exchange:
        pinned = self._lodestore.pinned
        own = pinned is not None and pinned.on and message.id is not None and message.method in GREETINGS
        if not message.needs_tenant and not own:
            return Exchange(caller=None, record=record)
        headers = request.headers
        tenants = {name: headers.get(name.lower()) for name in TENANT_HEADERS}
        try:
            caller = self._lodestore.access.caller(grant, tenants, headers.get(CONVERSATION_HEADER.lower()))
        except LodestoreError:
            if message.needs_tenant:
                raise
            # Everyone is greeted; who lacks a tenant is told with the first message that needs one.
            return Exchange(caller=None, record=record)
        record.note_tenant(caller.tenant)
        if wait := self._throttle.take(caller.tenant):
            raise throttled(wait)
        return Exchange(caller=caller, record=record, fault=message.fault)

    def _dispatcher(self) -> Dispatch:
        with self._lock:
            if self._dispatch is None:
                from mcp_server.dispatch import Dispatch

                self._dispatch = Dispatch(self._lodestore, self._observer)
            return self._dispatch


def _malformed(malformed: Malformed) -> HttpAnswer:
    error = {"code": malformed.code, "message": malformed.message}
    return HttpAnswer(status=400, payload={"jsonrpc": "2.0", "id": malformed.id, "error": error})


def _internal(reference: str) -> HttpAnswer:
    payload = {
        "error": "unavailable",
        "message": f"Something failed inside the server (reference {reference}).",
        "next_step": "Repeat the request; if it fails again, tell the operator the reference.",
    }
    return HttpAnswer(status=500, payload=payload)
