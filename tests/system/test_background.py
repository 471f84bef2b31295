"""What runs beside the server: changes reach the indexer, the timer reaches maintenance, failures stop neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from local_runner import background as background_module
from local_runner.background import Background, Feed, repeat
from local_runner.changes import ChangeSource, FolderChanges
from local_runner.delivery import ChangeQueue
from local_runner.function_table import Function, InvocationContext
from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.system_clock import SystemClock
from lodestore.format import keys
from lodestore.format.keys import MemoryName
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.events import EventSource, parse_batch

SOURCE = EventSource("folder")
EVERY = 0.05
WAIT_SECONDS = 30.0
ONE, TWO, THREE = (MemoryName("acme", name) for name in ("one", "two", "three"))


class Indexer:
    """Notes what it is told, and lets a test wait for it."""

    def __init__(self) -> None:
        self.names: list[MemoryName] = []
        self.expected: set[MemoryName] = set()
        self.complete = Event()
        self.fail_first = False

    def expect(self, *names: MemoryName) -> None:
        self.complete.clear()
        self.names.clear()
        self.expected = set(names)

    def __call__(self, event: dict[str, object], _context: InvocationContext) -> object:
        if self.fail_first:
            self.fail_first = False
            raise RuntimeError("broken")
        self.names += [name for notice in parse_batch(event, SOURCE) for name in notice.names]
        if self.expected <= set(self.names):
            self.complete.set()
        return {"batchItemFailures": []}


class Told:
    """A source that tells what a test gives it, and fails where it says so."""

    def __init__(self, stored: list[MemoryName], *ticks: tuple[MemoryName, ...] | Exception) -> None:
        self.stored = stored
        self.ticks: Iterator[tuple[MemoryName, ...] | Exception] = iter(ticks)
        self.scan_failures = 0

    def changes(self, stop: Event) -> Iterator[tuple[MemoryName, ...]]:
        yield ()
        while not stop.is_set():
            tick = next(self.ticks, ())
            if isinstance(tick, Exception):
                raise tick
            yield tick
            stop.wait(EVERY)

    def everything(self) -> Iterator[MemoryName]:
        if self.scan_failures:
            self.scan_failures -= 1
            raise StoreUnavailable("gone")
        yield from self.stored


@pytest.fixture
def indexer() -> Indexer:
    return Indexer()


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, indexer: Indexer) -> Iterator[Callable[[ChangeSource], None]]:
    monkeypatch.setattr(background_module, "RESTART_SECONDS", EVERY)
    beside = Background()

    def begin(source: ChangeSource) -> None:
        clock = SystemClock()
        queue = ChangeQueue(Function("changes", indexer), SOURCE, clock=clock)
        beside.start("changes", Feed(source, queue, clock=clock, every=EVERY).run)

    yield begin
    beside.end()


def test_what_stood_there_at_the_start_and_what_changes_then_reach_the_indexer(
    start: Callable[[ChangeSource], None], indexer: Indexer
) -> None:
    indexer.expect(ONE, TWO)
    start(Told([ONE], (TWO,)))
    assert indexer.complete.wait(WAIT_SECONDS)


def test_a_real_folder_s_changes_reach_the_indexer_though_data_is_a_relative_path(
    start: Callable[[ChangeSource], None], indexer: Indexer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = FolderStore(Path("data/state"), SystemClock(), versioned=True)
    indexer.expect(ONE)
    store.create(keys.memory(ONE.tenant, ONE.id), b"{}")
    start(FolderChanges(store, store, every=EVERY))
    assert indexer.complete.wait(WAIT_SECONDS)
    indexer.expect(TWO)
    store.create(keys.memory(TWO.tenant, TWO.id), b"{}")
    assert indexer.complete.wait(WAIT_SECONDS)


def test_an_indexer_that_fails_gets_the_same_names_again(
    start: Callable[[ChangeSource], None], indexer: Indexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_runner.delivery.RETRY_SECONDS", EVERY)
    indexer.fail_first = True
    indexer.expect(ONE)
    start(Told([], (ONE,)))
    assert indexer.complete.wait(WAIT_SECONDS)


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_source_that_breaks_is_begun_anew_with_a_scan(
    start: Callable[[ChangeSource], None], indexer: Indexer, caplog: pytest.LogCaptureFixture
) -> None:
    indexer.expect(ONE, TWO, THREE)
    source = Told([ONE, TWO], OSError("too many watches"), (THREE,))
    start(source)
    assert indexer.complete.wait(WAIT_SECONDS)
    assert indexer.names.count(TWO) == 2
    assert "OSError" in caplog.text


def test_a_scan_that_fails_is_made_again(
    start: Callable[[ChangeSource], None], indexer: Indexer, caplog: pytest.LogCaptureFixture
) -> None:
    source = Told([ONE])
    source.scan_failures = 2
    indexer.expect(ONE)
    start(source)
    assert indexer.complete.wait(WAIT_SECONDS)
    assert "could not be scanned" in caplog.text


@pytest.mark.promise("P-SILENT-NEVER")
def test_changes_that_do_not_fit_the_queue_are_found_by_a_scan(
    start: Callable[[ChangeSource], None],
    indexer: Indexer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("local_runner.delivery.WAITING_MOST", 2)
    monkeypatch.setattr("local_runner.background.BATCH_MOST", 1)
    source = Told([])

    def burst() -> Iterator[tuple[MemoryName, ...]]:
        source.stored += [ONE, TWO, THREE]
        yield ONE, TWO, THREE

    source.ticks = burst()
    indexer.expect(ONE, TWO, THREE)
    start(source)
    assert indexer.complete.wait(WAIT_SECONDS)
    assert "more changes than can wait" in caplog.text


def test_the_timer_invokes_maintenance_again_and_again_though_it_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    events: list[dict[str, Any]] = []
    stop = Event()

    def maintenance(event: dict[str, object], _context: InvocationContext) -> object:
        events.append(cast("dict[str, Any]", event))
        if len(events) == 3:
            stop.set()
        raise RuntimeError("the name of a tenant")

    repeat(Function("schedule", maintenance), 0.001, {"task": "dispatch"}, stop)
    assert events == [{"task": "dispatch"}] * 3
    assert "RuntimeError" in caplog.text
    assert "tenant" not in caplog.text
