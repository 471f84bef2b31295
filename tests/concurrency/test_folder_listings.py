"""Listings of a folder store while its objects are replaced, on file systems that do not promise them.

On tmpfs, for one, reading a large folder's names misses a name that is renamed over meanwhile.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.system_clock import SystemClock
from lodestore.ports.object_store import Found, Won
from tests.contracts.test_object_listings import keys_of

MEMORY = Path("/dev/shm")  # tmpfs, where the machine has it
CROWD = 3000
LISTINGS = 15


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    if not MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_no_object_is_missing_from_a_listing_while_it_is_being_replaced(folder: Path) -> None:
    store = FolderStore(folder, SystemClock(), versioned=False)
    keys = [f"memories/acme/{number:04}" for number in range(CROWD)]
    for key in keys:
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0")
    done = threading.Event()

    def replace(first: int) -> int:
        replaced = 0
        while not done.is_set():
            key = keys[(first + replaced * 7) % CROWD]
            found = store.get(key)
            assert isinstance(found, Found)
            assert isinstance(store.replace(key, b"%d" % replaced, expected=found.etag), Won)
            replaced += 1
        return replaced

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(replace, first) for first in (0, 1)]
        try:
            lacking = [CROWD - len(set(keys_of(store.list("memories/acme/")))) for _ in range(LISTINGS)]
        finally:
            done.set()
        assert all(writer.result() > 0 for writer in writers)
    assert lacking == [0] * LISTINGS
