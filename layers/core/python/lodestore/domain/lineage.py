"""Who supersedes whom, over all records of a tenant.

Owns: the reading of `supersedes` and `superseded_by` together.
Guarantees: a memory is superseded while a memory, or the stub of one, lists it, whether or not its own
`superseded_by` was written yet; forgetting the successor does not revive it (design, section 3).
Gives up: chains. A successor that is itself superseded still supersedes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.memory import Memory, Record


@dataclass(frozen=True, slots=True)
class Lineage:
    """The successors of each id, oldest revision first; `since` is from when each successor holds (stubs: always)."""

    _successors: Mapping[str, tuple[tuple[str, datetime | None], ...]]

    @classmethod
    def of(cls, records: Iterable[Record]) -> Lineage:
        """The lineage that these records state, each the highest revision of its id."""
        found: dict[str, list[tuple[str, datetime | None]]] = {}
        for record in sorted(records, key=lambda record: record.revision):
            since = record.holds_from if isinstance(record, Memory) else None
            for older in record.supersedes:
                found.setdefault(older, []).append((record.id, since))
        return cls({older: tuple(newer) for older, newer in found.items()})

    def successors(self, memory: Memory) -> tuple[str, ...]:
        """Ids that supersede `memory`, as stated by them or by itself; empty: it stands."""
        stated = [newer for newer, _ in self._successors.get(memory.id, ())]
        return tuple(dict.fromkeys([*stated, *memory.superseded_by]))

    def successors_at(self, memory: Memory, moment: datetime) -> tuple[str, ...]:
        """Those of them that held at `moment` (valid time)."""
        stated = dict(self._successors.get(memory.id, ()))
        return tuple(
            newer
            for newer in self.successors(memory)
            if (since := stated.get(newer)) is None or since <= moment
        )
