"""Erasing: all that the store holds of a tenant, or of one memory, for good.

Owns: the deletes that nothing brings back, and the receipt under `receipts/`. Guarantees: exact match, so `acme` takes
nothing of `acme-corp` (P-TENANT); every page of every listing, versions and delete markers included. What a receipt
says, `verify` finds again by listing anew. Of one memory the stub stays, so that no late event brings it back
(P-FORGOTTEN). Safe to repeat from any point: the receipt is written last.
Gives up: a writer that goes on meanwhile. What it stores after the last pass is new, and `verify` shows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from lodestore.domain.moments import format_moment
from lodestore.format import keys
from lodestore.format.access_records import MOST_BYTES, decode_access, encode_access
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import (
    Found,
    Missing,
    ObjectStore,
    ObjectTooLarge,
    StoreUnavailable,
    Won,
)
from lodestore.services.vector_erasing import VectorErasing

_Thing = TypeVar("_Thing")
_PASSES = 3
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What went. `versions` are of memories and tombstones, the current ones included.

    keys   that no longer name the tenant; `vector_indexes`: of the vector engine
    left   objects that were there after the last pass, of writers that went on
    """

    versions: int
    derived: int
    notes: int
    keys: int
    vector_indexes: int
    left: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a second look found.

    receipt   the stored receipt of the last erasure; None: the tenant was never erased here
    left      objects, versions, notes and keys that are there
    """

    receipt: str | None
    left: int


class Erasing:
    """Erasures of whole tenants."""

    def __init__(
        self,
        state: ObjectStore,
        index: ObjectStore,
        vectors: VectorErasing,
        clock: Clock,
        *,
        workers: Executor,
    ) -> None:
        self._state = state
        self._index = index
        self._vectors = vectors
        self._clock = clock
        self._workers = workers

    def count(self, tenant: str) -> int:
        """How many objects, versions, notes, keys and vector indexes there are of it. Raises StoreUnavailable."""
        return self._count(tenant, self._vectors.names(tenant))

    def run(self, tenant: str) -> Erased:
        """Erase the tenant. Raises StoreUnavailable; what went by then is gone, and a repeat takes the rest."""
        versions = derived = notes = changed = dropped = 0
        # The manifest names them, and goes.
        indexes = self._vectors.names(tenant)
        for _ in range(_PASSES):
            # Keys first, so that no caller of the tenant's own begins anew; the truth before what is made of it.
            changed += self._each(self._change_key, [(name, tenant) for name in self._keys(tenant)])
            versions += self._each(self._delete_version, list(self._versions(tenant)))
            derived += self._each(self._delete, list(self._derived(tenant)))
            notes += self._each(self._delete, list(self._notes(tenant)))
            dropped += self._vectors.drop(indexes)
            if not self._count(tenant, indexes):
                break
        erased = Erased(
            versions=versions,
            derived=derived,
            notes=notes,
            keys=changed,
            vector_indexes=dropped,
            left=self._count(tenant, indexes),
            at=self._clock.now(),
        )
        self._store_receipt(tenant, erased)
        return erased

    def verify(self, tenant: str) -> Verified:
        """Look again. Raises StoreUnavailable."""
        found = self._index.get(keys.receipt(_digest(tenant)), max_bytes=MOST_BYTES)
        receipt = found.body.decode("utf-8", "replace") if isinstance(found, Found) else None
        return Verified(receipt=receipt, left=self.count(tenant))

    def _count(self, tenant: str, indexes: frozenset[str]) -> int:
        found = (self._versions(tenant), self._derived(tenant), self._notes(tenant), self._keys(tenant))
        return sum(1 for things in found for _ in things) + self._vectors.count(indexes)

    def _versions(self, tenant: str) -> Iterator[tuple[str, str]]:
        for prefix in (keys.memories_of(tenant), keys.tombstones_of(tenant)):
            for version in self._state.versions(prefix):
                yield version.key, version.version_id

    def _derived(self, tenant: str) -> Iterator[str]:
        for prefix in (
            keys.pending_of(tenant),
            keys.index_of(tenant),
            keys.counts_of(tenant),
            keys.reports_of(tenant),
            keys.proposals_of(tenant),
            keys.undo_of(tenant),
        ):
            for page in self._index.list(prefix):
                yield from (entry.key for entry in page.entries)

    def _notes(self, tenant: str) -> Iterator[str]:
        for page in self._index.list(keys.DUE):
            yield from (entry.key for entry in page.entries if keys.parse_due(entry.key) == tenant)

    def _keys(self, tenant: str) -> Iterator[str]:
        names = [entry.key for page in self._state.list(keys.ACCESS) for entry in page.entries]
        for name, tenants in zip(names, self._workers.map(self._tenants_of, names), strict=True):
            if tenant in tenants:
                yield name

    def _tenants_of(self, name: str) -> tuple[str, ...]:
        try:
            found = self._state.get(name, max_bytes=MOST_BYTES)
            return (decode_access(found.body).tenants or ()) if isinstance(found, Found) else ()
        except (ObjectTooLarge, ValueError):
            # Nobody gets in by a key that can't be read.
            return ()

    def _change_key(self, wanted: tuple[str, str]) -> None:
        """Take the tenant out of a key, or the key away where it is for no other; older versions go with it."""
        name, tenant = wanted
        for _ in range(_TRIES):
            found = self._state.get(name, max_bytes=MOST_BYTES)
            if isinstance(found, Missing):
                break
            assert isinstance(found, Found)
            grant = decode_access(found.body)
            others = tuple(sorted(set(grant.tenants or ()) - {tenant}))
            if not others:
                self._state.delete(name)
                break
            body = encode_access(others, grant.role, self._clock.now())
            if isinstance(self._state.replace(name, body, expected=found.etag), Won):
                break
        else:
            raise StoreUnavailable("a key moved at every try")
        for version in list(self._state.versions(name)):
            if version.key == name and not (version.latest and not version.deleted):
                self._state.delete_version(version.key, version.version_id)

    def _each(self, act: Callable[[_Thing], None], wanted: Sequence[_Thing]) -> int:
        list(self._workers.map(act, wanted))
        return len(wanted)

    def _delete_version(self, version: tuple[str, str]) -> None:
        self._state.delete_version(*version)

    def _delete(self, key: str) -> None:
        self._index.delete(key)

    def _store_receipt(self, tenant: str, erased: Erased) -> None:
        key, body = keys.receipt(_digest(tenant)), json.dumps(receipt_fields(tenant, erased)).encode()
        for _ in range(_TRIES):
            if isinstance(self._index.create(key, body), Won):
                return
            found = self._index.get(key, max_bytes=MOST_BYTES)
            if isinstance(found, Found) and (
                found.body == body or isinstance(self._index.replace(key, body, expected=found.etag), Won)
            ):
                return
        raise StoreUnavailable("the receipt could not be stored")


def receipt_fields(tenant: str, erased: Erased) -> dict[str, object]:
    """A receipt as JSON fields; the tenant only as the SHA-256 of its name."""
    return {
        "schema": 1,
        "tenant_sha256": _digest(tenant),
        "erased_at": format_moment(erased.at),
        "versions": erased.versions,
        "derived": erased.derived,
        "notes": erased.notes,
        "keys": erased.keys,
        "vector_indexes": erased.vector_indexes,
        "left": erased.left,
    }


def _digest(tenant: str) -> str:
    return hashlib.sha256(tenant.encode()).hexdigest()
