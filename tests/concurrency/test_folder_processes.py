"""Processes that share one folder, stop, or are killed in the middle of a write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from lodestore.adapters import folder_store_locks
from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.folder_store_files import TemporaryFiles
from lodestore.adapters.system_clock import SystemClock
from lodestore.ports.object_store import Contended, Found, ObjectStore, Version, Won
from tests.concurrency.folder_writer import KEYS, number_in
from tests.contracts.test_object_listings import entries_of
from tests.structure.source_tree import CORE, ROOT

PROCESSES = 4
STEPS = 50
KEY = "counts/acme/snapshot.json"


@contextmanager
def writer(folder: Path, *task: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of `folder_writer`; killed at the end if it still runs."""
    command = [sys.executable, "-m", "tests.concurrency.folder_writer", str(folder), *task]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(CORE)))}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_of(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def folder_store(folder: Path) -> ObjectStore:
    return FolderStore(folder, SystemClock(), versioned=True)


def number_of(store: ObjectStore, version: Version) -> int:
    found = store.get_version(version.key, version.version_id)
    assert isinstance(found, Found)
    return number_in(version.key, found.body)


def number_at(store: ObjectStore, key: str) -> int:
    found = store.get(key)
    return number_in(key, found.body) if isinstance(found, Found) else 0


@pytest.mark.case("B16")
@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_four_processes_of_fifty_increments_count_to_two_hundred(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    store.create(KEY, b"0")
    with ExitStack() as running:
        task = ("count", KEY, str(STEPS))
        processes = [running.enter_context(writer(tmp_path, *task)) for _ in range(PROCESSES)]
        assert [process.wait() for process in processes] == [0] * PROCESSES
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert int(found.body) == PROCESSES * STEPS


@pytest.mark.promise("P-DURABLE")
def test_what_a_killed_process_answered_is_there_and_whole(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    answered: set[tuple[str, int]] = set()
    for kill_after in (1, 2, 7, 23, 50):
        before = {key: number_at(store, key) for key in KEYS}
        last: dict[str, int] = {}
        with writer(tmp_path, "write") as process:
            lines = [lines_of(process).readline() for _ in range(kill_after)]
            process.kill()
            lines += lines_of(process).readlines()
        for line in lines:
            key, number = line.decode().split()
            last[key] = int(number)
            answered.add((key, int(number)))
        for place, key in enumerate(KEYS):
            # The write that the kill met may have been done before it could be answered.
            following = last[key] + len(KEYS) if key in last else place or len(KEYS)
            assert number_at(store, key) in (last.get(key, before[key]), following)
    assert answered <= {(version.key, number_of(store, version)) for version in store.versions("memories/")}
    assert {entry.key for entry in entries_of(store.list("memories/acme/"))} == set(KEYS)


@pytest.mark.promise("P-DURABLE")
def test_a_killed_process_leaves_no_lock_and_no_litter(tmp_path: Path) -> None:
    with writer(tmp_path, "write") as process:
        lines_of(process).readline()
        process.kill()
    store = folder_store(tmp_path)
    for key in KEYS:
        found = store.get(key)
        outcome = (
            store.replace(key, b"next", expected=found.etag)
            if isinstance(found, Found)
            else store.create(key, b"next")
        )
        assert isinstance(outcome, Won)
    assert list((tmp_path / ".temp").iterdir()) == []


@pytest.mark.promise("P-BOUNDED")
def test_a_process_that_was_stopped_in_a_write_holds_up_no_other_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_store_locks, "LOCK_SECONDS", 0.1)
    store = folder_store(tmp_path)
    with writer(tmp_path, "hold", KEY) as process:
        assert lines_of(process).readline() == b"held\n"
        assert store.create(KEY, b"1") == Contended()
        assert isinstance(store.create("counts/zephyr/snapshot.json", b"1"), Won)
    assert isinstance(store.create(KEY, b"1"), Won)


def test_a_writer_leaves_the_temporary_files_of_living_writers_alone(tmp_path: Path) -> None:
    own, other = TemporaryFiles(tmp_path / ".temp"), TemporaryFiles(tmp_path / ".temp")
    with own.written(b"in the making") as file:
        assert other.sweep() == 0
        assert Path(file.path).read_bytes() == b"in the making"
    left = tmp_path / ".temp" / "left"
    left.write_bytes(b"of a killed process")
    assert other.sweep() == 1
    assert not left.exists()
