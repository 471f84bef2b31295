"""What a run did, step by step, and how long each took.

Owns: the lines, printed as each step ends and once more at the end. Guarantees: a step that failed is in it, and says
so. Gives up: judging a duration; the machine decides it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """One step: when it began after the start, and how long it took, in seconds."""

    name: str
    begun: float
    seconds: float
    failed: bool

    def __str__(self) -> str:
        return f"{self.begun:7.1f} s  +{self.seconds:5.1f} s  {self.name}{'  FAILED' if self.failed else ''}"


@dataclass(slots=True)
class Timeline:
    """The steps of one run. `say` prints a line at once."""

    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    steps: list[Step] = field(default_factory=list)
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.clock()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Note the block as a step."""
        begun = self.clock()
        failed = True
        try:
            yield
            failed = False
        finally:
            self.steps.append(Step(name, begun - self.start, self.clock() - begun, failed))
            self.say(str(self.steps[-1]))

    def summary(self) -> list[str]:
        """The last lines of a run."""
        failed = sum(step.failed for step in self.steps)
        total = self.clock() - self.start
        return [
            *map(str, self.steps),
            f"{total:7.1f} s  in all: {len(self.steps)} steps, {failed} failed",
        ]
