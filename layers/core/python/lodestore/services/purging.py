"""The purge: what a forgotten memory said leaves the old versions and the segments.

Owns: every removal of a version below `memories/`. Guarantees: within a run after FORGET_WINDOW no version that is as
old as a stub, or older, holds content (P-FORGOTTEN); the latest version of a key is never touched, nor one that is
newer than the tombstone; segments are written anew without the dead rows of the forgotten, at once. It can't be
switched off. Safe to repeat from any point: a version's id is never used again.
Gives up: a version that is no record, below a memory that was said anew: it is counted and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from lodestore.domain import limits
from lodestore.domain.consolidation import may_be_merged
from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Memory, Stub
from lodestore.format import keys
from lodestore.format.records import InvalidRecord, decode_record
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, Version
from lodestore.services.tombstones import Tombstones
from lodestore.services.truth import Truth

RUN_VERSIONS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What one run did; with `dry_run`, what it would do.

    ids       forgotten memories of which old versions went, `versions` of them together
    waiting   forgotten memories whose old versions stay until the window is over
    unread    versions that are no records, and stay
    left      whether there was more than one run takes
    """

    ids: tuple[str, ...] = ()
    versions: int = 0
    waiting: int = 0
    unread: int = 0
    left: bool = False


@dataclass(slots=True)
class _Found:
    ids: list[str]
    versions: list[Version]
    waiting: int = 0
    unread: int = 0


class Purging:
    """The purge of all tenants. `window`: how long a forgotten memory can be restored."""

    def __init__(
        self,
        state: ObjectStore,
        truth: Truth,
        tombstones: Tombstones,
        *,
        clock: Clock,
        meter: Meter,
        window: timedelta,
    ) -> None:
        self._state = state
        self._truth = truth
        self._tombstones = tombstones
        self._clock = clock
        self._meter = meter
        self._window = window

    def run(self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True) -> Purged:
        """Purge a tenant's forgotten memories. Raises StoreUnavailable; what went by then is gone."""
        forgotten = self._tombstones.ids(tenant)
        if not forgotten:
            return Purged()
        before = self._clock.now() - self._window
        return self._run(
            tenant, forgotten, self._state.versions(keys.memories_of(tenant)), before, dry_run, going
        )

    def run_one(self, tenant: str, memory_id: str) -> Purged:
        """Purge one forgotten memory now, whatever the window. Raises StoreUnavailable."""
        versions = self._state.versions(keys.memory(tenant, memory_id))
        return self._run(tenant, frozenset({memory_id}), versions, None, False, lambda: True)

    def run_merged_from(self, tenant: str, memory_id: str) -> Purged:
        """Purge now every old version that was merged from this forgotten memory. Raises StoreUnavailable."""
        versions = self._state.versions(keys.memories_of(tenant))
        return self._run(tenant, frozenset(), versions, None, False, lambda: True, merged_from=memory_id)

    def _run(
        self,
        tenant: str,
        forgotten: frozenset[str],
        versions: Iterator[Version],
        before: datetime | None,
        dry_run: bool,
        going: Callable[[], bool],
        merged_from: str | None = None,
    ) -> Purged:
        found = _Found([], [])
        left = False
        for key, group in groupby(versions, key=lambda version: version.key):
            name = keys.parse_memory(key)
            old = [version for version in group if not version.latest]
            if name is None or not old or not (name.id in forgotten or may_be_merged(name.id)):
                continue
            if not going() or len(found.versions) >= RUN_VERSIONS:
                left = True
                break
            if name.id in forgotten:
                self._look(tenant, name.id, old, before, found)
            if may_be_merged(name.id):
                self._look_at_merged(tenant, name.id, old, before, found, merged_from)
        if not dry_run:
            for version in found.versions:
                self._state.delete_version(version.key, version.version_id)
        return Purged(
            ids=tuple(found.ids),
            versions=len(found.versions),
            waiting=found.waiting,
            unread=found.unread,
            left=left,
        )

    def _look(
        self, tenant: str, memory_id: str, old: list[Version], before: datetime | None, found: _Found
    ) -> None:
        """Choose among the old versions of one id. `before` None: the window is not asked."""
        record = self._truth.read(tenant, memory_id).record
        stub = record if isinstance(record, Stub) else self._tombstones.read(tenant, memory_id)
        if stub is None:
            return
        if before is not None and stub.forgotten_at > before:
            found.waiting += 1
            return
        # Below a stub everything is older than it, readable or not. Below a memory that took its place, what was
        # said before the stub has to be told from what was said after.
        chosen = [
            version
            for version in old
            if record is stub or version.deleted or self._is_old(tenant, stub, version, found)
        ]
        if chosen:
            found.ids.append(memory_id)
            found.versions.extend(chosen)

    def _look_at_merged(
        self,
        tenant: str,
        memory_id: str,
        old: list[Version],
        before: datetime | None,
        found: _Found,
        only: str | None,
    ) -> None:
        """Old versions that were merged from what is forgotten since hold its words."""
        taken = {version.version_id for version in found.versions if version.key == old[0].key}
        chosen = [
            version
            for version in old
            if not version.deleted
            and version.version_id not in taken
            and self._holds_forgotten(tenant, memory_id, version, before, only)
        ]
        if chosen:
            found.ids.append(memory_id)
            found.versions.extend(chosen)

    def _holds_forgotten(
        self, tenant: str, memory_id: str, version: Version, before: datetime | None, only: str | None
    ) -> bool:
        try:
            body = self._state.get_version(version.key, version.version_id, max_bytes=limits.OBJECT_BYTES)
            record = decode_record(body.body, tenant, memory_id) if isinstance(body, Found) else None
        except (InvalidRecord, ObjectTooLarge):
            return False
        if not isinstance(record, Memory):
            return False
        for member in record.consolidated_reads:
            if only is not None and member.id != only:
                continue
            now = self._truth.read(tenant, member.id).record
            stub = now if isinstance(now, Stub) else self._tombstones.read(tenant, member.id)
            if stub is None or standing_of(member, now) is Standing.AS_READ:
                continue
            if member.revision <= stub.revision and (before is None or stub.forgotten_at <= before):
                return True
        return False

    def _is_old(self, tenant: str, stub: Stub, version: Version, found: _Found) -> bool:
        try:
            body = self._state.get_version(version.key, version.version_id, max_bytes=limits.OBJECT_BYTES)
            if not isinstance(body, Found):
                return False
            return decode_record(body.body, tenant, stub.id).revision <= stub.revision
        except (InvalidRecord, ObjectTooLarge):
            self._meter.count("version_quarantined")
            found.unread += 1
            return False
