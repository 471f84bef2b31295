"""Every schedule of a scenario, each state once.

Owns: the search. A state is what both buckets hold, the store's time, the local state of every process, what may still
happen, and what readers may be told. From each state every request that waits is answered in turn, every mishap that
may happen happens, the clock may jump; depth first, until no process has anything left to do.

What is pruned, and why that loses nothing:
- A state that was met before is not left again. Equal states have equal futures: a process depends only on what it was
  answered (`actors`), the store only on its contents, and all that is judged later is part of the state (`judging`).
- Answers to side-by-side requests of one process lead to one local state in whichever order they came (`processes`).
- Once a step of a process that holds nothing over to the next (`cold`) has ended, and once nothing is left to do, what
  it was answered is forgotten, but for what the callers of writes were told.
- A request that no other process can have to do with is answered at once, for it commutes with all that others do: a
  segment under a name just drawn is written (unless the writer looks at the time of it, and time may jump), a listed
  segment is read, this instance's counts are written. Not where a collector runs, which lists and deletes segments.
  That such a key is written once, and found whenever it is read, is checked at each.
Gives up: switches inside a process between two requests, and clocks that move between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from unittest.mock import patch

from lodestore.services import merge_plan
from tests.interleavings.checking import Checking
from tests.interleavings.judging import Violation
from tests.interleavings.replays import replay, retrace
from tests.interleavings.scenario import Scenario
from tests.interleavings.world import Choice, State, World

MOST_STATES = 2_000_000


@dataclass(frozen=True, slots=True)
class Figures:
    """What an exploration came to.

    states       distinct states
    schedules    ways through them, from the beginning to an end
    depth        choices of the longest way
    locals       distinct local states of all processes; `started`: how often real code was started to compute them
    probes       distinct states of the buckets that a fresh process was let loose on; `endings`: of these, upkeep too
    replayed     answers given in schedules that were run with every process alive
    """

    name: str
    states: int = 0
    choices: int = 0
    schedules: int = 0
    depth: int = 0
    locals: int = 0
    started: int = 0
    probes: int = 0
    endings: int = 0
    replayed: int = 0


class BrokenPromise(AssertionError):
    """A schedule that breaks a promise: the scenario, what is broken, and the way there."""


class _Frame(NamedTuple):
    state: State
    choices: Iterator[Choice]
    ways: list[int]


def explore(scenario: Scenario, *, replays: int = 0) -> Figures:
    """Explore it all, then run some schedules whole. Raises BrokenPromise at the first schedule that breaks one."""
    with _opened(scenario) as world:
        figures = _Search(scenario, world, Checking(world)).run()
        return replace(figures, replayed=replay(world, replays))


def follow(scenario: Scenario, schedule: Sequence[int]) -> list[str]:
    """Take one schedule again, by the numbers of its choices, and say it in words.

    Raises BrokenPromise where it breaks a promise, ValueError where a state has no choice of that number.
    """
    said: list[str] = []
    with _opened(scenario) as world:
        try:
            said.extend(retrace(world, schedule))
        except Violation as violation:
            raise BrokenPromise(_told(scenario, violation, said, schedule)) from violation
    return said


@contextmanager
def _opened(scenario: Scenario) -> Iterator[World]:
    with patch.object(merge_plan, "FAN_IN", scenario.fan_in or merge_plan.FAN_IN):
        world = World(scenario)
        try:
            yield world
        finally:
            world.close()


@dataclass(slots=True)
class _Search:
    scenario: Scenario
    world: World
    checking: Checking
    seen: dict[State, tuple[int, int]] = field(default_factory=dict)
    path: list[_Frame] = field(default_factory=list)
    taken: list[Choice] = field(default_factory=list)
    choices: int = 0

    def run(self) -> Figures:
        first = self.world.first
        try:
            self._enter(first)
            while self.path:
                self._advance(self.path[-1])
        except Violation as violation:
            states = [frame.state for frame in self.path]
            way = list(zip(states, self.taken, strict=False))
            said = [self.world.told(state, choice) for state, choice in way]
            numbers = [self.world.choices(state).index(choice) for state, choice in way]
            raise BrokenPromise(_told(self.scenario, violation, said, numbers)) from violation
        ways, depth = self.seen[first]
        actors = self.world.actors
        return Figures(
            self.scenario.name,
            states=len(self.seen),
            choices=self.choices,
            schedules=ways,
            depth=depth,
            locals=sum(len(actor.locals) for actor in actors),
            started=sum(actor.started for actor in actors),
            probes=self.checking.probes,
            endings=self.checking.endings,
        )

    def _enter(self, state: State) -> None:
        if len(self.seen) >= MOST_STATES:
            raise RuntimeError(f"{self.scenario.name} has more than {MOST_STATES:,} states")
        self.checking.state(state)
        self.path.append(_Frame(state, iter(self.world.choices(state)), [0, 0]))

    def _advance(self, frame: _Frame) -> None:
        choice = next(frame.choices, None)
        if choice is None:
            self._leave(frame)
            return
        self.choices += 1
        self.taken.append(choice)
        after = self.world.after(frame.state, choice)
        known = self.seen.get(after)
        if known is None:
            self._enter(after)
            return
        self.taken.pop()
        _count(frame, known)

    def _leave(self, frame: _Frame) -> None:
        self.path.pop()
        known = (max(frame.ways[0], 1), frame.ways[1])
        self.seen[frame.state] = known
        if self.path:
            self.taken.pop()
            _count(self.path[-1], known)


def _told(scenario: Scenario, violation: Violation, said: Sequence[str], numbers: Sequence[int]) -> str:
    """The violation, the way there in words, and the command that takes it again."""
    lines = [f"{scenario.name}: {violation}", f"after {len(said)} choices:", *(f"  {line}" for line in said)]
    schedule = ".".join(map(str, numbers[: len(said)]))
    return "\n".join([*lines, f"again: make interleavings SCENARIOS={scenario.name} SCHEDULE={schedule}"])


def _count(frame: _Frame, below: tuple[int, int]) -> None:
    frame.ways[0] += below[0]
    frame.ways[1] = max(frame.ways[1], below[1] + 1)
