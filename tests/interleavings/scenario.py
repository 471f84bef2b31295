"""A scenario: a beginning, a few processes, and what may happen to them.

Owns: `Scenario` and what it is made of. Guarantees: data only; the same scenario is explored the same way every time.
Gives up: chance. What the scheduler may choose is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from tests.interleavings.actors import Program
from tests.interleavings.steps import Step, StepAnswer
from tests.interleavings.truths import Record


class Mishap(Enum):
    """What may come of a write instead of its answer, or of a process."""

    CONTENDED = "409, nothing written"
    UNKNOWN_BEFORE = "no answer, never written"
    UNKNOWN_AFTER = "no answer, though written"
    UNKNOWN_LATE = "no answer, and written later, or never"
    DIES = "the process is never heard of again"


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes in the beginning, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Before:
    """A step of the beginning. `by` names a program of the scenario, whose process has done it when it starts.

    by   "" for a process of its own
    """

    step: Step
    by: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """How it all ended: what each process was answered, and the records that stand."""

    answers: Mapping[str, tuple[StepAnswer, ...]]
    records: Mapping[str, Record]


def _fine(_: End) -> list[str]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario.

    ids        every id that may come to be
    beginning  one after the other, before the exploration
    jumps      seconds by which the store's clock may jump, in this order, each at any moment
    mishaps    what may happen, `most` times in all, to the processes `to`
    may_fail   whether a writer may be answered with an error though nothing happened to it
    fan_in     how many segments of a tier make a merge; None: as many as ever
    judge      what must hold in the end, beside what always must
    """

    name: str
    says: str
    ids: tuple[str, ...]
    programs: tuple[Program, ...]
    beginning: tuple[Before | Wait, ...] = ()
    jumps: tuple[float, ...] = ()
    mishaps: tuple[Mishap, ...] = ()
    most: int = 1
    to: tuple[str, ...] = ()
    may_fail: bool = False
    fan_in: int | None = None
    judge: Callable[[End], list[str]] = _fine
    quick: bool = False

    def does(self, *tools: str) -> bool:
        """Whether any process does one of these."""
        return any(program.does(*tools) for program in self.programs)
