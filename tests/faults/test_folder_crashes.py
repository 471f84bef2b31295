"""A process that dies at any step of a write to a folder store leaves the old object or the new one, whole.

Each write runs in a child that ends itself, without any cleaning up, at its first, second, … call that makes,
names, dates or removes a file or folder, until it gets through.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.system_clock import SystemClock
from lodestore.ports.object_store import Found, Missing, ObjectStore, Won
from tests.contracts.test_object_listings import entries_of
from tests.contracts.test_object_versions import bodies_of

KEY = "memories/acme/note-7.json"
OLD = b"old" * 1000
NEW = b"new!" * 2000
DIED = 77
CHANGES = frozenset({"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.utime"})
MOST_STEPS = 200

Act = Callable[[FolderStore], object]


def create(store: FolderStore) -> object:
    return store.create(KEY, NEW)


def replace(store: FolderStore) -> object:
    found = store.get(KEY)
    assert isinstance(found, Found)
    return store.replace(KEY, NEW, expected=found.etag)


def delete(store: FolderStore) -> object:
    store.delete(KEY)
    return None


def remove_the_latest(store: FolderStore) -> object:
    store.delete_version(KEY, next(store.versions(KEY)).version_id)
    return None


def dies_at(step: int, act: Act, store: FolderStore) -> bool:
    """Runs the act in a child that dies at this step; False where it got through before."""
    child = os.fork()
    if child == 0:
        taken = 0

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal taken
            makes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
            taken += event in CHANGES or bool(makes)
            if taken >= step:
                os._exit(DIED)

        sys.addaudithook(count)
        act(store)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, DIED)
    return code == DIED


def content_of(store: ObjectStore) -> bytes | None:
    found = store.get(KEY)
    entries = entries_of(store.list("memories/acme/"))
    if isinstance(found, Missing):
        assert entries == []
        return None
    assert isinstance(found, Found)
    assert [(entry.etag, entry.size) for entry in entries] == [(found.etag, len(found.body))]
    return found.body


def prepared(root: Path, *bodies: bytes) -> FolderStore:
    store = FolderStore(root, SystemClock(), versioned=True)
    for body in bodies:
        found = store.get(KEY)
        if isinstance(found, Found):
            store.replace(KEY, body, expected=found.etag)
        else:
            store.create(KEY, body)
    return store


@pytest.mark.promise("P-DURABLE")
@pytest.mark.parametrize(
    ("act", "before", "after"),
    [
        (create, (), (None, NEW)),
        (replace, (OLD,), (OLD, NEW)),
        (delete, (OLD,), (OLD, None)),
        (remove_the_latest, (OLD, NEW), (NEW, OLD)),
        (remove_the_latest, (OLD,), (OLD, None)),
    ],
)
def test_a_death_at_any_step_leaves_the_old_object_or_the_new(
    tmp_path: Path, act: Act, before: tuple[bytes, ...], after: tuple[bytes | None, ...]
) -> None:
    seen = set()
    died, step = True, 0
    for step in range(1, MOST_STEPS):
        root = tmp_path / str(step)
        prepared(root, *before)
        died = dies_at(step, act, FolderStore(root, SystemClock(), versioned=True))
        store = FolderStore(root, SystemClock(), versioned=True)
        content = content_of(store)
        seen.add(content)
        versions = bodies_of(store, list(store.versions(KEY)))
        assert content is None or versions[0] == content
        assert set(versions) <= {OLD, NEW}
        assert len(set(versions)) == len(versions)
        if act is replace or act is delete:
            assert OLD in versions
        assert_goes_on(root, store)
        if not died:
            break
    assert not died
    assert step > 3
    assert seen == set(after)


def assert_goes_on(root: Path, store: FolderStore) -> None:
    """The dead process holds nothing up, and what it left half done is swept by the next writer."""
    outcomes = []
    for _ in range(2):  # sweeping a second name of the object changes its ETag once
        found = store.get(KEY)
        if isinstance(found, Found):
            outcomes.append(store.replace(KEY, b"next", expected=found.etag))
        else:
            outcomes.append(store.create(KEY, b"next"))
    assert isinstance(outcomes[1], Won)
    assert content_of(store) == b"next"
    assert list((root / ".temp").iterdir()) == []
