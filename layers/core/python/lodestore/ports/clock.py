"""Time and chance as ports, so that a test owns both.

Owns: `Clock` and `Entropy`. Guarantees: no other module of the package reads a clock or draws a random number.
Gives up: agreement between machines. No protocol here compares two machines' clocks, except for expiry.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The machine's clock."""

    def now(self) -> datetime:
        """The time in UTC, to the millisecond (microseconds are a multiple of 1,000)."""
        ...

    def elapsed(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""
        ...

    def pause(self, seconds: float) -> None:
        """Wait before a retry."""
        ...


class Entropy(Protocol):
    """A source of chance, fit for keys."""

    def token(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        ...

    def fraction(self) -> float:
        """A number in [0, 1), for jitter; need not be unpredictable."""
        ...
