"""How a scenario begins: what is stored before its processes run, and what they hold in memory.

Owns: `begin`. Guarantees: the beginning is done by the real code, one step after the other; a process that took part in
it goes on with what it holds. Gives up: interleavings in the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tests.interleavings.actors import Actor, Given, Program
from tests.interleavings.processes import START, StoreName
from tests.interleavings.scenario import Before, Scenario, Wait
from tests.interleavings.steps import Step
from tests.stores.memory_store import Contents, answered


@dataclass(frozen=True, slots=True)
class Begun:
    """The moment from which on the scheduler chooses. `locals` is the local state of each actor."""

    actors: tuple[Actor, ...]
    locals: tuple[int, ...]
    state: Contents
    index: Contents
    now: datetime


def begin(scenario: Scenario) -> Begun:
    """Run the beginning."""
    programs = [_with_beginning(program, scenario.beginning) for program in scenario.programs]
    actors = [Actor(program, START) for program in programs]
    run = _Run({actor.program.name: actor for actor in actors})
    for number, item in enumerate(scenario.beginning):
        if isinstance(item, Wait):
            run.now += timedelta(seconds=item.seconds)
        elif item.by:
            run.step(item.by)
        else:
            seed = Actor(Program(f"before-{number}", (replace(item.step, waits=True),)), START)
            run.actors[seed.program.name], run.at[seed.program.name] = seed, 0
            run.step(seed.program.name)
            seed.close()
    for program in scenario.programs:
        if program.steps and not program.steps[0].waits:
            run.open(program.name)
    numbers = tuple(run.at[actor.program.name] for actor in actors)
    return Begun(tuple(actors), numbers, run.stores["state"], run.stores["index"], run.now)


def _with_beginning(program: Program, beginning: Sequence[Before | Wait]) -> Program:
    warm: list[Step] = [
        item.step for item in beginning if isinstance(item, Before) and item.by == program.name
    ]
    first = [replace(step, waits=True) for step in (*warm, *program.steps[:1])]
    return replace(program, steps=(*first, *program.steps[1:]))


class _Run:
    def __init__(self, actors: dict[str, Actor]) -> None:
        self.actors = actors
        self.at = dict.fromkeys(actors, 0)
        self.now = START
        self.stores: dict[StoreName, Contents] = {"state": Contents(True), "index": Contents(False)}

    def open(self, name: str) -> None:
        """Let the step begin for which the process waits."""
        actor = self.actors[name]
        (gate,) = actor.locals[self.at[name]].outstanding
        assert gate.request is None
        self.at[name], _ = actor.next(self.at[name], Given(gate.task, None, self.now))

    def step(self, name: str) -> None:
        """Do the next step from its first request to its answer."""
        self.open(name)
        actor, told = self.actors[name], None
        while told is None:
            waiting = actor.locals[self.at[name]].outstanding[0]
            assert waiting.request is not None
            answer, self.stores[waiting.store] = answered(
                self.stores[waiting.store], waiting.request, self.now
            )
            self.at[name], told = actor.next(self.at[name], Given(waiting.task, answer, self.now))
        assert not told.failed, told.text
