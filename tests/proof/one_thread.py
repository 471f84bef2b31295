"""One thread for all that a process of ours does side by side, in an order that a seed decides.

Owns: `OneThread`, an Executor that runs a task when it is handed in or when its result is asked for, and the patch
that gives it to `bootstrap`. Guarantees: the same seed gives the same order of requests, so that a failure can be run
again; of two requests sent side by side either may come first. What nobody waits for any more never runs, as in a
process that died. Gives up: requests that overlap in time; `tests/concurrency` and test_histories have real threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from random import Random
from typing import ParamSpec, TypeVar
from unittest.mock import patch

Result = TypeVar("Result")
Given = ParamSpec("Given")


class _Task(Future[Result]):
    """Work that runs at once or when it is waited for."""

    def __init__(self, work: Callable[[], Result]) -> None:
        super().__init__()
        self._work: Callable[[], Result] | None = work

    def run(self) -> None:
        work, self._work = self._work, None
        if work is None:
            return
        try:
            self.set_result(work())
        # A crash ends a real worker's task too, and comes out where the result is asked for.
        except BaseException as failure:  # noqa: BLE001
            self.set_exception(failure)

    def result(self, timeout: float | None = None) -> Result:
        self.run()
        return super().result(timeout)


class OneThread(Executor):
    """Tasks run in the thread that hands them in or asks for them."""

    def __init__(self, seed: object) -> None:
        self._chance = Random(f"order {seed}")

    def submit(
        self, work: Callable[Given, Result], /, *given: Given.args, **named: Given.kwargs
    ) -> Future[Result]:
        task: _Task[Result] = _Task(lambda: work(*given, **named))
        if self._chance.random() < 0.5:
            task.run()
        return task


@contextmanager
def one_thread(seed: object) -> Iterator[None]:
    """Every process that is assembled meanwhile works in one thread."""
    with patch("lodestore.bootstrap.ThreadPoolExecutor", lambda *_, **__: OneThread(seed)):
        yield
