"""The object store on a folder of one machine.

Owns: the port's operations over `folder_store_*`: who may write, in which order things reach the disk, and
what each failure means. Guarantees: those of the port, between threads and processes alike; what answered
`Won`, and a delete that returned, outlives a killed process and a power failure; a crash at any point
leaves the old object or the new. Objects are plain files that a person can read, and one put there by hand
under a plain name is an object.
Gives up: `Unknown`, but for a disk that fails in the last step; two keys of which one is a folder of the
other; and edits by hand in the very moment of a write, which no lock of ours can see.

    <root>/memories/acme/note-7.json    the object, named as `folder_store_names` says
    <root>/.versions/…  .temp/…  .locks/…    old versions, files being written, lock files
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path

from lodestore.adapters.folder_store_files import (
    EPOCH,
    FileContent,
    FileTooLarge,
    TemporaryFile,
    TemporaryFiles,
    etag_of,
    modified_at,
    names_in,
    read_file,
    status_of,
)
from lodestore.adapters.folder_store_listing import FolderListing
from lodestore.adapters.folder_store_locks import FolderLocks, HeldLock, LockBusy
from lodestore.adapters.folder_store_names import name_of, segment_of
from lodestore.adapters.folder_store_tree import FolderTree, Names, OpenFolder
from lodestore.adapters.folder_store_versions import KeptVersions, version_id_of
from lodestore.adapters.object_keys import check_page, check_version_prefix, folder_of, segments_of
from lodestore.adapters.store_failures import logged
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import (
    Contended,
    Entry,
    Found,
    GetOutcome,
    Gone,
    Lost,
    Missing,
    NotModified,
    ObjectTooLarge,
    Page,
    StoreUnavailable,
    Unknown,
    Version,
    Won,
    WriteOutcome,
)

Admission = Callable[[str | None], Lost | Gone | None]
Placing = Callable[[TemporaryFile, OpenFolder], Lost | None]


class FolderStore:
    """An ObjectStore in `root`, made at the first write. Thread-safe; many processes may share a root.

    versioned    keep what a write or a delete replaces, as a versioned bucket does
    folder       the root, absolute
    """

    def __init__(self, root: Path, clock: Clock, versioned: bool) -> None:
        root = root.absolute()
        self.folder = root
        self._clock = clock
        self._versioned = versioned
        self._locks = FolderLocks(root / ".locks")
        self._temporary = TemporaryFiles(root / ".temp")
        self._tree = FolderTree(root, self._locks)
        self._listing = FolderListing(self._tree, self._locks)
        self._versions = KeptVersions(self._tree, self._listing)
        self._swept = False

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        path = _path_of(key)
        with _reading(key), self._tree.reading(path.folder) as folder:
            content = (
                None
                if folder is None
                else read_file(folder, path.name, known_etag=known_etag, max_bytes=max_bytes)
            )
        if content is not None and content.body is None:
            return NotModified(self._clock.now())
        return self._found(content)

    def create(self, key: str, body: bytes) -> WriteOutcome:
        path = _path_of(key)

        def place(file: TemporaryFile, folder: OpenFolder) -> Lost | None:
            try:
                os.link(file.path, path.name, dst_dir_fd=folder.handle, follow_symlinks=False)
            except FileExistsError:
                return Lost()
            return None

        return self._write(path, body, _admit_first, place)

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        path = _path_of(key)

        def place(file: TemporaryFile, folder: OpenFolder) -> None:
            if self._versioned:
                self._versions.keep(path.segments, folder)
            with self._locks.names(path.folder, alone=True):
                os.rename(file.path, path.name, dst_dir_fd=folder.handle)

        return self._write(path, body, _admit_over(expected), place)

    def delete(self, key: str) -> None:
        path = _path_of(key)
        with _reading(key):
            if self._etag(path) is None:
                return
            self._prepare()
            with self._locks.key(key) as lock, self._tree.writing(path.folder) as folder:
                self._remove(path, folder, lock)
                left_empty = not names_in(folder.handle)
            if left_empty:
                self._tree.prune(path.folder)

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        size = check_page(delimiter, page_size)
        found = self._listing.walk(folder_of(prefix), start_after, delimiter)
        return self._pages(prefix, found, size)

    def versions(self, prefix: str) -> Iterator[Version]:
        check_version_prefix(prefix)
        return self._all_versions(prefix)

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        path = _path_of(key)
        with _reading(key):
            # In this order: a current file that is replaced in between is an old version by then, and one
            # that is brought back in between is current by the second look.
            for _ in range(2):
                with self._tree.reading(path.folder) as folder:
                    status = None if folder is None else status_of(folder, path.name)
                    if folder is not None and status is not None and version_id_of(status) == version_id:
                        content = read_file(folder, path.name, max_bytes=max_bytes)
                        if content is not None and version_id_of(content.status) == version_id:
                            return self._found(content)
                old = self._versions.read(path.segments, version_id, max_bytes)
                if old is not None:
                    return self._found(old)
        return Missing(self._clock.now())

    def delete_version(self, key: str, version_id: str) -> None:
        path = _path_of(key)
        with _reading(key):
            with self._locks.key(key), self._tree.writing(path.folder) as folder:
                latest = next(self._versions.of(key), None)
                self._versions.remove(path.segments, version_id)
                if latest is not None and latest.latest and latest.version_id == version_id:
                    self._take_away(path, folder)
                left_empty = not names_in(folder.handle)
            self._versions.prune(path.segments)
            if left_empty:
                self._tree.prune(path.folder)

    def key_of(self, path: str) -> str | None:
        """The key whose object a path below `folder` is, if a file lies there; None for every other path.

        So a watcher of the folder tells objects from lock files, temporary files and old versions.
        """
        try:
            names = Path(path).relative_to(self.folder).parts
        except ValueError:
            return None
        segments = [segment for name in names if (segment := segment_of(name)) is not None]
        return "/".join(segments) if segments and len(segments) == len(names) else None

    # Writing.

    def _write(self, path: _Path, body: bytes, admit: Admission, place: Placing) -> WriteOutcome:
        try:
            with _writing():
                if (refused := admit(self._etag(path))) is not None:  # before a byte is written
                    return refused
                self._prepare()
                with self._temporary.written(body) as file, self._locks.key(path.key) as lock:
                    if (refused := admit(self._etag(path))) is not None:
                        return refused
                    file.stamp(lock.next_stamp(self._now_ns()))
                    with self._tree.writing(path.folder) as folder:
                        return place(file, folder) or self._won(file, folder)
        except LockBusy:
            return Contended()

    def _won(self, file: TemporaryFile, folder: OpenFolder) -> Won | Unknown:
        try:
            file.remove()
            etag = file.etag()
            folder.sync()
        except OSError as failure:
            return Unknown(logged(_cause(failure)))
        return Won(etag, self._clock.now())

    def _remove(self, path: _Path, folder: OpenFolder, lock: HeldLock) -> None:
        if self._versioned:
            self._versions.keep(path.segments, folder)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=folder.handle)
        folder.sync()
        if self._versioned:
            self._versions.mark_deleted(path.segments, lock.next_stamp(self._now_ns()))

    def _take_away(self, path: _Path, folder: OpenFolder) -> None:
        with self._locks.names(path.folder, alone=True):
            if not self._versions.bring_back(path.segments, folder):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path.name, dir_fd=folder.handle)
        folder.sync()

    def _prepare(self) -> None:
        self._tree.make_root()
        if not self._swept:
            self._temporary.sweep()
            self._swept = True

    # Reading.

    def _etag(self, path: _Path) -> str | None:
        with self._tree.reading(path.folder) as folder:
            status = None if folder is None else status_of(folder, path.name)
        return None if status is None else etag_of(status)

    def _found(self, content: FileContent | None) -> Found | Missing:
        if content is None or content.body is None:
            return Missing(self._clock.now())
        status = content.status
        return Found(content.body, etag_of(status), modified_at(status), self._clock.now())

    def _pages(self, prefix: str, found: Iterator[Entry | str], size: int) -> Iterator[Page]:
        first = True
        while True:
            with _reading(prefix):
                items = list(islice(found, size))
            if not items and not first:
                return
            entries = tuple(item for item in items if isinstance(item, Entry))
            yield Page(entries, tuple(item for item in items if isinstance(item, str)), self._clock.now())
            first = False

    def _all_versions(self, prefix: str) -> Iterator[Version]:
        with _reading(prefix):
            yield from self._versions.all(prefix)

    def _now_ns(self) -> int:
        return (self._clock.now() - EPOCH) // timedelta(microseconds=1) * 1_000


@dataclass(frozen=True, slots=True)
class _Path:
    """Where a key's file is: its name, and those of the folders from the root on."""

    key: str
    segments: Names
    folder: Names
    name: str


def _path_of(key: str) -> _Path:
    segments = segments_of(key)
    *folder, name = map(name_of, segments)
    return _Path(key, segments, tuple(folder), name)


def _admit_first(there: str | None) -> Lost | None:
    return None if there is None else Lost()


def _admit_over(expected: str) -> Admission:
    def admit(there: str | None) -> Lost | Gone | None:
        if there is None:
            return Gone()
        return None if there == expected else Lost()

    return admit


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        raise StoreUnavailable(logged(f"nothing was written: {_cause(failure)}")) from failure


@contextmanager
def _reading(what: str) -> Iterator[None]:
    try:
        yield
    except FileTooLarge as failure:
        raise ObjectTooLarge(what) from failure
    except LockBusy as failure:
        raise StoreUnavailable(logged("a lock was held too long")) from failure
    except OSError as failure:
        raise StoreUnavailable(logged(_cause(failure))) from failure


def _cause(failure: OSError) -> str:
    return failure.strerror or str(failure)
