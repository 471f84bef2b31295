"""What a person and other programs may do in the folder of a store, and what they may not."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.adapters.folder_store import FolderStore
from lodestore.ports.object_store import Found, Gone, Lost, Missing, StoreUnavailable, Won
from tests.contracts.test_object_listings import keys_of
from tests.contracts.test_object_reads import etag_of
from tests.stores.still_clock import StillClock

KEY = "memories/acme/note-7.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "state"


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def store(root: Path, clock: StillClock) -> FolderStore:
    return FolderStore(root, clock, versioned=True)


def put_by_hand(root: Path, key: str, body: bytes) -> Path:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def test_a_memory_lies_where_a_person_looks_for_it(root: Path, store: FolderStore) -> None:
    store.create(KEY, b"{}\n")
    assert (root / "memories" / "acme" / "note-7.json").read_bytes() == b"{}\n"
    assert store.key_of(str(root / KEY)) == KEY


def test_reading_makes_no_folder(root: Path, store: FolderStore) -> None:
    assert isinstance(store.get(KEY), Missing)
    assert store.replace(KEY, b"", expected="x") == Gone()
    assert keys_of(store.list("")) == []
    store.delete(KEY)
    assert not root.exists()


def test_a_file_put_there_by_hand_is_an_object(root: Path, store: FolderStore) -> None:
    put_by_hand(root, KEY, b"by hand")
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"by hand"
    assert keys_of(store.list("memories/acme/")) == [KEY]
    assert store.create(KEY, b"") == Lost()
    assert isinstance(store.replace(KEY, b"ours", expected=found.etag), Won)
    assert [version.latest for version in store.versions(KEY)] == [True, False]


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("in_place", [True, False])
def test_an_edit_by_hand_is_never_overwritten_unseen(root: Path, store: FolderStore, in_place: bool) -> None:
    store.create(KEY, b"1234")
    held = etag_of(store, KEY)
    path = root / KEY
    if in_place:
        path.write_bytes(b"4321")
    else:
        (root / "saved").write_bytes(b"4321")
        (root / "saved").rename(path)
    assert store.replace(KEY, b"late", expected=held) == Lost()
    found = store.get(KEY, known_etag=held)
    assert isinstance(found, Found)
    assert found.body == b"4321"


def test_an_edit_that_sets_the_time_back_shows_all_the_same(root: Path, store: FolderStore) -> None:
    store.create(KEY, b"1234")
    held = etag_of(store, KEY)
    before = (root / KEY).stat()
    (root / KEY).write_bytes(b"4321")
    os.utime(root / KEY, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (root / KEY).stat().st_ino == before.st_ino
    assert store.replace(KEY, b"late", expected=held) == Lost()


def test_what_is_no_keys_file_is_passed_over(root: Path, store: FolderStore) -> None:
    store.create(KEY, b"1")
    for name in (
        ".DS_Store",
        "Note.json",
        "n\u00f6te.json",
        "a b",
        "con.json",
        "x^0.json",
        "note.json.",
        "n\u0308",
    ):
        put_by_hand(root, f"memories/acme/{name}", b"")
        assert store.key_of(str(root / "memories/acme" / name)) is None
    (root / "memories" / "Acme").mkdir()
    os.mkfifo(root / "memories/acme/pipe")
    assert keys_of(store.list("")) == [KEY]
    assert isinstance(store.get("memories/acme/pipe"), Missing)


def test_what_the_store_keeps_for_itself_is_no_object(root: Path, store: FolderStore) -> None:
    store.create(KEY, b"1")
    store.replace(KEY, b"2", expected=etag_of(store, KEY))
    own = [path for path in root.rglob("*") if path.is_file() and path != root / KEY]
    assert {path.relative_to(root).parts[0] for path in own} == {".locks", ".versions"}
    assert [store.key_of(str(path)) for path in own] == [None] * len(own)
    assert [store.key_of(path) for path in (str(root), "/", "elsewhere/x", "")] == [None] * 4
    assert [prefix for page in store.list("", delimiter="/") for prefix in page.prefixes] == ["memories/"]


@pytest.mark.promise("P-TENANT")
def test_a_symbolic_link_is_never_followed_out_of_the_folder(root: Path, store: FolderStore) -> None:
    outside = root.parent / "outside"
    put_by_hand(outside, "secret.json", b"secret")
    store.create(KEY, b"1")
    (root / "memories/acme/link.json").symlink_to(outside / "secret.json")
    (root / "memories/linked").symlink_to(outside)
    assert keys_of(store.list("memories/")) == [KEY]
    writes: tuple[Callable[[str], object], ...] = (
        lambda key: store.create(key, b"2"),
        lambda key: store.replace(key, b"2", expected="x"),
        store.delete,
    )
    for key in ("memories/acme/link.json", "memories/linked/secret.json"):
        for write in writes:
            with pytest.raises(StoreUnavailable):
                write(key)
    assert isinstance(store.get("memories/acme/link.json"), Missing)
    with pytest.raises(StoreUnavailable):
        store.get("memories/linked/secret.json")
    with pytest.raises(StoreUnavailable, match="link"):
        list(store.list("memories/linked/"))
    assert [path.read_bytes() for path in outside.iterdir()] == [b"secret"]


def test_a_key_where_a_folder_is_writes_nothing(store: FolderStore) -> None:
    store.create(KEY, b"1")
    assert isinstance(store.get("memories/acme"), Missing)
    assert isinstance(store.get(f"{KEY}/below"), Missing)
    for key in ("memories/acme", f"{KEY}/below"):
        with pytest.raises(StoreUnavailable, match="nothing was written"):
            store.create(key, b"2")
    assert keys_of(store.list("")) == [KEY]


def test_etags_never_repeat_though_the_clock_stands_still(store: FolderStore) -> None:
    etags = []
    for number in range(20):
        created = store.create(KEY, b"%02d" % number)
        assert isinstance(created, Won)
        replaced = store.replace(KEY, b"%02d" % (number + 20), expected=created.etag)
        assert isinstance(replaced, Won)
        etags += [created.etag, replaced.etag]
        store.delete(KEY)
    assert len(set(etags)) == 40


def test_the_time_of_an_object_is_the_clocks_and_never_falls(store: FolderStore, clock: StillClock) -> None:
    times = []
    for step in (
        timedelta(0),
        timedelta(0),
        timedelta(minutes=-5),
        timedelta(seconds=-1),
        timedelta(hours=1),
    ):
        clock.move(step)
        store.delete(KEY)
        store.create(KEY, b"")
        found = store.get(KEY)
        assert isinstance(found, Found)
        times.append(found.last_modified)
        assert found.at == clock.now()
    assert times == sorted(set(times))
    assert timedelta(0) <= times[-1] - clock.now() < timedelta(milliseconds=1)


def test_a_clock_that_was_far_ahead_once_does_not_date_all_later_objects(
    store: FolderStore, clock: StillClock
) -> None:
    clock.move(timedelta(days=365))
    store.create(KEY, b"1")
    held = etag_of(store, KEY)
    clock.move(timedelta(days=-365))
    assert isinstance(store.replace(KEY, b"2", expected=held), Won)
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert found.last_modified == clock.now()
    assert found.etag != held


def test_a_store_that_was_moved_is_still_whole(root: Path, store: FolderStore, clock: StillClock) -> None:
    store.create(KEY, b"1")
    store.replace(KEY, b"2", expected=etag_of(store, KEY))
    moved = root.rename(root.parent / "elsewhere")
    there = FolderStore(moved, clock, versioned=True)
    assert keys_of(there.list("")) == [KEY]
    assert len(list(there.versions(""))) == 2
    assert isinstance(there.replace(KEY, b"3", expected=etag_of(there, KEY)), Won)


def test_only_the_owner_may_read_what_the_store_writes(root: Path, store: FolderStore) -> None:
    store.create(KEY, b"1")
    assert [oct(path.stat().st_mode & 0o077) for path in (root, *root.rglob("*"))] == ["0o0"] * len(
        [root, *root.rglob("*")]
    )
