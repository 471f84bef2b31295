"""The judgement that goes along with every schedule.

Owns: `Judging`: what is allowed to readers now and to those on their way, changed by every commit, every start of a
reader and every answer to a caller. Guarantees: what it keeps is a value, part of the explored state, so that two
schedules are taken for one only where they are judged alike from there on.
Gives up: what a step that failed may have promised: nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from lodestore.format import keys
from tests.interleavings.actors import Given, Local, evidence_after
from tests.interleavings.readers import flaws_of_answer
from tests.interleavings.scenario import Scenario
from tests.interleavings.steps import StepAnswer
from tests.interleavings.truths import (
    Record,
    Standing,
    Window,
    allowed,
    flaws_of_commit,
    is_stub,
    records_of,
    standing,
    told,
    windows_of,
)
from tests.stores.memory_store import Contents, Request

# Of each id, the standings that a reader on its way may be told of; None: the process does not read now.
Reading = tuple[frozenset[Standing], ...] | None

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Judged:
    """Windows by id, and readings by process."""

    windows: tuple[Window, ...]
    readings: tuple[Reading, ...]


class Violation(AssertionError):
    """A promise is broken."""


class Judging:
    """The rules of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._ids = scenario.ids
        self._read: dict[Contents, Mapping[str, Record]] = {}

    def records(self, state: Contents) -> Mapping[str, Record]:
        """The records that the bucket holds."""
        known = self._read.get(state)
        if known is None:
            known = self._read[state] = records_of(state)
        return known

    def first(self, state: Contents) -> Judged:
        """All that is stored in the beginning was answered, and nobody reads."""
        return Judged(windows_of(self.records(state), self._ids), (None,) * len(self._scenario.programs))

    def commit(self, judged: Judged, before: Contents, after: Contents, request: Request) -> Judged:
        """A write to the state bucket took effect. Raises Violation."""
        old, new = self.records(before), self.records(after)
        name = keys.parse_memory(request.key)
        if name is None:
            return judged
        check(flaws_of_commit(old, new, name.id))
        at, now = self._ids.index(name.id), standing(new, name.id)
        windows = _with(judged.windows, at, (*judged.windows[at], now))
        readings = tuple(
            None if reading is None else _with(reading, at, reading[at] | {now})
            for reading in judged.readings
        )
        return Judged(windows, readings)

    def began(self, judged: Judged, process: int) -> Judged:
        """The process sends the first request of a step that reads."""
        reading = tuple(map(frozenset, judged.windows))
        return replace(judged, readings=_with(judged.readings, process, reading))

    def ended(self, judged: Judged, process: int, before: Local, given: Given, answer: StepAnswer) -> Judged:
        """The process's caller is answered. Raises Violation."""
        if answer.raised:
            check([f"{answer.step.tool} raised {answer.raised}"])
        if answer.step.reads:
            reading = judged.readings[process]
            assert reading is not None
            check(flaws_of_answer(answer, allowed(self._ids, reading)))
            return replace(judged, readings=_with(judged.readings, process, None))
        if answer.failed:
            if not self._scenario.may_fail:
                check([f"{answer.step.tool} failed: {answer.text}"])
            return judged
        if answer.step.keeps_up:
            return judged
        return replace(judged, windows=told(judged.windows, dict(evidence_after(before, given)).values()))

    def check_fresh(self, judged: Judged, answers: tuple[StepAnswer, ...]) -> None:
        """Judge what a process that starts now is shown. Raises Violation."""
        may = allowed(self._ids, judged.windows)
        check(f"a fresh process: {flaw}" for answer in answers for flaw in flaws_of_answer(answer, may))


def flaws_of_tombstones(state: Contents, records: Mapping[str, Record]) -> list[str]:
    """A tombstone above a live memory would make upkeep forget it."""
    flaws = []
    for key, version in state.current().items():
        if key.startswith(keys.TOMBSTONES):
            copy = json.loads(version.body or b"")
            record = records[copy["id"]]
            if copy["revision"] > record["revision"] or (
                copy["revision"] == record["revision"] and not is_stub(record)
            ):
                flaws.append(f"the tombstone of {copy['id']} is above what stands")
    return flaws


def _with(values: tuple[Value, ...], at: int, value: Value) -> tuple[Value, ...]:
    return (*values[:at], value, *values[at + 1 :])


def check(flaws: Iterable[str]) -> None:
    """Raises Violation where there is any flaw."""
    flaws = list(flaws)
    if flaws:
        raise Violation("; ".join(flaws))
