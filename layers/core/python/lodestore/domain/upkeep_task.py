"""One piece of maintenance that can be handed to another process: a tenant and the steps that it is due.

Owns: `UpkeepTask` and its bounds. Guarantees: names only, never a word of a memory, so a queue may hold it.
Gives up: order. Tasks of one tenant may come twice or late; every step begins from what stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# A tenant with more notes than this is shown again by those that were not named.
NOTES_MOST: Final = 100
# How often a sleep that was cut is taken up again before the next schedule has to find it.
CONTINUED_MOST: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepTask:
    """What is to be done for one tenant.

    steps      of the sleep, by name
    notes      keys under `due/` to remove once the sleep was whole, at most NOTES_MOST
    compare    whether the sleep may be left out where nothing changed since the last whole one
    continued  how many runs before this one were cut before their end
    """

    tenant: str
    steps: frozenset[str]
    notes: tuple[str, ...] = ()
    compare: bool = False
    continued: int = 0
