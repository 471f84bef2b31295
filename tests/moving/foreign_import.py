"""A file of another store, imported into a tenant of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from local_runner.moving.sources import Format, entries_of, find_source
from lodestore.domain.arrival import Verdict
from lodestore.services.import_runs import Outcome
from lodestore.services.importing import ImportOptions
from tests.services.world import Answer, Instance, rows

PLAIN = ImportOptions()


@dataclass
class Taker:
    """The tenant; `told` is the format of the last import, `notes` what was passed over."""

    instance: Instance
    told: str = ""
    notes: list[str] = field(default_factory=list)

    def take(self, place: Path, options: ImportOptions = PLAIN, named: Format | None = None) -> list[Outcome]:
        """What became of each entry."""
        source = find_source(str(place), named)
        self.told = source.format
        entries = entries_of(source, "acme", self.notes.append)
        return list(self.instance.lodestore.moving.imports.run("acme", entries, options))

    def verdicts(self, place: Path, options: ImportOptions = PLAIN, named: Format | None = None) -> list[str]:
        """The same in a word each; of a refused one its place and why."""
        return [
            f"{outcome.entry.place}: {outcome.error}" if outcome.taken is None else str(outcome.taken.verdict)
            for outcome in self.take(place, options, named)
        ]

    def stored(self, place: Path) -> dict[str, Answer]:
        """Content to memory, after an import that must store all of it."""
        verdicts = self.verdicts(place)
        assert set(verdicts) == {Verdict.STORED}, verdicts
        return self.memories()

    def memories(self) -> dict[str, Answer]:
        """Content to memory."""
        listed = rows(self.instance.call("list_memories", limit=100, status="all"), "memories")
        return {str(memory["content"]): memory for memory in listed}
