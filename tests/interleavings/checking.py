"""What is looked at in every state, and in every end.

Owns: `Checking`. Guarantees: in each state a fresh process is let loose on the buckets; in each end the indexer is run
until nothing is left, and what a scenario asks for is asked. What was looked at once is not looked at again.
Gives up: nothing; it raises at the first flaw.
"""

from __future__ import annotations

from tests.interleavings.endings import probe, settle
from tests.interleavings.judging import check, flaws_of_tombstones
from tests.interleavings.steps import StepAnswer
from tests.interleavings.world import State, World


class Checking:
    """The checks of one scenario's states."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._shown: dict[tuple[tuple[int, ...], int], tuple[StepAnswer, ...]] = {}
        self._judged: set[tuple[tuple[int, ...], int, int]] = set()
        self._settled: set[tuple[tuple[int, ...], int]] = set()

    @property
    def probes(self) -> int:
        """Distinct buckets at a time that a fresh process was let loose on."""
        return len(self._shown)

    @property
    def endings(self) -> int:
        """Distinct buckets at a time from which upkeep was run to its end."""
        return len(self._settled)

    def state(self, state: State) -> None:
        """Look at a state that was not met before. Raises Violation."""
        key = (state.buckets, state.jumps, state.judged)
        if key not in self._judged:
            self._judged.add(key)
            self._fresh(state)
        if self._world.is_end(state):
            self._end(state)

    def _fresh(self, state: State) -> None:
        world, at = self._world, (state.buckets, state.jumps)
        if at not in self._shown:
            held, index = (world.contents[number] for number in state.buckets)
            check(flaws_of_tombstones(held, world.judging.records(held)))
            self._shown[at] = probe(held, index, world.times[state.jumps], world.scenario.ids)
        world.judging.check_fresh(world.judged[state.judged], self._shown[at])

    def _end(self, state: State) -> None:
        world, at = self._world, (state.buckets, state.jumps)
        if at not in self._settled:
            self._settled.add(at)
            held, index = (world.contents[number] for number in state.buckets)
            scenario = world.scenario
            events = bool(scenario.mishaps)
            check(settle(held, index, world.times[state.jumps], scenario.ids, events=events))
        check(world.scenario.judge(world.end(state)))
