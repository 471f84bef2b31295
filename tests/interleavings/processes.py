"""One process of ours whose every request waits until a scheduler answers it.

Owns: `Process`: the real services of one process, its steps run one after the other in a thread of their own, each
piece of work that the services give to their executor in another. Guarantees: of all threads of a process one runs at
a time, until each waits for an answer or for another; then `outstanding` is complete, and what the process does next
depends on nothing but the answers it is given, each with the time at which it comes. Chance is drawn per thread of
work, and a thread's clock shows the time of the last answer that reached it, so that the order in which answers to
requests sent side by side arrive leaves no trace but through the answers.
Gives up: switches between two requests. What a process shares with no other can't be seen there.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal
from unittest.mock import patch

from lodestore import bootstrap
from lodestore.bootstrap import Lodestore, assemble
from lodestore.settings import parse_settings
from tests.interleavings.steps import Step, StepAnswer
from tests.stores.memory_store import Answer, Request, RequestStore

START = datetime.fromisoformat("2026-03-09T01:30:00+00:00")
MAIN = "0"
HANDOVER_SECONDS = 60.0
StoreName = Literal["state", "index"]


class Abandoned(BaseException):
    """The scheduler has no more use for this process. Not an Exception, so that no code under test survives it."""


@dataclass(frozen=True, slots=True)
class Outstanding:
    """A request that waits, and the thread of work that sent it. `request` None: the process waits for its start."""

    task: str
    store: StoreName
    request: Request | None


class _Task:
    """A thread of work: `path` names it by who submitted it as the how manyth."""

    def __init__(self, path: str, now: datetime) -> None:
        self.path = path
        self.now = now
        self.go = threading.Semaphore(0)
        self.submitted = 0
        self.draws = 0
        self.answer: Answer = None


class _Result(Future[Any]):
    """A future whose `result` lets others of the process run instead of blocking them."""

    def __init__(self, process: Process, task: _Task) -> None:
        super().__init__()
        self._process = process
        self._task = task
        self.set_running_or_notify_cancel()

    def result(self, timeout: float | None = None) -> Any:
        self._process.wait_for(self, self._task)
        return super().result(timeout)


class _Workers(Executor):
    def __init__(self, process: Process) -> None:
        self._process = process

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._process.start(partial(fn, *args, **kwargs))


class _Silent:
    def count(self, name: str, amount: int = 1) -> None:
        """Nothing is kept."""


class Process:
    """A live process that does the steps from `begin` on. `offset` is how far its clock is from the store's."""

    def __init__(
        self, program: str, steps: tuple[Step, ...], begin: int, *, offset: timedelta, now: datetime
    ) -> None:
        self.name = f"{program}-{begin}"
        self._program = (program, steps, begin)
        self.answers: list[StepAnswer] = []
        self.failure: BaseException | None = None
        self._offset = offset
        self._ready: deque[_Task] = deque()
        self._waiting: dict[str, tuple[_Task, Outstanding]] = {}
        self._joining: dict[Future[Any], list[_Task]] = {}
        self._running: _Task | None = None
        self._alive: list[_Task] = []
        self._back = threading.Semaphore(0)
        self._abandoned = False
        self._boot = _Task("boot", now)
        self._lodestore = self._assembled()
        self._launch(_Task(MAIN, now), partial(self._run, steps[begin:]), None)
        self._drain()

    # What the scheduler asks for.

    @property
    def outstanding(self) -> tuple[Outstanding, ...]:
        """Every request that waits, by thread of work."""
        return tuple(self._waiting[path][1] for path in sorted(self._waiting))

    def answer(self, task: str, answer: Answer, now: datetime) -> None:
        """Answer the request of this thread of work, and run on until all wait again."""
        waiting, _ = self._waiting.pop(task)
        waiting.answer, waiting.now = answer, now
        self._ready.append(waiting)
        self._drain()

    def next_one(self, now: datetime) -> Process:
        """End this process between two steps; another does the next ones, and holds nothing of this one's memory."""
        self.abandon()
        program, steps, begin = self._program
        return Process(program, steps, begin + len(self.answers), offset=self._offset, now=now)

    def abandon(self) -> None:
        """End all threads."""
        self._abandoned = True
        while self._alive:
            self._ready.append(self._alive[-1])
            self._drain()

    # What the services and their threads ask for.

    def send(self, store: StoreName, request: Request | None) -> Answer:
        task = self._current()
        self._waiting[task.path] = (task, Outstanding(task.path, store, request))
        self._pause(task)
        return task.answer

    def start(self, work: Callable[[], Any]) -> Future[Any]:
        parent = self._current()
        parent.submitted += 1
        task = _Task(f"{parent.path}.{parent.submitted:03}", parent.now)
        result = _Result(self, task)
        self._launch(task, work, result)
        return result

    def wait_for(self, result: Future[Any], of: _Task) -> None:
        task = self._current()
        if not result.done():
            self._joining.setdefault(result, []).append(task)
            self._pause(task)
        task.now = max(task.now, of.now)

    # Clock and Entropy of the process.

    def now(self) -> datetime:
        return self._current().now + self._offset

    def elapsed(self) -> float:
        return (self._current().now - START).total_seconds()

    def pause(self, seconds: float) -> None:
        """No time passes: the scheduler makes the next request wait for as long as it likes."""

    def token(self, size: int) -> bytes:
        task = self._current()
        task.draws += 1
        seed = f"{self.name}/{task.path}/{task.draws}".encode()
        return hashlib.blake2b(seed, digest_size=size).digest()

    def fraction(self) -> float:
        return 0.5

    # Handing over.

    def _assembled(self) -> Lodestore:
        with patch.object(bootstrap, "ThreadPoolExecutor", lambda *_, **__: _Workers(self)) as made:
            assert made is not None
            lodestore = assemble(
                parse_settings({}),
                RequestStore(partial(self.send, "state")),
                RequestStore(partial(self.send, "index")),
                clock=self,
                entropy=self,
                meter=_Silent(),
            )
        assert isinstance(lodestore.workers, _Workers)
        return lodestore

    def _run(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if step.waits:
                self.send("state", None)
            self.answers.append(step.run(self._lodestore))

    def _current(self) -> _Task:
        return self._running or self._boot

    def _launch(self, task: _Task, work: Callable[[], Any], result: Future[Any] | None) -> None:
        def body() -> None:
            task.go.acquire()
            value, error = None, None
            try:
                if not self._abandoned:
                    value = work()
            except BaseException as raised:  # noqa: BLE001 -- handed on, as every executor does
                error = raised
            self._finish(task, result, value, error)
            self._back.release()

        self._alive.append(task)
        self._ready.append(task)
        threading.Thread(target=body, daemon=True, name=f"{self.name}/{task.path}").start()

    def _finish(
        self, task: _Task, result: Future[Any] | None, value: object, error: BaseException | None
    ) -> None:
        self._alive.remove(task)
        if result is None:
            self.failure = error if not self._abandoned else None
        elif error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)
        if result is not None:
            self._ready.extend(self._joining.pop(result, []))

    def _pause(self, task: _Task) -> None:
        if not self._abandoned:
            self._back.release()
            task.go.acquire()
        if self._abandoned:
            raise Abandoned
        self._running = task

    def _drain(self) -> None:
        while self._ready:
            task = self._ready.popleft()
            if task not in self._alive:
                continue
            self._running = task
            task.go.release()
            if not self._back.acquire(timeout=HANDOVER_SECONDS):
                raise RuntimeError(f"{self.name}/{task.path} waits for something that no answer brings")
            self._running = None
