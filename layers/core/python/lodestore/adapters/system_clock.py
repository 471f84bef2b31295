"""The machine's own clock.

Owns: the only reading of time in the package. Guarantees: `elapsed` never goes back. Gives up: the right
time, which is the business of the machine.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """A Clock on `time`. Thread-safe, without state."""

    def now(self) -> datetime:
        """The time in UTC, cut to the millisecond."""
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1_000 * 1_000)

    def elapsed(self) -> float:
        """Seconds of `time.monotonic`."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Sleep; not at all for a negative number."""
        time.sleep(max(0.0, seconds))
