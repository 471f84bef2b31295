"""The locks of a folder store: between threads and processes alike, and gone with the process that held them.

Owns: three kinds of `flock` files below `.locks/`, a bounded number of each:
    key-XX     held alone by a conditional write or a delete of a key. It also keeps the stripe's last stamp
    names-XX   held shared while a folder's names are read, alone for the moment of renaming over one of them:
               on some file systems (tmpfs is one) a listing otherwise lacks a name that is being replaced
    tree       held shared while a name goes in, alone while empty folders are removed. It counts the removals
Guarantees: each waits LOCK_SECONDS at most, then raises `LockBusy`: a process stopped in the middle can't
stop the others for ever. Order: key, tree, names; nothing takes them the other way round. A stamp
(nanoseconds, for a file's modification time) is above every earlier one of its key, though the clock stand
still, step back, or the object be deleted in between. What a killed process left half-written in a lock
file is read as nothing.
Gives up: fairness, and network file systems without `flock`. Waits are real time, not the injected clock's:
the holder is a real process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

LOCK_SECONDS = 5.0
POLL_SECONDS = 0.001
KEY_STRIPES = 256
NAMES_STRIPES = 64

# A tick that every file system kept to (NTFS: 100 ns) stores exactly.
TICK_NS = 1_000
# A stamp further ahead than this stems from a clock since corrected; it is no bound for new ones.
REACH_NS = 3_600 * 10**9

STAMP_BYTES = 32


class LockBusy(Exception):
    """Someone else held the lock for LOCK_SECONDS."""


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock file that this thread holds open. A number is kept in it, 0 at first."""

    handle: int

    def number(self) -> int:
        """The number last written."""
        text = os.pread(self.handle, STAMP_BYTES, 0).strip(b"\0\n ")
        return int(text) if text.isdigit() else 0

    def write(self, number: int) -> None:
        """Keep a number; not synced: after a power failure the clock has moved on anyway."""
        os.pwrite(self.handle, f"{number:<{STAMP_BYTES}}".encode("ascii"), 0)

    def next_stamp(self, now_ns: int) -> int:
        """A modification time for the key's next file: `now_ns` where that is above the last one."""
        last = self.number()
        usable = last if last - now_ns < REACH_NS else 0
        stamp = max(now_ns - now_ns % TICK_NS, usable + TICK_NS)
        self.write(stamp)
        return stamp


class FolderLocks:
    """The lock files of one store. Every hold opens its file anew, so threads exclude each other too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def key(self, key: str) -> Iterator[HeldLock]:
        """Alone on the key. Raises LockBusy."""
        with self._hold(f"key-{_stripe(key, KEY_STRIPES):02x}", fcntl.LOCK_EX) as lock:
            yield lock

    @contextmanager
    def names(self, folder: tuple[str, ...], *, alone: bool) -> Iterator[None]:
        """On the names of one folder, to read them or (alone) to rename over one. Raises LockBusy."""
        operation = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        with self._hold(f"names-{_stripe('/'.join(folder), NAMES_STRIPES):02x}", operation):
            yield

    @contextmanager
    def tree(self, *, alone: bool, seconds: float | None = None) -> Iterator[HeldLock]:
        """On the folders' own existence; its number counts the removals. Raises LockBusy."""
        with self._hold("tree", fcntl.LOCK_EX if alone else fcntl.LOCK_SH, seconds) as lock:
            yield lock

    @contextmanager
    def _hold(self, name: str, operation: int, seconds: float | None = None) -> Iterator[HeldLock]:
        handle = self._open(name)
        try:
            _wait_for(handle, operation, LOCK_SECONDS if seconds is None else seconds)
            yield HeldLock(handle)
        finally:
            os.close(handle)

    def _open(self, name: str) -> int:
        path = self._folder / name
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(path, flags, 0o600)


def _wait_for(handle: int, operation: int, seconds: float) -> None:
    pause = threading.Event()
    for _ in range(int(seconds / POLL_SECONDS)):
        try:
            fcntl.flock(handle, operation | fcntl.LOCK_NB)
        except OSError as failure:
            if failure.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            pause.wait(POLL_SECONDS)
        else:
            return
    raise LockBusy


def _stripe(text: str, stripes: int) -> int:
    return int.from_bytes(blake2b(text.encode("ascii"), digest_size=4).digest()) % stripes
