"""How much waits to be indexed, over all tenants: the dispatcher's view.

Owns: counting markers per tenant. Guarantees: exact up to its limits, and says where a limit cut it
(P-SILENT-NEVER).
Gives up: a snapshot. Tenants are counted one after the other while writers go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lodestore.format import keys
from lodestore.ports.object_store import ObjectStore

TENANTS_MOST = 10_000
MARKERS_MOST = 100_000


@dataclass(frozen=True, slots=True)
class TenantBacklog:
    """Markers under `pending/` of one tenant; `complete` False: there are more than were counted."""

    tenant: str
    pending: int
    complete: bool


@dataclass(frozen=True, slots=True)
class BacklogReport:
    """Tenants with a backlog, by name; `complete` False: there are more tenants than were looked at."""

    tenants: tuple[TenantBacklog, ...]
    complete: bool


class Backlog:
    """Reads what is pending. Raises StoreUnavailable where the store does not answer."""

    def __init__(self, index: ObjectStore) -> None:
        self._index = index

    def tenants(self) -> Iterator[str]:
        """The tenants that have markers, in the order of the listing."""
        for page in self._index.list(keys.PENDING, delimiter="/"):
            for prefix in page.prefixes:
                yield prefix.removeprefix(keys.PENDING).removesuffix("/")

    def report(self) -> BacklogReport:
        """Counts by tenant: at most 10,000 tenants, at most 100,000 markers of each."""
        names = tuple(islice(self.tenants(), TENANTS_MOST + 1))
        counted = tuple(self._count(tenant) for tenant in sorted(names[:TENANTS_MOST]))
        return BacklogReport(counted, complete=len(names) <= TENANTS_MOST)

    def _count(self, tenant: str) -> TenantBacklog:
        pending = 0
        for page in self._index.list(keys.pending_of(tenant)):
            pending += len(page.entries)
            if pending > MARKERS_MOST:
                return TenantBacklog(tenant, MARKERS_MOST, complete=False)
        return TenantBacklog(tenant, pending, complete=True)
