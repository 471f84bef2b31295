"""Whole schedules run with every process alive, held against what the explorer says of them.

Owns: `replay`: schedules drawn by a seed; `retrace`: one schedule by the numbers of its choices.
Guarantees: at every choice each process has sent exactly the requests that the explorer believes it has, though there
they were computed once and remembered, and here in one go.
Gives up: all schedules. What is checked here is that remembering loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from tests.interleavings.actors import Given
from tests.interleavings.checking import Checking
from tests.interleavings.processes import Process
from tests.interleavings.scenario import Mishap
from tests.interleavings.world import Choice, Kind, State, World


class Diverged(AssertionError):
    """A process did something else than the explorer believes."""


def replay(world: World, schedules: int) -> int:
    """Run this many schedules; the number of answers given in them. Raises Diverged."""
    given = 0
    for seed in range(schedules):
        live = _Live(world)
        chance, state = Random(f"{world.scenario.name}/{seed}"), world.first
        try:
            while choices := world.choices(state):
                state = live.take(state, chance.choice(choices))
        finally:
            live.close()
        given += live.given
    return given


def retrace(world: World, schedule: Sequence[int]) -> Iterator[str]:
    """Take one schedule with every process alive and all checks, and say each choice in words before it is taken.

    Raises Violation at the choice that breaks a promise, ValueError where a state has no choice of that number.
    """
    live, checking, state = _Live(world), Checking(world), world.first
    try:
        checking.state(state)
        for at, number in enumerate(schedule):
            choices = world.choices(state)
            if number >= len(choices):
                raise ValueError(
                    f"after {at} choices there are {len(choices)} to choose from, not number {number}"
                )
            yield world.told(state, choices[number])
            state = live.take(state, choices[number])
            checking.state(state)
    finally:
        live.close()


class _Live:
    def __init__(self, world: World) -> None:
        self._world = world
        self.given = 0
        self._processes: list[Process | None] = [
            actor.revived(local) for actor, local in zip(world.actors, world.first.locals, strict=True)
        ]

    def close(self) -> None:
        for process in self._processes:
            if process is not None:
                process.abandon()

    def take(self, state: State, choice: Choice) -> State:
        """The state after the choice, which the processes have come to as well."""
        after = self._world.after(state, choice)
        if choice.kind is Kind.ANSWER and choice.mishap is not Mishap.DIES:
            self._answer(choice.process, self._world.given(state, choice))
            self.given += 1
        self._compare(after, choice)
        return after

    def _answer(self, at: int, given: Given) -> None:
        process = self._processes[at]
        assert process is not None
        done = len(process.answers)
        process.answer(given.task, given.answer, given.now)
        program = self._world.actors[at].program
        if program.cold and len(process.answers) > done and process.outstanding:
            self._processes[at] = process.next_one(given.now)

    def _compare(self, state: State, choice: Choice) -> None:
        for at, (actor, local) in enumerate(zip(self._world.actors, state.locals, strict=True)):
            process = self._processes[at]
            if process is None:
                continue
            if local < 0:
                process.abandon()
                self._processes[at] = None
            elif process.outstanding != actor.locals[local].outstanding:
                raise Diverged(f"{self._world.scenario.name}: {actor.program.name} after {choice}")
