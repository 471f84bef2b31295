"""Collection: objects of segments that no manifest lists are deleted.

Owns: every delete under `index/<tenant>/segments/`. Guarantees: what the current manifest lists is never deleted; a
retired segment stays for an hour after it was last listed, for readers of an older manifest; before one that was
never listed goes, the manifest is swapped, so that a writer that slept before listing it loses (design, section 4).
All times are the store's. Bounded in a run; what is left is said.
Gives up: a tenant without a readable manifest: what it needs is a rebuild.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime

from lodestore.domain.manifest import (
    RETIRED_FOR,
    UNLISTED_FOR,
    Manifest,
    Retired,
    SegmentEntry,
    next_manifest,
)
from lodestore.format import keys
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Entry, ObjectStore, StoreUnavailable
from lodestore.services.manifests import LoadedManifest, Manifests

DELETED_MOST = 1_000
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a run found; with `dry_run`, what it would do.

    deleted   objects; `deleted_bytes` of them together
    left      objects that could go, and were too many for one run, or failed, or came under a swap of others
    waiting   objects that no manifest lists and that are too young to go
    damaged   listed segments whose objects are not there, or are of another size
    """

    dry_run: bool
    deleted: int = 0
    deleted_bytes: int = 0
    left: int = 0
    waiting: int = 0
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class _Seen:
    """Objects of one listing by name, and the store's clock at its end."""

    objects: Mapping[str, Entry]
    at: datetime


class Collection:
    """The collector of all tenants. Safe beside everything else."""

    def __init__(
        self,
        index: ObjectStore,
        manifests: Manifests,
        *,
        clock: Clock,
        workers: Executor,
        meter: Meter,
    ) -> None:
        self._index = index
        self._manifests = manifests
        self._clock = clock
        self._workers = workers
        self._meter = meter

    def run(self, tenant: str, *, dry_run: bool = False) -> Collected:
        """Delete what may go, at most 1,000 objects. Raises StoreUnavailable; what was not deleted yet then stays."""
        plan = Collected(dry_run=dry_run)
        for _ in range(_TRIES):
            standing = self._manifests.load(tenant)
            if standing.manifest is None:
                return plan
            seen = self._list(tenant)
            due = _due(standing, standing.manifest, seen)
            chosen = due[:DELETED_MOST]
            unlisted = len(seen.objects.keys() - set(standing.manifest.names))
            plan = Collected(
                dry_run=dry_run,
                deleted=len(chosen),
                deleted_bytes=sum(seen.objects[name].size for name in chosen),
                left=len(due) - len(chosen),
                waiting=unlisted - len(due),
                damaged=sum(not _is_there(entry, seen) for entry in standing.manifest.segments),
            )
            if dry_run:
                return plan
            # Swapped first, so that a writer that slept before listing one of them loses.
            following = next_manifest(standing.manifest, stored_at=standing.stored_at, now=self._clock.now())
            if not chosen or self._manifests.swap(standing, following):
                return self._delete(tenant, seen, chosen, plan)
        return replace(plan, deleted=0, deleted_bytes=0, left=plan.left + plan.deleted)

    def _list(self, tenant: str) -> _Seen:
        objects: dict[str, Entry] = {}
        at = self._clock.now()
        for page in self._index.list(keys.segments_of(tenant)):
            at = page.at
            for entry in page.entries:
                name = keys.parse_segment(entry.key)
                if name is None:
                    self._meter.count("foreign_object_skipped")
                else:
                    objects[name] = entry
        return _Seen(objects, at)

    def _delete(self, tenant: str, seen: _Seen, chosen: Sequence[str], plan: Collected) -> Collected:
        gone = list(self._workers.map(lambda name: self._delete_one(tenant, name), chosen))
        deleted = [name for name, went in zip(chosen, gone, strict=True) if went]
        return replace(
            plan,
            deleted=len(deleted),
            deleted_bytes=sum(seen.objects[name].size for name in deleted),
            left=plan.left + len(chosen) - len(deleted),
        )

    def _delete_one(self, tenant: str, name: str) -> bool:
        try:
            self._index.delete(keys.segment(tenant, name))
        except StoreUnavailable:
            self._meter.count("segment_left_behind")
            return False
        return True


def _is_there(entry: SegmentEntry, seen: _Seen) -> bool:
    return entry.name in seen.objects and seen.objects[entry.name].size == entry.size


def _due(standing: LoadedManifest, manifest: Manifest, seen: _Seen) -> list[str]:
    """The objects that may go, oldest first."""
    listed = set(manifest.names)
    noted = {item.name: item for item in manifest.retired}
    return sorted(
        name
        for name, entry in seen.objects.items()
        if name not in listed
        and (
            _is_over(noted[name], standing, seen.at)
            if name in noted
            else seen.at - entry.last_modified >= UNLISTED_FOR
        )
    )


def _is_over(item: Retired, standing: LoadedManifest, at: datetime) -> bool:
    """Whether the segment was last listed an hour ago. One without a time was retired by the manifest that stands."""
    since = item.at if item.at is not None else standing.stored_at
    return since is not None and at - since >= RETIRED_FOR
