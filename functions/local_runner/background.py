"""What runs beside the server: the feed of changes to the indexer, and the timer of maintenance.

Owns: two threads and their end. Guarantees: neither ever stops the server, whatever its function or the store
does; the first full scan begins when watching has begun; a scan that failed, or did not fit the queue, is
made again.
Gives up: waiting at the end. What is not delivered when the server stops is found by the next start's scan.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import islice
from threading import Event, Thread

from local_runner.changes import ChangeSource
from local_runner.delivery import BATCH_MOST, ChangeQueue
from local_runner.function_table import Function
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import StoreUnavailable

RESTART_SECONDS = 5.0
END_SECONDS = 2.0

log = logging.getLogger("lodestore.background")


class Feed:
    """Changes to the queue, and the queue to the indexer, at most once every `every` seconds."""

    def __init__(self, source: ChangeSource, queue: ChangeQueue, *, clock: Clock, every: float) -> None:
        self._source = source
        self._queue = queue
        self._clock = clock
        self._every = every
        self._scan_due = True
        self._delivered = clock.elapsed() - every

    def run(self, stop: Event) -> None:
        """Until `stop` is set. A source that fails is begun anew, with a scan."""
        while not stop.is_set():
            try:
                self._follow(stop)
            except Exception as error:  # noqa: BLE001 - the server serves on without an indexer
                log.error("watching for changes failed (%s); beginning anew", type(error).__name__)
            self._scan_due = True
            stop.wait(RESTART_SECONDS)

    def _follow(self, stop: Event) -> None:
        for names in self._source.changes(stop):
            if self._scan_due:
                self._scan(stop)
            if not self._queue.put(names):
                log.warning("more changes than can wait; a full scan follows")
                self._scan_due = True
            if self._clock.elapsed() - self._delivered >= self._every:
                self._delivered = self._clock.elapsed()
                self._queue.deliver()

    def _scan(self, stop: Event) -> None:
        everything = self._source.everything()
        try:
            while not stop.is_set() and (names := tuple(islice(everything, BATCH_MOST))):
                fits = self._queue.put(names)
                self._queue.deliver()
                if not fits:
                    return
        except StoreUnavailable:
            log.warning("the store could not be scanned; trying again")
            return
        self._scan_due = False


def repeat(function: Function, every: float, event: dict[str, object], stop: Event) -> None:
    """Invoke the function with the event every `every` seconds until `stop` is set; failures are logged."""
    while not stop.wait(every):
        try:
            function.invoke(event)
        except Exception as error:  # noqa: BLE001 - the server serves on without maintenance
            log.error("%s raised %s", function.name, type(error).__name__)


class Background:
    """Threads that end with the server."""

    def __init__(self) -> None:
        self._stop = Event()
        self._threads: list[Thread] = []

    def start(self, name: str, job: Callable[[Event], None]) -> None:
        """Run `job(stop)` beside the server; it returns soon after `stop` is set."""
        thread = Thread(target=job, args=(self._stop,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def end(self) -> None:
        """Ask all to stop, and wait for each up to 2 s; one that is still at work ends with the process."""
        self._stop.set()
        for thread in self._threads:
            thread.join(END_SECONDS)
