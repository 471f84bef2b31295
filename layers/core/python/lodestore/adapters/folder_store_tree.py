"""The folders of a folder store, opened step by step so that no link leads out of it.

Owns: opening, making and removing folders below the root, and making a new name durable.
Guarantees: every step from the root is opened relative to the last and never through a symbolic link, so
nothing outside of the root is read or written, whatever is swapped meanwhile. `OpenFolder.sync` returns
when the folder and every folder above it are on the disk. An empty folder is removed only while no writer
is about to put a name in it.
Gives up: the root itself may be a link (the owner's choice), and what is put in the root's way by hand is
an error.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lodestore.adapters.folder_store_files import flush
from lodestore.adapters.folder_store_locks import FolderLocks, LockBusy

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
ROOT_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
MAX_REMEMBERED = 10_000
PRUNE_SECONDS = 0.05

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder held open for writing, with all above it: the root first, itself last."""

    tree: FolderTree
    names: Names
    handles: tuple[int, ...]
    removals: int

    @property
    def handle(self) -> int:
        """The folder's own."""
        return self.handles[-1]

    def sync(self) -> None:
        """Flush the folder's names, and those of each folder above that is not known to be on the disk."""
        flush(self.handle)
        for depth in range(len(self.names), 0, -1):
            inode = os.fstat(self.handles[depth]).st_ino
            if not self.tree.is_durable(self.names[:depth], inode, self.removals):
                flush(self.handles[depth - 1])
                self.tree.set_durable(self.names[:depth], inode, self.removals)


class FolderTree:
    """All folders below one root. Thread-safe."""

    def __init__(self, root: Path, locks: FolderLocks) -> None:
        self._root = root
        self._locks = locks
        self._guard = threading.Lock()
        self._root_is_durable = False
        self._removals = 0
        self._durable: dict[Names, int] = {}
        self._left_empty: set[Names] = set()

    def make_root(self) -> None:
        """The root, durable, before anything else is put in it. Raises OSError."""
        if self._root_is_durable and self._root.is_dir():
            return
        new = [path for path in (self._root, *self._root.parents) if not path.exists()]
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in new or [self._root]:
            _flush_folder(path.parent)
        self._root_is_durable = True

    @contextmanager
    def reading(self, names: Names) -> Iterator[int | None]:
        """A handle of the folder, None where there is none. Raises OSError where a link is in the way."""
        handles: list[int] = []
        try:
            yield self._descend(names, handles)
        finally:
            _close(handles)

    @contextmanager
    def writing(self, names: Names) -> Iterator[OpenFolder]:
        """The folder, made where missing, safe from removal while it is held. Raises OSError, LockBusy."""
        handles: list[int] = []
        with self._locks.tree(alone=False) as lock:
            try:
                handles.append(os.open(self._root, ROOT_FLAGS))
                for name in names:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=handles[-1])
                    handles.append(os.open(name, FOLDER_FLAGS, dir_fd=handles[-1]))
                yield OpenFolder(self, names, tuple(handles), lock.number())
            finally:
                _close(handles)

    def prune(self, names: Names) -> None:
        """Remove the folder and those above it, up to the second from the root, as far as they are empty.

        Best effort: where writers keep the tree busy, the next call tries again.
        """
        with self._guard:
            if len(self._left_empty) >= MAX_REMEMBERED:
                self._left_empty.clear()
            self._left_empty.add(names)
            candidates = sorted(self._left_empty, reverse=True)
        try:
            with self._locks.tree(alone=True, seconds=PRUNE_SECONDS) as lock:
                removed = sum(self._remove_upwards(candidate) for candidate in candidates)
                if removed:
                    lock.write(lock.number() + removed)
        except LockBusy:
            return
        with self._guard:
            self._left_empty.difference_update(candidates)

    def is_durable(self, names: Names, inode: int, removals: int) -> bool:
        """Whether this very folder was flushed into the one above it, and no folder was removed since."""
        with self._guard:
            return self._removals == removals and self._durable.get(names) == inode

    def set_durable(self, names: Names, inode: int, removals: int) -> None:
        """Remember that. A removal anywhere forgets all: an inode number may come back for another folder."""
        with self._guard:
            if self._removals != removals or len(self._durable) >= MAX_REMEMBERED:
                self._durable.clear()
                self._removals = removals
            self._durable[names] = inode

    def _descend(self, names: Names, handles: list[int]) -> int | None:
        try:
            handles.append(os.open(self._root, ROOT_FLAGS))
        except FileNotFoundError:
            return None
        try:
            for name in names:
                handles.append(os.open(name, FOLDER_FLAGS, dir_fd=handles[-1]))
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            if _is_link(names[len(handles) - 1], handles[-1]):
                raise OSError(f"a symbolic link is in the way: {'/'.join(names)}") from None
            return None
        return handles[-1]

    def _remove_upwards(self, names: Names) -> int:
        removed = 0
        for depth in range(len(names), 1, -1):
            with self.reading(names[: depth - 1]) as parent:
                if parent is None:
                    continue
                try:
                    os.rmdir(names[depth - 1], dir_fd=parent)
                except FileNotFoundError:
                    continue
                except OSError:
                    break
            removed += 1
        return removed


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, ROOT_FLAGS)
    try:
        flush(handle)
    finally:
        os.close(handle)


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _close(handles: list[int]) -> None:
    for handle in handles:
        os.close(handle)
