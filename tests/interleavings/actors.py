"""What a process does next, remembered: its local states, each made by the real code once.

Owns: `Actor`: the local states of one process of a scenario and the steps between them.
Guarantees: two sequences of answers lead to one local state only if every thread of work got the same answers at the
same times, in its own order, or if nothing is left to do and the callers of writes were told the same; what follows
was computed by the real code in a live process that was given just these answers. `replays` holds that against whole
runs in which all processes live.
Gives up: keeping every process alive; one that is needed again is started anew and given its answers again.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from lodestore.format import keys
from lodestore.ports.object_store import Found, Won
from tests.interleavings.processes import Outstanding, Process
from tests.interleavings.steps import Step, StepAnswer
from tests.stores.memory_store import Answer, Request

PROCESSES_ALIVE = 48
# Each thread of work, and the number of all that it was answered.
Threads = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A process of a scenario: its steps, and how far its clock is from the store's, in seconds.

    cold   each step runs in a process of its own, which holds nothing in memory
    """

    name: str
    steps: tuple[Step, ...]
    clock: float = 0.0
    cold: bool = False

    def does(self, *tools: str) -> bool:
        """Whether any step is one of these."""
        return any(step.tool in tools for step in self.steps)


@dataclass(frozen=True, slots=True)
class Given:
    """An answer to the request of a thread of work, and the store's time at which it came."""

    task: str
    answer: Answer
    now: datetime


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A local state: what waits, what the callers of writes were told so far, and how it came about.

    step       how many steps were answered
    fresh      the present step has sent its first requests, and none was answered yet
    evidence   id to the highest revision of it that the present step wrote or read
    last       the answer that led here from `before`; None: here a process started, with step `step` at `began`
    """

    number: int
    outstanding: tuple[Outstanding, ...]
    told: tuple[StepAnswer, ...]
    step: int
    fresh: bool
    evidence: tuple[tuple[str, str], ...]
    last: Given | None
    before: Local | None
    began: datetime
    threads: Threads

    @property
    def root(self) -> Local:
        """Where the present process started."""
        local = self
        while local.before is not None:
            local = local.before
        return local

    def request_of(self, task: str) -> Request | None:
        return next(waiting.request for waiting in self.outstanding if waiting.task == task)

    def history(self) -> list[Given]:
        """Every answer to the present process, oldest first, in the order in which this state was first reached."""
        given: list[Given] = []
        local = self
        while local.last is not None and local.before is not None:
            given.append(local.last)
            local = local.before
        return given[::-1]


class Actor:
    """One program's local states, by number; 0 is the beginning."""

    def __init__(self, program: Program, began: datetime) -> None:
        self.program = program
        self.locals: list[Local] = []
        self.started = 0
        self._numbers: dict[Hashable, int] = {}
        self._reached: dict[tuple[int, Threads], tuple[int, StepAnswer | None]] = {}
        self._histories: dict[tuple[int, Answer, datetime], int] = {}
        self._alive: OrderedDict[int, Process] = OrderedDict()
        self._root(0, (), began)

    def next(self, number: int, given: Given) -> tuple[int, StepAnswer | None]:
        """The local state after this answer, and what the present step's caller is told, if that ends it."""
        before = self.locals[number]
        threads = dict(before.threads)
        behind = (threads.get(given.task, 0), given.answer, given.now)
        threads[given.task] = self._histories.setdefault(behind, len(self._histories) + 1)
        given_so_far = (before.root.number, tuple(sorted(threads.items())))
        known = self._reached.get(given_so_far)
        if known is None:
            known = self._reached[given_so_far] = self._answered(before, given, given_so_far[1])
        return known

    def revived(self, number: int) -> Process | None:
        """A process of one's own in this local state; None: it has nothing left to do."""
        local = self.locals[number]
        return self._replayed(local) if local.outstanding else None

    def close(self) -> None:
        """End all live processes."""
        while self._alive:
            self._alive.popitem()[1].abandon()

    def _answered(self, before: Local, given: Given, threads: Threads) -> tuple[int, StepAnswer | None]:
        process = self._alive.pop(before.number, None) or self._replayed(before)
        process.answer(given.task, given.answer, given.now)
        if process.failure is not None:
            raise process.failure
        after = replace(before, outstanding=process.outstanding, last=given, before=before, threads=threads)
        done = before.step - before.root.step
        if len(process.answers) == done:
            fresh = before.request_of(given.task) is None
            after = replace(after, fresh=fresh, evidence=evidence_after(before, given))
            return self._add((before.root.number, threads), after, process), None
        answer = process.answers[done]
        told = before.told if answer.step.reads or answer.step.keeps_up else (*before.told, answer)
        after = replace(after, told=told, step=before.step + 1, fresh=True, evidence=())
        if not process.outstanding:
            return self._add(told, replace(after, last=None, before=None), None), answer
        if self.program.cold:
            process.abandon()
            return self._root(after.step, told, given.now), answer
        return self._add((before.root.number, threads), after, process), answer

    def _root(self, step: int, told: tuple[StepAnswer, ...], began: datetime) -> int:
        process = self._start(step, began)
        local = Local(0, process.outstanding, told, step, True, (), None, None, began, ())
        return self._add((step, told, began), local, process)

    def _add(self, canonical: Hashable, local: Local, process: Process | None) -> int:
        number = self._numbers.setdefault(canonical, len(self.locals))
        if number == len(self.locals):
            self.locals.append(replace(local, number=number))
        known = self.locals[number]
        assert known.outstanding == local.outstanding, "a process is more than the answers it was given"
        if process is not None and number not in self._alive:
            self._alive[number] = process
        elif process is not None:
            process.abandon()
        while len(self._alive) > PROCESSES_ALIVE:
            self._alive.popitem(last=False)[1].abandon()
        return number

    def _start(self, step: int, began: datetime) -> Process:
        self.started += 1
        program = self.program
        return Process(program.name, program.steps, step, offset=timedelta(seconds=program.clock), now=began)

    def _replayed(self, local: Local) -> Process:
        process = self._start(local.root.step, local.root.began)
        for given in local.history():
            process.answer(given.task, given.answer, given.now)
        assert process.outstanding == local.outstanding, "a process is more than the answers it was given"
        return process


def evidence_after(before: Local, given: Given) -> tuple[tuple[str, str], ...]:
    """Id to the highest revision of it that the step wrote or read, this answer included."""
    request = before.request_of(given.task)
    name = keys.parse_memory(request.key) if request is not None else None
    seen = dict(before.evidence)
    if request is None or name is None:
        return before.evidence
    body = given.answer.body if isinstance(given.answer, Found) else None
    body = request.body if isinstance(given.answer, Won) else body
    if body:
        seen[name.id] = max(seen.get(name.id, ""), str(json.loads(body)["revision"]))
    return tuple(sorted(seen.items()))
