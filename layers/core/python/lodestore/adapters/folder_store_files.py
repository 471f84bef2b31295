"""The files of a folder store: written whole, read whole, and told apart without reading them.

Owns: temporary files, reading one version of a file, flushing, and the ETag and version id of a file's
status.
Guarantees: a file is on the disk before its name is; what is read is the content that its ETag names, even
while the name is given to another file or an editor saves it in place. An ETag is made of the modification
time (which this store stamps, ever rising for a key), the change time (the kernel's own, which no editor or
archive tool can set), the inode and the size. So a body never comes back under an old ETag: not when an
inode is used again, not within one tick of a coarse kernel clock, not when a tool sets a file's time back.
Gives up: two edits by hand in place within one tick of the kernel's clock that leave the size alike. ETags
may change without a new content (a copied folder, `chmod`): readers read again, no more.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
READ_TRIES = 5
MAKE_TRIES = 5
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class FileTooLarge(Exception):
    """The file is over the reader's bound."""


class _ChangedInPlace(Exception):
    """An editor wrote into the file while it was read."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A regular file's status; `body` is None where the reader knew its ETag."""

    status: os.stat_result
    body: bytes | None


def etag_of(status: os.stat_result) -> str:
    """Names one content of one key; see the module."""
    return f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_ino:x}-{status.st_size:x}"


def modified_at(status: os.stat_result) -> datetime:
    """The modification time in UTC, to the microsecond."""
    return EPOCH + timedelta(microseconds=status.st_mtime_ns // 1_000)


def flush(handle: int) -> None:
    """Everything of a file or folder is on the disk when this returns."""
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone leaves it in the drive's cache
    if full_sync is not None:
        with contextlib.suppress(OSError):  # a file system without it
            fcntl.fcntl(handle, full_sync)
            return
    os.fsync(handle)


def names_in(folder: int) -> list[str]:
    """All names in an open folder, in no order."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def read_file(
    folder: int, name: str, *, known_etag: str | None = None, max_bytes: int | None = None
) -> FileContent | None:
    """One content of a file, with its status; None where there is no regular file (a folder or a link is none).

    Raises FileTooLarge, and OSError for a file that keeps changing in place.
    """
    for _ in range(READ_TRIES):
        try:
            handle = os.open(name, READ_FLAGS, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            # A symbolic link is never followed, and no object: listings pass over it too.
            if error.errno == errno.ELOOP:
                return None
            raise
        try:
            with contextlib.suppress(_ChangedInPlace):
                return _read_open_file(handle, known_etag, max_bytes)
        finally:
            os.close(handle)
    raise OSError("a file is being changed in place")


def status_of(folder: int, name: str) -> os.stat_result | None:
    """The status of a regular file; None where there is nothing. Raises OSError for anything else."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"not a file: {name}")
    return status


def _read_open_file(handle: int, known_etag: str | None, max_bytes: int | None) -> FileContent | None:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        return None
    if known_etag == etag_of(status):
        return FileContent(status, None)
    if max_bytes is not None and status.st_size > max_bytes:
        raise FileTooLarge
    body = _read_exactly(handle, status.st_size)
    after = os.fstat(handle)
    if (len(body), status.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise _ChangedInPlace
    return FileContent(status, body)


def _read_exactly(handle: int, size: int) -> bytes:
    chunks = []
    left = size
    while left > 0 and (chunk := os.read(handle, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


@dataclass(frozen=True, slots=True)
class TemporaryFile:
    """A body on the disk under a passing name."""

    path: str
    handle: int

    def stamp(self, modified_ns: int) -> None:
        """Set the modification time. Raises OSError where the file system keeps it too coarsely."""
        os.utime(self.handle, ns=(modified_ns, modified_ns))
        if os.fstat(self.handle).st_mtime_ns != modified_ns:
            raise OSError("the file system does not keep file times to the microsecond")

    def etag(self) -> str:
        """Of the file as it is now: to be asked once it has its last name."""
        return etag_of(os.fstat(self.handle))

    def remove(self) -> None:
        """Take the passing name away, if it is still this file's. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.lstat(self.path), os.fstat(self.handle)):
                Path(self.path).unlink()


class TemporaryFiles:
    """A store's folder of temporary files. Each is locked while its writer lives; what is not, is swept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def written(self, body: bytes) -> Iterator[TemporaryFile]:
        """The body, flushed; its passing name is gone at the end, wherever the file went. Raises OSError."""
        file = self._make()
        try:
            try:
                _write_all(file.handle, body)
                flush(file.handle)
                yield file
            finally:
                with contextlib.suppress(OSError):  # a sweep will take it
                    file.remove()
        finally:
            os.close(file.handle)

    def sweep(self) -> int:
        """Remove what killed writers left; the number of files."""
        try:
            paths = [entry.path for entry in os.scandir(self._folder)]
        except FileNotFoundError:
            return 0
        return sum(_remove_abandoned(path) for path in paths)

    def _make(self) -> TemporaryFile:
        for _ in range(MAKE_TRIES):
            try:
                handle, path = tempfile.mkstemp(prefix="", dir=self._folder)
            except FileNotFoundError:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                continue
            if _lock(handle) and os.fstat(handle).st_nlink:
                return TemporaryFile(path, handle)
            os.close(handle)  # a sweep came in between
        raise OSError("no temporary file could be made")


def _write_all(handle: int, body: bytes) -> None:
    left = memoryview(body)
    while left:
        left = left[os.write(handle, left) :]


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(path: str) -> bool:
    try:
        handle = os.open(path, READ_FLAGS)
    except OSError:
        return False
    try:
        if not _lock(handle):
            return False
        Path(path).unlink()
    except FileNotFoundError:
        return False
    finally:
        os.close(handle)
    return True
