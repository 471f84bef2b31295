"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class StillClock:
    """A Clock for tests. `pause` moves it, so that no test waits."""

    def __init__(self, now: datetime = datetime(2026, 11, 29, 12, tzinfo=UTC)) -> None:
        self._start = now
        self._now = now

    def now(self) -> datetime:
        return self._now

    def elapsed(self) -> float:
        return (self._now - self._start).total_seconds()

    def pause(self, seconds: float) -> None:
        self.move(timedelta(seconds=seconds))

    def move(self, by: timedelta) -> None:
        """Forward, or back."""
        self._now += by
