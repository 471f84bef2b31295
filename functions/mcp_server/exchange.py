"""One message on its way through: who sent it, what is wrong with it, and what is known about it for the log.

Owns: `Record`, the only things that are ever logged or counted about a request, and `Exchange`.
Guarantees: a method or tool enters a record only if it is one of ours, so that nothing a client wrote can
be logged by way of a name (P-UNTRUSTED); a tenant enters as a short hash.
Gives up: content, query, tags, key and conversation; they have no place here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from lodestore.domain.caller import Caller
from lodestore.domain.sleep_report import Traffic
from lodestore.errors import InvalidArgument

NONE = "-"
OTHER = "other"
NOTIFICATION = "notification"
METHODS = frozenset(
    "initialize server/discover ping tools/list tools/call resources/list resources/templates/list resources/read"
    " prompts/list prompts/get".split()
)


@dataclass(slots=True, kw_only=True)
class Record:
    """What the log line of one request says. `error` is a code of the interface or of JSON-RPC, "" for none.

    started   seconds of the clock's `elapsed`
    traffic   what was asked of the stores meanwhile
    """

    request_id: str
    started: float
    method: str = NONE
    tool: str = NONE
    tenant: str = NONE
    status: int = 0
    error: str = ""
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def storage_requests(self) -> int:
        """How many requests the stores were asked."""
        return sum(self.traffic.requests.values())

    def note_method(self, method: str, *, notification: bool) -> None:
        """Remember the method, if it is one that this server has."""
        self.method = NOTIFICATION if notification else method if method in METHODS else OTHER

    def note_tenant(self, tenant: str) -> None:
        """Remember the tenant as the first 12 hex digits of its SHA-256."""
        self.tenant = hashlib.sha256(tenant.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What the SDK's handlers need beside the message. `caller` None: the method needs no tenant."""

    caller: Caller | None
    record: Record
    fault: InvalidArgument | None = None
