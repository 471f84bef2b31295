"""What a writer meant to do and what it was told: one file for each writer, and what must stand because of it.

Owns: `Journal` (written by workers), `Expected` (read by the account). Guarantees: an intent is in the file before the
request is sent, so that a killed process leaves no write unmentioned; of each id of a writer's own the account knows
every state that may stand: the last one that was answered, or one that was sent later and not answered.
Gives up: surviving the machine; a killed process leaves its files whole.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

Json = dict[str, Any]
Source = tuple[str, int]

SHARED = "shared"


class Journal:
    """One writer's file."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = path.open("w", encoding="utf-8", buffering=1)

    def intend(self, tool: str, arguments: Json) -> None:
        """Before the call."""
        self._file.write(json.dumps({"tool": tool, "given": arguments}) + "\n")

    def note(self, milliseconds: float, answer: Json) -> None:
        """After it; `answer` may be an error's."""
        self._file.write(json.dumps({"ms": milliseconds, "answer": answer}) + "\n")

    def close(self) -> None:
        """No more will come."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Call:
    """A call and what came back. `answer` None: nothing did."""

    tool: str
    given: Json
    answer: Json | None
    milliseconds: float

    @property
    def error(self) -> str:
        """The error's code; "" for none."""
        return str(self.answer.get("error", "")) if self.answer else ""

    @property
    def unsure(self) -> bool:
        """Whether it may or may not have taken effect."""
        return self.answer is None or self.answer.get("written") in (True, "unknown")


def calls_in(path: Path) -> Iterator[Call]:
    """The calls of a journal, in order."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    for at, line in enumerate(lines):
        if "tool" in line:
            told = lines[at + 1] if at + 1 < len(lines) and "answer" in lines[at + 1] else {}
            yield Call(line["tool"], line["given"], told.get("answer"), told.get("ms", 0.0))


@dataclass(slots=True)
class Expected:
    """What must stand after all of it.

    states     of each id that one writer alone touches: the contents that may stand; None: nothing does
    versions   of the ids that all touch: who was answered which version
    wrong      what was answered and can't be
    """

    states: dict[str, set[str | None]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    versions: dict[Source, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: int = 0
    unanswered: int = 0
    wrong: list[str] = field(default_factory=list)

    def learn(self, call: Call) -> None:
        """Take in the next call of a journal."""
        self.calls[call.tool] += 1
        if call.answer is None:
            self.unanswered += 1
        else:
            self.times.setdefault(call.tool, []).append(call.milliseconds)
        if call.error:
            self.errors[call.error] += 1
        memory_id = str(call.given.get("id", ""))
        if memory_id.startswith(SHARED):
            self._learn_version(memory_id, call)
        elif call.tool in ("remember", "update_memory", "forget"):
            self._learn_state(memory_id, call)
        elif call.tool == "get_memory" and call.answer is not None:
            self._look(memory_id, call)

    def _learn_state(self, memory_id: str, call: Call) -> None:
        known = self.states.setdefault(memory_id, {None})
        meant = None if call.tool == "forget" else str(call.given["content"])
        answer = call.answer or {}
        if call.unsure:
            known.add(meant)
        elif not call.error and answer.get("deleted") is not False:
            self.states[memory_id] = {meant}
            self.answered.add(memory_id)
            self.acknowledged += 1

    def _look(self, memory_id: str, call: Call) -> None:
        if call.error not in ("", "not_found"):
            return
        seen = None if call.error else (call.answer or {})["memory"]["content"]
        if seen not in self.states.get(memory_id, {None}):
            self.wrong.append(f"{memory_id} was read as {seen!r}, not {self.states[memory_id]}")

    def _learn_version(self, memory_id: str, call: Call) -> None:
        if call.tool != "update_memory" or call.error or call.answer is None:
            return
        self.acknowledged += 1
        source, version = str(call.given["source"]), int(call.answer["version"])
        other = self.versions.setdefault((memory_id, version), source)
        if other != source:
            self.wrong.append(f"version {version} of {memory_id} was answered to {other} and to {source}")
