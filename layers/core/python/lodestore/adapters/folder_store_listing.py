"""Listings of a folder store: S3's order and S3's grouping, from the names alone.

Owns: walking folders in key order, from a key on, whole or one level deep, and cutting pages.
Guarantees: an object that is there from the call to the last page is listed exactly once, however many are
replaced meanwhile; its ETag and size are read when its page is made. Keys come bytewise ascending. A folder
that holds no object makes no group. What is no key's file (other names, links, temporary files) is passed
over.
Gives up: one moment for a whole listing. As with S3, objects that come and go meanwhile may be in it or
not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from lodestore.adapters.folder_store_files import etag_of, modified_at
from lodestore.adapters.folder_store_locks import FolderLocks
from lodestore.adapters.folder_store_names import name_of, segment_of
from lodestore.adapters.folder_store_tree import FolderTree, Names
from lodestore.ports.object_store import Entry

CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Child:
    """One name in a folder that can be part of a key. `key` is whole; that of a folder ends in `/`."""

    key: str
    name: str

    @property
    def is_folder(self) -> bool:
        """Whether keys lie below it."""
        return self.key.endswith("/")

    @property
    def segments(self) -> Names:
        """Those of the key; of a folder, its own."""
        return tuple(self.key.rstrip("/").split("/"))


class FolderListing:
    """Reads the names of a tree. Thread-safe."""

    def __init__(self, tree: FolderTree, locks: FolderLocks) -> None:
        self._tree = tree
        self._locks = locks

    def children(self, top: Names, segments: Names, start_after: str = "") -> list[Child]:
        """What a folder holds for keys above `start_after`, in key order. Raises OSError, LockBusy.

        `top` is the folder in which the tree of keys begins.
        """
        with self._scanning(top, segments, start_after) as children:
            return sorted(children, key=lambda child: child.key)

    def walk(self, segments: Names, start_after: str, delimiter: str) -> Iterator[Entry | str]:
        """Objects and, with a delimiter, groups below a folder, in key order. Raises OSError, LockBusy."""
        remaining = iter(self.children((), segments, start_after))
        while chunk := list(islice(remaining, CHUNK)):
            statuses = self._statuses(segments, chunk)
            for child in chunk:
                if not child.is_folder:
                    status = statuses.get(child.name)
                    if status is not None:
                        yield Entry(child.key, etag_of(status), status.st_size, modified_at(status))
                elif not delimiter:
                    yield from self.walk(child.segments, start_after, "")
                elif self._holds_object(child.segments, start_after):
                    yield child.key

    @contextmanager
    def _scanning(self, top: Names, segments: Names, start_after: str) -> Iterator[Iterator[Child]]:
        prefix = "".join(f"{segment}/" for segment in segments)
        folder = (*top, *map(name_of, segments))
        with self._tree.reading(folder) as handle:
            if handle is None:
                yield iter(())
                return
            with self._locks.names(folder, alone=False), os.scandir(handle) as entries:
                children = (child for entry in entries if (child := _child(prefix, entry)))
                yield (child for child in children if _may_hold_above(child, start_after))

    def _holds_object(self, segments: Names, start_after: str) -> bool:
        folders = []
        with self._scanning((), segments, start_after) as children:
            for child in children:
                if not child.is_folder:
                    return True
                folders.append(child)
        return any(self._holds_object(child.segments, start_after) for child in folders)

    def _statuses(self, segments: Names, children: list[Child]) -> dict[str, os.stat_result]:
        found: dict[str, os.stat_result] = {}
        with self._tree.reading(tuple(map(name_of, segments))) as handle:
            if handle is None:
                return found
            for child in children:
                if not child.is_folder:
                    try:
                        status = os.stat(child.name, dir_fd=handle, follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    if stat.S_ISREG(status.st_mode):
                        found[child.name] = status
        return found


def _child(prefix: str, entry: os.DirEntry[str]) -> Child | None:
    segment = segment_of(entry.name)
    if segment is None:
        return None
    if entry.is_dir(follow_symlinks=False):
        return Child(f"{prefix}{segment}/", entry.name)
    return Child(prefix + segment, entry.name) if entry.is_file(follow_symlinks=False) else None


def _may_hold_above(child: Child, start_after: str) -> bool:
    return child.key > start_after or (child.is_folder and start_after.startswith(child.key))
