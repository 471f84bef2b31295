"""What one sleep of one tenant did: the report.

Owns: `SleepReport`, its steps and actions, and what requests cost. Guarantees: ids, counts and reasons, never a word
of a memory, so a report needs no purge. Gives up: more than the first 1,000 actions of a step; the rest is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final

ACTIONS_SHOWN = 1_000
MICRO_USD: Final = 1_000_000
# A schedule comes hourly: what begins this long after it was due is a second one late.
MISSED_AFTER: Final = timedelta(hours=2)

# US dollars per request: S3 Standard, us-east-1. Deletes are free. benchmarks/cost/prices.toml has the source; a test
# holds both to the same prices and the same day.
PRICES_OF: Final = date(2026, 11, 29)
_DEAR: Final = 0.005 / 1_000
_CHEAP: Final = 0.0004 / 1_000
PRICES: Final[Mapping[str, float]] = {
    "get": _CHEAP,
    "get_version": _CHEAP,
    "create": _DEAR,
    "replace": _DEAR,
    "list": _DEAR,
    "versions": _DEAR,
    "delete": 0.0,
    "delete_version": 0.0,
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that was (in a dry run: would be) done: what, to which id, why."""

    what: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests by operation, and bytes of bodies."""

    requests: Mapping[str, int] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_written: int = 0

    def since(self, before: Traffic) -> Traffic:
        """What came since an earlier reading."""
        more = {name: count - before.requests.get(name, 0) for name, count in sorted(self.requests.items())}
        return Traffic(
            {name: count for name, count in more.items() if count},
            self.bytes_read - before.bytes_read,
            self.bytes_written - before.bytes_written,
        )

    def plus(self, more: Traffic) -> Traffic:
        """Both together."""
        requests = Counter(self.requests)
        requests.update(more.requests)
        return Traffic(
            dict(sorted(requests.items())),
            self.bytes_read + more.bytes_read,
            self.bytes_written + more.bytes_written,
        )

    @property
    def cost_usd(self) -> float:
        """What the requests cost in US dollars, by PRICES."""
        return sum(PRICES[name] * count for name, count in self.requests.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """One step.

    status        done | skipped (nothing to do it with) | failed | cut (no time left)
    why           why it was not done; the kind of a failure, never its text
    counts        what moved, by name
    actions       the first 1,000; `actions_left` counts the rest
    """

    step: str
    status: str
    why: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    actions_left: int = 0
    seconds: float = 0.0
    traffic: Traffic = field(default_factory=Traffic)


def is_complete(steps: Iterable[StepReport]) -> bool:
    """Whether none of the steps failed or was cut."""
    return all(step.status in ("done", "skipped") for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepReport:
    """One sleep of one tenant.

    next_due             when the clock alone next gives it something to do
    late_seconds         how long after the last report's `next_due` this one began; 0: in time, or nothing was due
    incomplete_in_a_row  this and so many before it were not complete; 0: this one was
    """

    id: str
    tenant: str
    dry_run: bool
    begun_at: datetime
    ended_at: datetime
    seconds: float
    steps: tuple[StepReport, ...]
    traffic: Traffic
    next_due: datetime | None
    late_seconds: float = 0.0
    incomplete_in_a_row: int = 0

    @property
    def missed(self) -> bool:
        """Whether the sleep that was due before this one was not made."""
        return self.late_seconds > MISSED_AFTER.total_seconds()

    @property
    def cut_short_twice(self) -> bool:
        """Whether this sleep and the one before were not complete."""
        return self.incomplete_in_a_row > 1

    @property
    def complete(self) -> bool:
        """Whether no step failed or was cut."""
        return is_complete(self.steps)

    @property
    def failure(self) -> str | None:
        """The kind of the first failure."""
        return next((step.why for step in self.steps if step.status == "failed"), None)
