"""The scenarios, all of them.

Owns: `SCENARIOS`. Guarantees: every kind of write of design section 3 meets every other, and every kind of upkeep, with
clocks apart, time passing and answers lost. Gives up: more than four processes at once.
"""

from __future__ import annotations

from tests.interleavings.marker_scenarios import MARKERS
from tests.interleavings.mishap_scenarios import MISHAPS
from tests.interleavings.upkeep_scenarios import UPKEEPS
from tests.interleavings.write_scenarios import WRITES

SCENARIOS = (*WRITES, *MARKERS, *MISHAPS, *UPKEEPS)
