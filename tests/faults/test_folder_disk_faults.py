"""A disk that fails under a folder store: what was refused is told from what may have happened."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.folder_store_locks import FolderLocks
from lodestore.adapters.folder_store_tree import FolderTree
from lodestore.adapters.system_clock import SystemClock
from lodestore.ports.object_store import Found, Missing, StoreUnavailable, Unknown, Won
from tests.contracts.test_object_reads import etag_of

KEY = "memories/acme/note-7.json"


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    store = FolderStore(tmp_path / "state", SystemClock(), versioned=False)
    assert isinstance(store.create(KEY, b"old"), Won)
    return store


def failing(real: Callable[..., object], code: int, *, after: int = 0) -> Callable[..., object]:
    """The real call, and from its `after` + 1st use on an error instead."""
    left = after

    def call(*arguments: object, **names: object) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **names)

    return call


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("name", "code"), [("write", errno.ENOSPC), ("fsync", errno.EIO), ("link", errno.EDQUOT)]
)
def test_a_disk_that_takes_no_more_refuses_says_why_in_the_log_and_nothing_is_written(
    store: FolderStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    code: int,
) -> None:
    monkeypatch.setattr(os, name, failing(getattr(os, name), code))
    with pytest.raises(StoreUnavailable, match=f"nothing was written: {os.strerror(code)}"):
        store.create("memories/acme/new.json", b"new")
    monkeypatch.undo()
    (line,) = caplog.messages
    assert os.strerror(code) in line
    assert "acme" not in line
    assert isinstance(store.get("memories/acme/new.json"), Missing)
    assert isinstance(store.create("memories/acme/new.json", b"new"), Won)


def test_a_failed_last_flush_leaves_open_if_the_write_will_last(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = etag_of(store, KEY)
    monkeypatch.setattr(os, "fsync", failing(os.fsync, errno.EIO, after=1))
    assert store.replace(KEY, b"new", expected=held) == Unknown(os.strerror(errno.EIO))
    monkeypatch.undo()
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"new"


def test_every_answered_write_was_flushed_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{handle}").readlink().relative_to(tmp_path)))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    store = FolderStore(tmp_path / "state", SystemClock(), versioned=True)
    store.create(KEY, b"1")
    above_the_root, body, *folders = flushed
    assert above_the_root == "."
    assert body.startswith("state/.temp/")
    assert sorted(folders) == ["state", "state/memories", "state/memories/acme"]
    flushed.clear()
    store.create(f"{KEY}x", b"1")
    assert flushed[1:] == ["state/memories/acme"]
    flushed.clear()
    store.replace(KEY, b"2", expected=etag_of(store, KEY))
    kept = "state/.versions/memories/acme/note-7.json"
    assert flushed[1] == kept
    assert flushed[-1] == "state/memories/acme"
    flushed.clear()
    store.delete(KEY)
    assert {kept, "state/memories/acme"} <= set(flushed)


def test_a_file_system_with_coarse_times_is_refused(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.utime

    def utime(handle: int, *, ns: tuple[int, int]) -> None:
        real(handle, ns=(ns[0], ns[1] - ns[1] % 10**9))

    monkeypatch.setattr(os, "utime", utime)
    with pytest.raises(StoreUnavailable, match="file times"):
        store.create("memories/acme/new.json", b"new")
    assert isinstance(store.get("memories/acme/new.json"), Missing)


def test_a_reader_gets_one_whole_content_of_a_file_that_is_saved_in_place(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state" / KEY
    real = os.read

    def read_and_save_again(handle: int, size: int) -> bytes:
        body = real(handle, size)
        monkeypatch.setattr(os, "read", real)
        path.write_bytes(b"saved meanwhile")
        return body

    monkeypatch.setattr(os, "read", read_and_save_again)
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"saved meanwhile"
    assert found.etag == etag_of(store, KEY)


@pytest.mark.promise("P-BOUNDED")
def test_a_file_that_never_stands_still_is_not_read_for_ever(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state" / KEY
    real = os.read

    def read_and_grow(handle: int, size: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"more")
        return real(handle, size)

    monkeypatch.setattr(os, "read", read_and_grow)
    with pytest.raises(StoreUnavailable, match="changed in place"):
        store.get(KEY)


def test_empty_folders_are_removed_and_the_first_level_stays(store: FolderStore, tmp_path: Path) -> None:
    for hour in range(24):
        key = f"due/2026-11-29T{hour:02}/acme"
        store.create(key, b"")
        store.delete(key)
    assert list((tmp_path / "state/due").iterdir()) == []
    assert (tmp_path / "state/memories/acme").is_dir()
    versioned = FolderStore(tmp_path / "state", SystemClock(), versioned=True)
    versioned.replace(KEY, b"2", expected=etag_of(store, KEY))
    for version in list(versioned.versions("")):
        versioned.delete_version(version.key, version.version_id)
    assert list((tmp_path / "state/.versions").iterdir()) == []
    assert list((tmp_path / "state/memories").iterdir()) == []


def test_an_empty_folder_is_not_removed_under_a_writer_that_is_about_to_use_it(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "state"
    other = FolderTree(root, FolderLocks(root / ".locks"))
    folder = ("due", "2026-11-29t12")
    real = os.link

    def remove_and_link(source: str, name: str, *, dst_dir_fd: int, follow_symlinks: bool) -> None:
        other.prune(folder)
        real(source, name, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "link", remove_and_link)
    assert isinstance(store.create("due/2026-11-29t12/acme", b""), Won)
    monkeypatch.undo()
    assert isinstance(store.get("due/2026-11-29t12/acme"), Found)
    (root / "due/2026-11-29t12/acme").unlink()
    other.prune(("due", "another"))  # what could not be removed then is tried again
    assert list((root / "due").iterdir()) == []


def test_a_lock_file_that_was_written_by_half_counts_as_new(store: FolderStore, tmp_path: Path) -> None:
    for path in (tmp_path / "state/.locks").iterdir():
        path.write_bytes(b"17964\0\xff")
    held = etag_of(store, KEY)
    assert isinstance(store.replace(KEY, b"new", expected=held), Won)
    assert etag_of(store, KEY) != held


@pytest.mark.parametrize("place", ["state", "state/.locks", "state/.temp", "state/memories"])
def test_a_file_where_the_store_needs_a_folder_is_no_answer_about_an_object(
    tmp_path: Path, place: str
) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"in the way")
    store = FolderStore(tmp_path / "state", SystemClock(), versioned=True)
    with pytest.raises(StoreUnavailable):
        store.create(KEY, b"1")
    assert path.read_bytes() == b"in the way"


def test_a_temporary_file_that_cannot_be_removed_does_not_undo_the_answer(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "unlink", failing(Path.unlink, errno.EIO))
    assert isinstance(store.create("memories/acme/new.json", b"new"), Unknown)
    assert isinstance(store.replace(KEY, b"new", expected=etag_of(store, KEY)), Won)
    monkeypatch.undo()
    assert isinstance(store.get("memories/acme/new.json"), Found)
