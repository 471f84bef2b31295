"""Policies of pruning: which memories may go, and whether they are forgotten or only proposed.

Owns: `Policy`, its verdict on one memory, and what a memory is worth to it. Guarantees: all conditions of a policy must
hold; a pinned memory and an instruction are never pruned (P-REVERSIBLE-SLEEP). Gives up: judging by content.

    value = importance × use × recency × feedback, each in [0, 1]:
        use       0.5 + 0.5 × height of the level of recalls (`domain/use_levels`)
        recency   0.5 ** (days since it was last stated / half-life of its type), 1 where the type has none
        feedback  0.5 + 0.5 × (height of useful - height of not useful)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from lodestore.domain.memory import HALF_LIFE_DAYS, Memory, MemoryType
from lodestore.domain.moments import milliseconds
from lodestore.domain.use_levels import DAY_MILLISECONDS, NEVER, UseLevels, height

UNUSED = UseLevels()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy; a condition that is None or empty is not asked.

    types, tags        any of these types, all of these tags
    older_than_days    since it was last stated
    importance_below   0 to 1, exclusive
    value_below        0 to 1, exclusive
    never_recalled     neither recall nor memory_context showed it, and no useful feedback was ever counted
    unused_for_days    neither stated nor shown by one of these nor found useful for so long
    beyond_newest      it is not among so many newest that the other conditions admit
    forget             True: its memories are forgotten; False: it proposes that they are
    """

    name: str
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    older_than_days: float | None = None
    importance_below: float | None = None
    value_below: float | None = None
    never_recalled: bool = False
    unused_for_days: float | None = None
    beyond_newest: int | None = None
    forget: bool = False

    @property
    def asks_use(self) -> bool:
        """Whether counts have to be read for it."""
        return self.never_recalled or self.unused_for_days is not None or self.value_below is not None

    def admits(self, memory: Memory, now: datetime, use: UseLevels = UNUSED) -> bool:
        """Whether the memory may go, by all conditions but `beyond_newest`, which takes all memories to tell."""
        if memory.pinned or memory.type is MemoryType.INSTRUCTION:
            return False
        return (
            (not self.types or memory.type in self.types)
            and set(self.tags) <= set(memory.tags)
            and (self.importance_below is None or memory.importance < self.importance_below)
            and _longer_ago(memory.updated_at, now, self.older_than_days)
            and _longer_ago(memory.updated_at, now, self.unused_for_days)
            and self._is_unused(use, now)
            and (self.value_below is None or memory_value(memory, use, now) < self.value_below)
        )

    def _is_unused(self, use: UseLevels, now: datetime) -> bool:
        if self.never_recalled and use.last_used != NEVER:
            return False
        if self.unused_for_days is None or use.last_used == NEVER:
            return True
        return milliseconds(now) - use.last_used > self.unused_for_days * DAY_MILLISECONDS

    def __str__(self) -> str:
        """Its name and its conditions, as a reason."""
        return f"policy {self.name} ({'; '.join(self._conditions())})"

    def _conditions(self) -> Iterator[str]:
        if self.types:
            yield f"types {' | '.join(self.types)}"
        if self.tags:
            yield f"{len(self.tags)} tags"
        for name in (
            "older_than_days",
            "importance_below",
            "value_below",
            "unused_for_days",
            "beyond_newest",
        ):
            if (bound := getattr(self, name)) is not None:
                yield f"{name} {bound:g}"
        if self.never_recalled:
            yield "never_recalled"


def memory_value(memory: Memory, use: UseLevels, now: datetime) -> float:
    """What the memory is worth, in [0, 1]; the formula stands above."""
    moment = milliseconds(now)
    half_life = HALF_LIFE_DAYS[memory.type]
    age = max(0.0, (moment - milliseconds(memory.updated_at)) / DAY_MILLISECONDS)
    recency = 1.0 if half_life is None else 0.5 ** (age / half_life)
    in_use = 0.5 + 0.5 * height(use.recalls, moment)
    feedback = 0.5 + 0.5 * (height(use.useful, moment) - height(use.not_useful, moment))
    return memory.importance * in_use * recency * feedback


def _longer_ago(moment: datetime, now: datetime, days: float | None) -> bool:
    return days is None or now - moment > timedelta(days=days)
