"""Changes are seen in a folder by the operating system's word, and in a bucket by its markers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from threading import Event

import pytest

from local_runner.changes import FULL_LISTING_SECONDS, FolderChanges, MarkerChanges
from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.system_clock import SystemClock
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.format import keys
from lodestore.format.keys import MemoryName
from tests.faults.hostile_store import Fault, FaultyStore, on

EVERY = 0.05
TICKS_MOST = 600


class MovableClock(SystemClock):
    """The machine's clock, and a test's own steps."""

    ahead = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.ahead)

    def elapsed(self) -> float:
        return super().elapsed() + self.ahead


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "state", SystemClock(), versioned=True)


@contextmanager
def watching(store: FolderStore) -> Iterator[Iterator[tuple[MemoryName, ...]]]:
    stop = Event()
    changes = FolderChanges(store, store, every=EVERY).changes(stop)
    next(changes)
    try:
        yield changes
    finally:
        stop.set()
        assert sum(1 for _ in islice(changes, TICKS_MOST)) < TICKS_MOST, "it did not end"


def seen(changes: Iterator[tuple[MemoryName, ...]], wanted: set[MemoryName]) -> set[MemoryName]:
    """Names until all that are wanted came, or ticks run out."""
    names: set[MemoryName] = set()
    for tick in islice(changes, TICKS_MOST):
        names.update(tick)
        if wanted <= names:
            break
    return names


def put(store: FolderStore, tenant: str, memory_id: str) -> MemoryName:
    store.create(keys.memory(tenant, memory_id), b"{}")
    return MemoryName(tenant, memory_id)


def test_an_object_written_by_the_store_is_seen_and_nothing_beside_it(store: FolderStore) -> None:
    put(store, "acme", "before")
    with watching(store) as changes:
        written = {put(store, "acme", "note-1"), put(store, "acme", "Note-1"), put(store, "Acme", "CON")}
        assert seen(changes, written) - {MemoryName("acme", "before")} == written


def test_a_replaced_object_is_seen_again(store: FolderStore) -> None:
    name = put(store, "acme", "x")
    answer = store.get(keys.memory("acme", "x"))
    with watching(store) as changes:
        store.replace(keys.memory("acme", "x"), b"{ }", expected=getattr(answer, "etag", ""))
        assert seen(changes, {name}) == {name}


def test_a_file_dropped_by_hand_and_one_removed_by_hand_are_seen(store: FolderStore) -> None:
    removed = put(store, "acme", "removed")
    folder = store.folder / keys.MEMORIES / "acme"
    with watching(store) as changes:
        (folder / "dropped.json").write_text("{}", encoding="utf-8")
        (folder / "removed.json").unlink()
        (folder / "notes.txt").write_text("not a memory", encoding="utf-8")
        wanted = {MemoryName("acme", "dropped"), removed}
        assert seen(changes, wanted) == wanted


def test_a_new_tenant_s_folder_brings_all_that_is_in_it(store: FolderStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for number in range(3):
        (elsewhere / f"n{number}.json").write_text("{}", encoding="utf-8")
    with watching(store) as changes:
        elsewhere.rename(store.folder / keys.MEMORIES / "zephyr")
        wanted = {MemoryName("zephyr", f"n{number}") for number in range(3)}
        assert seen(changes, wanted) == wanted


@pytest.mark.case("B89")
def test_what_is_written_to_the_index_or_beside_the_memories_tells_the_indexer_nothing(
    store: FolderStore, tmp_path: Path
) -> None:
    index = FolderStore(tmp_path / "index", SystemClock(), versioned=False)
    with watching(store) as changes:
        index.create(keys.counts_snapshot("acme"), b"{}")
        index.create(
            keys.pending("acme", next_revision(SystemClock().now(), None, bytes(RANDOM_BYTES)), "x"), b""
        )
        store.create(keys.tombstone("acme", "x"), b"{}")
        last = put(store, "acme", "last")
        assert seen(changes, {last}) == {last}


def test_everything_in_a_folder_is_every_memory_of_every_tenant(store: FolderStore) -> None:
    written = {put(store, "acme", "a"), put(store, "Acme", "a"), put(store, "acme-corp", "b")}
    assert set(FolderChanges(store, store, every=EVERY).everything()) == written


# Markers.


@pytest.fixture
def index(tmp_path: Path) -> FaultyStore:
    return FaultyStore(FolderStore(tmp_path / "index", SystemClock(), versioned=False))


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


def mark(index: FaultyStore, tenant: str, memory_id: str, at: datetime) -> MemoryName:
    revision = next_revision(at, None, bytes(RANDOM_BYTES))
    index.create(keys.pending(tenant, revision, memory_id), b"")
    return MemoryName(tenant, memory_id)


def source(index: FaultyStore, clock: MovableClock) -> Iterator[tuple[MemoryName, ...]]:
    return MarkerChanges(index, clock=clock, every=EVERY).changes(Event())


def test_each_marker_is_told_once(index: FaultyStore, clock: MovableClock) -> None:
    changes = source(index, clock)
    assert next(changes) == ()
    one, two = mark(index, "acme", "one", clock.now()), mark(index, "zephyr", "two", clock.now())
    assert seen(changes, {one, two}) == {one, two}
    three = mark(index, "acme", "three", clock.now())
    assert seen(changes, {three}) == {three}


def test_a_writer_that_lands_late_is_seen_though_others_came_before_it(
    index: FaultyStore, clock: MovableClock
) -> None:
    changes = source(index, clock)
    first = mark(index, "acme", "first", clock.now())
    assert seen(changes, {first}) == {first}
    late = mark(index, "acme", "late", clock.now() - timedelta(minutes=9))
    assert seen(changes, {late}) == {late}


def test_a_marker_of_a_clock_far_behind_is_seen_by_the_next_full_listing(
    index: FaultyStore, clock: MovableClock
) -> None:
    changes = source(index, clock)
    old = mark(index, "acme", "old", datetime(2020, 1, 1, tzinfo=UTC))
    new = mark(index, "acme", "new", clock.now())
    assert seen(changes, {new}) == {new}
    clock.ahead += FULL_LISTING_SECONDS
    assert seen(changes, {old}) == {old}


def test_a_listing_that_fails_is_made_again_and_loses_nothing(
    index: FaultyStore, clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    changes = source(index, clock)
    name = mark(index, "acme", "one", clock.now())
    index.inject(on(Fault.UNAVAILABLE, "list", times=3))
    assert seen(changes, {name}) == {name}
    assert "could not be listed" in caplog.text


@pytest.mark.promise("P-BOUNDED")
def test_markers_beyond_those_that_can_be_kept_in_mind_are_told_again(
    index: FaultyStore, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_runner.changes.SEEN_MOST", 1)
    changes = source(index, clock)
    names = {mark(index, "acme", "one", clock.now()), mark(index, "zephyr", "two", clock.now())}
    assert seen(changes, names) == names
    assert seen(changes, names) == names


def test_everything_in_a_bucket_is_every_marker_though_told_before(
    index: FaultyStore, clock: MovableClock
) -> None:
    markers = MarkerChanges(index, clock=clock, every=EVERY)
    names = {
        mark(index, "acme", "one", clock.now()),
        mark(index, "acme", "old", datetime(2020, 1, 1, tzinfo=UTC)),
    }
    assert set(markers.everything()) == names
    assert set(markers.everything()) == names
