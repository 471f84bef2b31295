"""The one mutable object of a tenant's index: loaded by ETag, replaced by compare-and-swap.

Owns: reading and swapping the manifest. Guarantees: a swap takes effect only over the very manifest that was loaded;
one whose answer was lost is found again by its generation and content (P-NO-LOST-UPDATE).
Gives up: merging two changes; who lost loads again and decides anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.manifest import Manifest
from lodestore.format import keys
from lodestore.format.manifests import InvalidManifest, decode_manifest, encode_manifest
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import (
    Found,
    Missing,
    NotModified,
    ObjectStore,
    ObjectTooLarge,
    StoreUnavailable,
    Unknown,
    Won,
)

# A manifest of ours is some kilobytes, whatever the tenant's size.
MANIFEST_BYTES = 8 * 1_048_576
_TENANTS_HELD = 1_000


@dataclass(frozen=True, slots=True)
class LoadedManifest:
    """A manifest as it stood.

    manifest    None: there is none, or (`invalid`) what is there can't be read
    etag        of the object that is there; None: nothing is
    stored_at   when it was stored, by the store's clock; None: nothing is
    at          the store's clock when it answered
    """

    manifest: Manifest | None
    etag: str | None
    stored_at: datetime | None
    at: datetime
    invalid: bool = False


class Manifests:
    """Manifests of all tenants. Thread-safe."""

    def __init__(self, index: ObjectStore, meter: Meter) -> None:
        self._index = index
        self._meter = meter
        self._held: OrderedDict[str, LoadedManifest] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, tenant: str) -> LoadedManifest:
        """The manifest of now; its bytes come only if it changed. Raises StoreUnavailable."""
        with self._lock:
            held = self._held.get(tenant)
        etag = held.etag if held is not None else None
        try:
            answer = self._index.get(keys.manifest(tenant), known_etag=etag, max_bytes=MANIFEST_BYTES)
        except ObjectTooLarge:
            return self._oversized(tenant)
        self._meter.count("manifest_held" if isinstance(answer, NotModified) else "manifest_loaded")
        if isinstance(answer, NotModified) and held is not None:
            return LoadedManifest(held.manifest, held.etag, held.stored_at, answer.at, held.invalid)
        assert isinstance(answer, Found | Missing)
        loaded = self._decoded(tenant, answer)
        self._hold(tenant, loaded)
        return loaded

    def swap(self, loaded: LoadedManifest, manifest: Manifest) -> bool:
        """Put `manifest` in the place of `loaded`; False where that is no longer what stands there.

        Raises StoreUnavailable where the store refuses.
        """
        key, body = keys.manifest(manifest.tenant), encode_manifest(manifest)
        if loaded.etag is None:
            outcome = self._index.create(key, body)
        else:
            outcome = self._index.replace(key, body, expected=loaded.etag)
        self._meter.count(f"manifest_{type(outcome).__name__.lower()}")
        if isinstance(outcome, Unknown):
            standing = self._index.get(key, max_bytes=MANIFEST_BYTES)
            return isinstance(standing, Found) and standing.body == body
        return isinstance(outcome, Won)

    def _decoded(self, tenant: str, answer: Found | Missing) -> LoadedManifest:
        if isinstance(answer, Missing):
            return LoadedManifest(None, None, None, answer.at)
        try:
            manifest = decode_manifest(answer.body, tenant)
        except InvalidManifest:
            self._meter.count("manifest_quarantined")
            return LoadedManifest(None, answer.etag, answer.last_modified, answer.at, invalid=True)
        return LoadedManifest(manifest, answer.etag, answer.last_modified, answer.at)

    def _oversized(self, tenant: str) -> LoadedManifest:
        """What no manifest can be, as it stands: a listing has the ETag that a rebuild must name to replace it."""
        self._meter.count("manifest_quarantined")
        for page in self._index.list(keys.index_of(tenant), delimiter="/"):
            for entry in page.entries:
                if entry.key == keys.manifest(tenant):
                    return LoadedManifest(None, entry.etag, entry.last_modified, page.at, invalid=True)
        raise StoreUnavailable("the manifest was removed while it was read")

    def _hold(self, tenant: str, loaded: LoadedManifest) -> None:
        with self._lock:
            self._held[tenant] = loaded
            self._held.move_to_end(tenant)
            while len(self._held) > _TENANTS_HELD:
                self._held.popitem(last=False)
