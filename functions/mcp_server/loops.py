"""Event loops that are used again.

Owns: a stack of idle loops. The SDK dispatches in coroutines; making a loop for each message would cost
more than the message. Guarantees: any number of threads at once, one loop each, at most as many loops as
there ever were messages at once; all are closed with the pool or when the process ends.
Gives up: running within another loop's thread; call it from a thread of its own.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Loops:
    """Runs one coroutine at a time on each thread that asks."""

    def __init__(self) -> None:
        self._idle: deque[asyncio.AbstractEventLoop] = deque()
        self.close = weakref.finalize(self, _close, self._idle)

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """The coroutine's result; it has ended, as has all that it awaited."""
        try:
            loop = self._idle.pop()
        except IndexError:
            loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(coroutine)
        finally:
            self._idle.append(loop)


def _close(idle: deque[asyncio.AbstractEventLoop]) -> None:
    while idle:
        idle.pop().close()
