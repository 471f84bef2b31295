"""Levels of use: counts that fade, as moments that do not have to be touched for it.

Owns: `UseLevels`, how a count lifts one, and how high a level is seen from a moment. Guarantees: a level is the moment
at which one single count would weigh as much as all counts together do, each halved every 30 days since it came. Two
levels keep their order for ever and their distance too, so they fade by themselves, whether maintenance runs hourly or
never, and folding in one go or in many gives the same (to the millisecond).
Gives up: single counts; `domain/counters` has their sums.

    level after n counts at t:  t + 30 days × log2(n + 2 ** ((level before - t) / 30 days))
Source: forward decay, Cormode et al., ICDE 2009; the sum of decayed uses as in ACT-R's base-level activation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp2, log2
from typing import Final

DAY_MILLISECONDS: Final = 86_400_000
HALF_LIFE_DAYS: Final = 30.0
# Seen from a moment, one count fades to nothing in 180 days, and 16 counts at that moment are as much as there can be.
FADED_AFTER_DAYS: Final = 180.0
FULL_AFTER_DAYS: Final = 4 * HALF_LIFE_DAYS
SPAN_DAYS: Final = FADED_AFTER_DAYS + FULL_AFTER_DAYS
_HALF_LIFE: Final = HALF_LIFE_DAYS * DAY_MILLISECONDS
NEVER: Final = 0
# The index shows levels in such steps: it is written again only when one is reached.
STEP_DAYS: Final = 7
_STEP: Final = STEP_DAYS * DAY_MILLISECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class UseLevels:
    """Levels of one memory in milliseconds since 1970; 0: never.

    recalls, useful, not_useful   of what `Tally` counts by these names
    last_used                     when a recall or useful feedback was counted last
    """

    recalls: int = NEVER
    useful: int = NEVER
    not_useful: int = NEVER
    last_used: int = NEVER

    def lifted(self, at: int, *, recalls: int, useful: int, not_useful: int) -> UseLevels:
        """The levels after so many counts that came at this moment."""
        return UseLevels(
            recalls=lifted(self.recalls, at, recalls),
            useful=lifted(self.useful, at, useful),
            not_useful=lifted(self.not_useful, at, not_useful),
            last_used=max(self.last_used, at) if recalls or useful else self.last_used,
        )


Levels = Mapping[str, UseLevels]


def levels_of(levels: Levels, memory_ids: Iterable[str]) -> UseLevels:
    """The highest of each level among these ids: a merged memory was used as much as what it was merged from."""
    known = [levels[memory_id] for memory_id in memory_ids if memory_id in levels]
    return UseLevels(
        recalls=max((one.recalls for one in known), default=NEVER),
        useful=max((one.useful for one in known), default=NEVER),
        not_useful=max((one.not_useful for one in known), default=NEVER),
        last_used=max((one.last_used for one in known), default=NEVER),
    )


def lifted(level: int, at: int, count: int) -> int:
    """The level after `count` more counts at that moment."""
    if not count:
        return level
    if level == NEVER:
        return at + round(_HALF_LIFE * log2(count))
    # From the higher of the two, so that nothing overflows however far they are apart.
    base = max(level, at)
    weight = exp2((level - base) / _HALF_LIFE) + count * exp2((at - base) / _HALF_LIFE)
    return base + round(_HALF_LIFE * log2(weight))


def shown_days(level: int) -> float:
    """The level as the index shows it: days since 1970, the last whole step; exact in 32 bits."""
    return float(level // _STEP * STEP_DAYS)


def height(level: int, seen_from: int) -> float:
    """How high a level is, in [0, 1]: 0 never or faded, 0.6 one count now, 1 sixteen or more now."""
    if level == NEVER:
        return 0.0
    days = (level - seen_from) / DAY_MILLISECONDS
    return min(1.0, max(0.0, (days + FADED_AFTER_DAYS) / SPAN_DAYS))
