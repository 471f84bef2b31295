"""Whether there is time for more, asked of one clock.

Owns: `going_for`, and how much time an invocation of Lambda has left. Guarantees: never yes once the time is over.
Gives up: stopping what runs; each step asks.
"""

from __future__ import annotations

from collections.abc import Callable

from lodestore.ports.clock import Clock


def going_for(clock: Clock, seconds: float) -> Callable[[], bool]:
    """Yes for so many seconds from now on."""
    until = clock.elapsed() + seconds
    return lambda: clock.elapsed() < until


def seconds_left(context: object) -> float | None:
    """What Lambda's context says is left of the invocation; None on one machine, where nothing ends it."""
    ask = getattr(context, "get_remaining_time_in_millis", None)
    return None if ask is None else max(0.0, float(ask()) / 1000)
