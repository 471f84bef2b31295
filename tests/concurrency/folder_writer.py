"""A process of its own that writes to a folder store: `python -m tests.concurrency.folder_writer FOLDER TASK …`.

Owns: what the parent in `test_folder_processes` starts, and kills.
"""

from __future__ import annotations

import os
import signal
import sys
from hashlib import sha256
from itertools import count
from pathlib import Path

from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.folder_store_locks import FolderLocks
from lodestore.adapters.system_clock import SystemClock
from lodestore.ports.object_store import Found, ObjectStore, Won
from tests.concurrency.test_store_races import count_up

KEYS = tuple(f"memories/acme/{number}.json" for number in range(5))


def body_of(key: str, number: int) -> bytes:
    """A body of several kilobytes that proves itself whole: number, padding, and a digest over both."""
    text = f"{key} {number} {'x' * (2000 + number * 37 % 3000)} ".encode()
    return text + sha256(text).hexdigest().encode()


def number_in(key: str, body: bytes) -> int:
    """The number in a whole body. Raises ValueError for a torn or foreign one."""
    text, digest = body[:-64], body[-64:]
    name, number, _ = text.decode().split(" ", 2)
    if sha256(text).hexdigest().encode() != digest or name != key:
        raise ValueError("a torn or foreign body")
    return int(number)


def write_for_ever(store: ObjectStore) -> None:
    """Writes the next number to each key in turn, and says so on standard output once it was won."""
    for number in count(1):
        key = KEYS[number % len(KEYS)]
        found = store.get(key)
        body = body_of(key, number)
        outcome = (
            store.replace(key, body, expected=found.etag)
            if isinstance(found, Found)
            else store.create(key, body)
        )
        if isinstance(outcome, Won):
            os.write(1, f"{key} {number}\n".encode())


def hold_and_stop(folder: Path, key: str) -> None:
    """Takes the key's lock and stops, as by Ctrl-Z, without letting it go."""
    with FolderLocks(folder / ".locks").key(key):
        os.write(1, b"held\n")
        os.kill(os.getpid(), signal.SIGSTOP)


def main(folder: Path, task: str, *arguments: str) -> None:
    """One of the three tasks."""
    store = FolderStore(folder, SystemClock(), versioned=task == "write")
    if task == "write":
        write_for_ever(store)
    elif task == "count":
        count_up(store, int(arguments[1]), arguments[0])
    elif task == "hold":
        hold_and_stop(folder, arguments[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
