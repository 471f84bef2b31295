"""Which tenants have something to do: the dispatcher's view.

Owns: the listings over all tenants. Guarantees: a tenant with a marker, or with a note whose hour has passed, is
shown; of a name that no tenant can have nothing is.
Gives up: a snapshot. Writers go on while it lists.
"""

from __future__ import annotations

from collections.abc import Iterator

from lodestore.format import keys
from lodestore.ports.object_store import ObjectStore
from lodestore.settings import is_tenant


class Backlog:
    """Reads of both buckets. Raises StoreUnavailable where a store does not answer."""

    def __init__(self, index: ObjectStore) -> None:
        self._index = index

    def tenants(self) -> Iterator[str]:
        """The tenants that have markers, in the order of the listing."""
        return tenants_below(self._index, keys.PENDING)


def tenants_with_deltas(index: ObjectStore) -> Iterator[str]:
    """The tenants that have deltas of counts, each as often as it has some.

    One flat listing: a request per 1,000 snapshots and deltas of all tenants, and none for a tenant of its own.
    """
    for page in index.list(keys.COUNTS):
        for entry in page.entries:
            tenant = keys.parse_delta_tenant(entry.key)
            if tenant is not None:
                yield tenant


def tenants_below(store: ObjectStore, prefix: str) -> Iterator[str]:
    """The tenants that have an object below the prefix, in the order of the listing."""
    for page in store.list(prefix, delimiter="/"):
        for group in page.prefixes:
            tenant = group.removeprefix(prefix).removesuffix("/")
            if is_tenant(tenant):
                yield tenant
