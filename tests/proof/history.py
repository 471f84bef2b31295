"""What was asked and what was answered, in the order in which it happened.

Owns: `Operation` (one call, from its beginning to its end), `Recorder`, `walk`. Guarantees: of two operations one of
which ended before the other began, `ended` is below `began`, in threads too.
Gives up: what happened in between; that is the judge's to infer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.proof.model import Json, Who

FOREVER = 1 << 60
Call = Callable[[str, Json], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call. `answer` None: the process died, and nobody knows.

    given     the arguments; of a walk through a whole list those of its first page
    answer    the tool's answer, or an error (it has the key "error"); of a walk all rows and the total of each page
    """

    number: int
    process: str
    who: Who
    tool: str
    given: Json
    began: int
    ended: int
    answer: Json | None

    @property
    def answered(self) -> Json:
        """The answer; empty where there is none or it is an error."""
        return self.answer if self.answer is not None and "error" not in self.answer else {}

    @property
    def refused(self) -> bool:
        """Whether the caller was told that nothing was written."""
        return self.answer is not None and self.answer.get("written") is False

    @property
    def settled(self) -> bool:
        """Whether its effect, if it has one, was there when it ended."""
        return self.answer is not None and self.answer.get("written") != "unknown"


@dataclass(slots=True)
class Recorder:
    """Operations of any number of threads."""

    operations: list[Operation] = field(default_factory=list)
    _ticks: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tick(self) -> int:
        """A moment after all those before."""
        with self._lock:
            self._ticks += 1
            return self._ticks

    def note(
        self, process: str, who: Who, tool: str, given: Json, began: int, answer: Json | None
    ) -> Operation:
        """Take in a call that ends now."""
        ended = self.tick()
        with self._lock:
            operation = Operation(
                number=len(self.operations),
                process=process,
                who=who,
                tool=tool,
                given=given,
                began=began,
                ended=ended,
                answer=answer,
            )
            self.operations.append(operation)
        return operation


def walk(call: Call, given: Json) -> Json:
    """A whole list, page by page: {memories, totals}, or the error of the page that failed."""
    rows: list[Json] = []
    totals: list[int] = []
    more: Json = {}
    while True:
        page = call("list_memories", {**given, **more})
        if "error" in page:
            return page
        rows += page["memories"]
        totals.append(page["total"])
        if "next_cursor" not in page:
            return {"memories": rows, "totals": totals}
        more = {"cursor": page["next_cursor"]}
