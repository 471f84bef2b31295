"""Use and feedback as signals of ranking: levels of use, seen from the newest moment that the rows know of.

Owns: the way from columns to two numbers a row. Guarantees: no clock is asked, so what is used fades only as newer
things come, and the same for all; both are bounded. Gives up: how often; `domain/use_levels` has the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.use_levels import DAY_MILLISECONDS, FADED_AFTER_DAYS, NEVER, SPAN_DAYS
from lodestore.retrieval.segment import Array

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One value for each row: `use` in [0, 1], `feedback` in [-1, 1], both 0 where nothing was counted."""

    use: Floats
    feedback: Floats


def read_use(columns: Mapping[str, Array], times: Floats) -> Use:
    """The signals of rows. `times`: since when each row holds, in milliseconds since 1970."""
    newest = times.max(initial=-np.inf) / DAY_MILLISECONDS
    from_day = max(newest, float(columns["last_used"].max(initial=NEVER)))
    return Use(
        _heights(columns["recalls"], from_day),
        _heights(columns["useful"], from_day) - _heights(columns["not_useful"], from_day),
    )


def _heights(days: Array, from_day: float) -> Floats:
    """`use_levels.height` of a whole column."""
    heights: Floats = np.clip((days.astype(np.float64) - from_day + FADED_AFTER_DAYS) / SPAN_DAYS, 0.0, 1.0)
    return np.where(days == NEVER, 0.0, heights)
