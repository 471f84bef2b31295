"""The old versions of a folder store's objects, kept below `.versions/` in a folder for each key.

Owns: keeping, listing, reading, removing and bringing back versions. An old version is the very file that
was the object, under its version id; a delete leaves an empty file `<stamp>-gone`.
Guarantees: a version id (16 hex digits of the modification time, `-`, the inode) is the same before and
after its object became an old version, and ids of one key sort by time. A crash may leave the current file
under its id as well: it counts once.
Gives up: versions of edits by hand. The content that an editor overwrote in place is gone.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from lodestore.adapters.folder_store_files import (
    EPOCH,
    FileContent,
    flush,
    modified_at,
    names_in,
    read_file,
    status_of,
)
from lodestore.adapters.folder_store_listing import FolderListing
from lodestore.adapters.folder_store_names import name_of
from lodestore.adapters.folder_store_tree import FolderTree, Names, OpenFolder
from lodestore.ports.object_store import Version

FOLDER = ".versions"
GONE = "gone"
VERSION_ID = re.compile(r"[0-9a-f]{16}-(gone|[0-9a-f]{1,16})", re.ASCII)


def version_id_of(status: os.stat_result) -> str:
    """The id of the version that a file is."""
    return f"{max(status.st_mtime_ns, 0):016x}-{status.st_ino:x}"


class KeptVersions:
    """The folder of old versions. The caller holds the key's lock for whatever changes them."""

    def __init__(self, tree: FolderTree, listing: FolderListing) -> None:
        self._tree = tree
        self._listing = listing

    def keep(self, segments: Names, parent: OpenFolder) -> None:
        """Make the current file an old version as well, durably. Raises OSError, LockBusy."""
        name = name_of(segments[-1])
        status = status_of(parent.handle, name)
        if status is None:
            return
        with self._tree.writing(_folder(segments)) as kept:
            with contextlib.suppress(FileExistsError):
                os.link(
                    name,
                    version_id_of(status),
                    src_dir_fd=parent.handle,
                    dst_dir_fd=kept.handle,
                    follow_symlinks=False,
                )
            kept.sync()

    def mark_deleted(self, segments: Names, stamp: int) -> None:
        """Leave a delete marker, durably. Raises OSError, LockBusy."""
        with self._tree.writing(_folder(segments)) as kept:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            os.close(os.open(f"{stamp:016x}-{GONE}", flags, 0o600, dir_fd=kept.handle))
            kept.sync()

    def read(self, segments: Names, version_id: str, max_bytes: int | None) -> FileContent | None:
        """An old version's content; None where there is none. Raises FileTooLarge, OSError."""
        if not _is_content(version_id):
            return None
        with self._tree.reading(_folder(segments)) as kept:
            return None if kept is None else read_file(kept, version_id, max_bytes=max_bytes)

    def remove(self, segments: Names, version_id: str) -> None:
        """Remove an old version or a delete marker, durably; no error where there is none. Raises OSError."""
        if VERSION_ID.fullmatch(version_id) is None:
            return
        with self._tree.reading(_folder(segments)) as kept:
            if kept is not None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(version_id, dir_fd=kept)
                flush(kept)

    def prune(self, segments: Names) -> None:
        """Remove the key's folder of old versions if it is empty. The caller holds no lock."""
        with self._tree.reading(_folder(segments)) as kept:
            empty = kept is not None and not names_in(kept)
        if empty:
            self._tree.prune(_folder(segments))

    def bring_back(self, segments: Names, parent: OpenFolder) -> bool:
        """Make the newest old version the current file again; False where that is a delete marker, or none.

        The caller holds the names of the parent folder alone. Raises OSError.
        """
        newest = next(iter(self._ids(segments)), "")
        if not _is_content(newest):
            return False
        with self._tree.reading(_folder(segments)) as kept:
            os.rename(newest, name_of(segments[-1]), src_dir_fd=kept, dst_dir_fd=parent.handle)
        return True

    def all(self, prefix: str) -> Iterator[Version]:
        """Every version of every key that starts with `prefix`, by key, newest first.

        Raises OSError, LockBusy.
        """
        segments = tuple(prefix.split("/")[:-1])
        keys = {*self._keys((), segments, prefix), *self._keys((FOLDER,), segments, prefix)}
        for key in sorted(keys):
            yield from self.of(key)

    def of(self, key: str) -> Iterator[Version]:
        """Every version of one key, newest first. Raises OSError."""
        segments = tuple(key.split("/"))
        with self._tree.reading(tuple(map(name_of, segments[:-1]))) as parent:
            status = None if parent is None else status_of(parent, name_of(segments[-1]))
        current = ""
        if status is not None:
            current = version_id_of(status)
            yield Version(key, current, modified_at(status), latest=True, deleted=False)
        for place, version_id in enumerate(self._ids(segments)):
            if version_id != current:
                deleted = not _is_content(version_id)
                latest = deleted and place == 0 and not current
                yield Version(key, version_id, _time_of(version_id), latest=latest, deleted=deleted)

    def _ids(self, segments: Names) -> list[str]:
        with self._tree.reading(_folder(segments)) as kept:
            names = [] if kept is None else names_in(kept)
        return sorted(filter(VERSION_ID.fullmatch, names), reverse=True)

    def _keys(self, top: Names, segments: Names, prefix: str) -> Iterator[str]:
        for child in self._listing.children(top, segments):
            if child.is_folder:
                if child.key.startswith(prefix) or prefix.startswith(child.key):
                    yield from self._keys(top, child.segments, prefix)
            else:
                key = "/".join(segments) if top else child.key
                if key.startswith(prefix):
                    yield key


def _folder(segments: Names) -> Names:
    return (FOLDER, *map(name_of, segments))


def _is_content(version_id: str) -> bool:
    return VERSION_ID.fullmatch(version_id) is not None and not version_id.endswith(GONE)


def _time_of(version_id: str) -> datetime:
    return EPOCH + timedelta(microseconds=int(version_id.partition("-")[0], 16) // 1_000)
