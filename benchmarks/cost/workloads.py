"""The sizes for which a month is reckoned.

Owns: how much work each is. Guarantees: the same numbers go to both sides of the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A month's work.

    memories   held, evenly over the tenants
    hours      in which anything is called
    cold       share of the calls that find no warm instance
    """

    name: str
    tenants: int
    memories: int
    writes: int
    recalls: int
    hours: float
    cold: float

    def described(self) -> str:
        """One line for a table."""
        return f"{self.memories:,} memories, {self.writes:,} writes, {self.recalls:,} recalls"


IDLE = Workload(name="nobody calls", tenants=1, memories=0, writes=0, recalls=0, hours=0, cold=0)
DEVELOPER = Workload(
    name="1 developer", tenants=1, memories=5_000, writes=1_000, recalls=3_000, hours=160, cold=0.1
)
TEAM = Workload(
    name="a team of 20", tenants=5, memories=100_000, writes=20_000, recalls=60_000, hours=240, cold=0.02
)
MILLION = Workload(
    name="1 M memories",
    tenants=100,
    memories=1_000_000,
    writes=100_000,
    recalls=1_000_000,
    hours=730,
    cold=0.01,
)
SIZES = (DEVELOPER, TEAM, MILLION)
