"""Where changes are seen: in the folder, by the operating system's word; in a bucket, by its markers.

Owns: `ChangeSource` and its two kinds. Guarantees: watching begins before the first full scan, so that no
change falls between; a new folder is listed, for what came into it before it was watched; a marker that lands
late, or with an older time than others, is found by the window or by the full listing every 5 minutes.
Gives up: exactness. A name may come twice, and a lost one comes with the next scan: names are hints.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Protocol, runtime_checkable

import watchfiles

from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.format import keys
from lodestore.format.keys import MemoryName
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import ObjectStore, StoreUnavailable
from lodestore.services.backlog import Backlog

QUIET_MILLISECONDS = 50
TICK_SECONDS_MOST = 1.0
LATE_WRITERS = timedelta(minutes=10)
FULL_LISTING_SECONDS = 300.0
PAUSE_SECONDS_MOST = 60.0
SEEN_MOST = 100_000

_ANY_FILE = "a.json"

log = logging.getLogger("lodestore.changes")


class FolderGone(Exception):
    """The folder that was watched is no longer there."""


class ChangeSource(Protocol):
    """A place where memories change."""

    def changes(self, stop: Event) -> Iterator[tuple[MemoryName, ...]]:
        """Names that changed, as they do; () every now and then while none does. Ends when `stop` is set.

        When the first item comes, watching has begun.
        """
        ...

    def everything(self) -> Iterator[MemoryName]:
        """Every name that may need a look. Raises StoreUnavailable."""
        ...


@runtime_checkable
class WatchableStore(Protocol):
    """A store that is a folder."""

    folder: Path

    def key_of(self, path: str) -> str | None:
        """The key whose object lies at this path; None where it is no object's."""
        ...


class FolderChanges:
    """Changes of a folder, told by the operating system (inotify and its kin)."""

    def __init__(self, store: ObjectStore, watchable: WatchableStore, *, every: float) -> None:
        self._store = store
        self._watchable = watchable
        self._tick = min(every, TICK_SECONDS_MOST)
        # The operating system tells whole paths, whatever the folder was given as.
        self._root = watchable.folder.absolute()

    def changes(self, stop: Event) -> Iterator[tuple[MemoryName, ...]]:
        milliseconds = max(int(self._tick * 1000), QUIET_MILLISECONDS)
        folder = self._root / keys.MEMORIES
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        watching = watchfiles.watch(
            folder,
            watch_filter=None,
            debounce=milliseconds,
            step=QUIET_MILLISECONDS,
            rust_timeout=milliseconds,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            debug=False,
        )
        for changed in watching:
            if not folder.is_dir():
                raise FolderGone
            names: dict[MemoryName, None] = {}
            for _, path in changed:
                names.update(dict.fromkeys(self._names(path)))
            yield tuple(names)

    def everything(self) -> Iterator[MemoryName]:
        yield from _memories(self._store, keys.MEMORIES)

    def _names(self, path: str) -> Iterator[MemoryName]:
        if not Path(path).is_dir():
            name = self._name(path)
            if name is not None:
                yield name
            return
        # A folder that has just appeared may hold what was written before it was watched.
        inside = self._name(str(Path(path) / _ANY_FILE))
        if inside is not None:
            yield from self._listed(keys.memories_of(inside.tenant))

    def _name(self, path: str) -> MemoryName | None:
        key = self._watchable.key_of(str(self._watchable.folder / Path(path).relative_to(self._root)))
        return keys.parse_memory(key) if key is not None else None

    def _listed(self, prefix: str) -> Iterator[MemoryName]:
        try:
            yield from _memories(self._store, prefix)
        except StoreUnavailable:
            log.warning("a new folder could not be listed; the next scan finds what is in it")


class MarkerChanges:
    """Changes of a bucket, read off the markers that every write puts: LIST alone, every `every` seconds."""

    def __init__(self, index: ObjectStore, *, clock: Clock, every: float) -> None:
        self._index = index
        self._backlog = Backlog(index)
        self._clock = clock
        self._every = max(every, QUIET_MILLISECONDS / 1000)
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._listed_in_full = clock.elapsed()

    def changes(self, stop: Event) -> Iterator[tuple[MemoryName, ...]]:
        yield ()
        pause = self._every
        while not stop.wait(pause):
            try:
                yield from self._new()
                pause = self._every
            except StoreUnavailable:
                pause = max(self._every, min(2 * pause, PAUSE_SECONDS_MOST))
                log.warning("markers could not be listed; trying again in %g s", pause)
            yield ()

    def everything(self) -> Iterator[MemoryName]:
        for markers in self._pages(""):
            for key, name in markers.items():
                self._see(key)
                yield name

    def _new(self) -> Iterator[tuple[MemoryName, ...]]:
        full = self._clock.elapsed() - self._listed_in_full >= FULL_LISTING_SECONDS
        if full:
            self._listed_in_full = self._clock.elapsed()
        oldest = next_revision(self._clock.now() - LATE_WRITERS, None, bytes(RANDOM_BYTES))
        for markers in self._pages("" if full else oldest):
            yield tuple(name for key, name in markers.items() if self._see(key))

    def _pages(self, oldest: str) -> Iterator[dict[str, MemoryName]]:
        for tenant in self._backlog.tenants():
            start_after = keys.pending(tenant, oldest, "") if oldest else ""
            for page in self._index.list(keys.pending_of(tenant), start_after=start_after):
                parsed = ((entry.key, keys.parse_pending(entry.key)) for entry in page.entries)
                yield {
                    key: MemoryName(marker.tenant, marker.id) for key, marker in parsed if marker is not None
                }

    def _see(self, key: str) -> bool:
        """Whether the key is new. Beyond 100,000 the oldest are forgotten, and told again."""
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > SEEN_MOST:
            self._seen.popitem(last=False)
        return True


def _memories(store: ObjectStore, prefix: str) -> Iterator[MemoryName]:
    for page in store.list(prefix):
        for entry in page.entries:
            name = keys.parse_memory(entry.key)
            if name is not None:
                yield name
