"""Feedback: whether a memory was of use.

Owns: the tool `memory_feedback`. Guarantees: flushed before it is answered, so the counts shown are stored.
Gives up: who said it; feedback is counted per memory, not per caller.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.counters import Tally
from lodestore.errors import InvalidArgument
from lodestore.services.arguments import Arguments
from lodestore.services.counts import Counts
from lodestore.services.reading import Reading
from lodestore.services.statements import Screen
from lodestore.settings import SecretPolicy

ARGUMENTS = ("id", "useful", "note")


class Feedback:
    """The tool `memory_feedback`."""

    def __init__(self, reading: Reading, counts: Counts, *, secrets: SecretPolicy) -> None:
        self._reading = reading
        self._counts = counts
        self._secrets = secrets

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{id, useful_count, not_useful_count}. Raises LodestoreError."""
        arguments = Arguments("memory_feedback", given, ARGUMENTS)
        memory_id = arguments.required_identifier()
        useful = arguments.flag("useful")
        if useful is None:
            raise InvalidArgument(
                "useful is required.", field="useful", limit="true or false", next_step="Give useful."
            )
        note = Screen(self._secrets).text("note", arguments.text("note", most_bytes=limits.REASON_BYTES))
        memory = self._reading.memory(caller, memory_id)
        tally = Tally(useful=1) if useful else Tally(not_useful=1)
        total = self._counts.feedback(caller.tenant, memory.id, tally, note)
        return {"id": memory.id, "useful_count": total.useful, "not_useful_count": total.not_useful}
