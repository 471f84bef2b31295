"""Exporting: a tenant's memories, one after the other, as they stand.

Owns: the order of an export and what belongs in it. Guarantees: by id, read from the truth, so what was just written is
in it and what is forgotten is not, be it only by its tombstone (P-FORGOTTEN); an object that is no memory is named,
never passed over (P-SILENT-NEVER). Memory for the tenant's ids and `WINDOW` records, whatever their number.
Gives up: one moment. A memory is as it stood when it was read; safe beside writers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lodestore.domain.memory import Memory, Record, Stub
from lodestore.format import keys
from lodestore.format.transfer_lines import VERSIONS_MOST, TransferLine
from lodestore.ports.object_store import ObjectStore
from lodestore.services.forgotten import Forgotten
from lodestore.services.reading import Reading
from lodestore.services.truth import Truth

WINDOW = 64


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object below the tenant's memories that is none, and why."""

    key: str
    why: str


class Exporting:
    """Exports of all tenants."""

    def __init__(self, state: ObjectStore, truth: Truth, forgotten: Forgotten, reading: Reading) -> None:
        self._state = state
        self._truth = truth
        self._forgotten = forgotten
        self._reading = reading

    def run(
        self, tenant: str, *, versions: bool = False, tombstones: bool = False
    ) -> Iterator[TransferLine | Unreadable]:
        """Each memory by id, with `tombstones` each forgotten one's stub, too. Raises StoreUnavailable.

        A merge that a person undid is told without them: its stub has no text, and keeps apart what was taken apart.

        versions   with up to 50 earlier versions of each, where the store keeps them
        """
        ids: list[str] = []
        for page in self._state.list(keys.memories_of(tenant)):
            for entry in page.entries:
                name = keys.parse_memory(entry.key)
                if name is None:
                    yield Unreadable(entry.key, "no memory can have this key")
                else:
                    ids.append(name.id)
        ids.sort()
        copies = self._forgotten.tombstones(tenant)
        for begin in range(0, len(ids), WINDOW):
            for line in self._window(tenant, ids[begin : begin + WINDOW], copies, versions=versions):
                if tombstones or isinstance(line, Unreadable) or not _is_forgotten(line.record):
                    yield line

    def _window(
        self, tenant: str, ids: list[str], copies: frozenset[str], *, versions: bool
    ) -> Iterator[TransferLine | Unreadable]:
        read = self._truth.read_many(tenant, ids)
        for memory_id, found in self._forgotten.look(tenant, read, copies).truth.items():
            if found.invalid:
                yield Unreadable(keys.memory(tenant, memory_id), found.flaw)
            elif isinstance(found.record, Memory):
                yield TransferLine(found.record, self._earlier(found.record) if versions else ())
            elif isinstance(found.record, Stub):
                yield TransferLine(found.record)

    def _earlier(self, memory: Memory) -> tuple[Memory, ...]:
        return tuple(islice(self._reading.versions(memory), 1, 1 + VERSIONS_MOST))


def _is_forgotten(record: Record) -> bool:
    """Whether it is a stub, and none that says that its members stay apart (`Stub.consolidated_reads`)."""
    if isinstance(record, Memory):
        return False
    return not record.consolidated_reads or any(m.id in record.supersedes for m in record.consolidated_reads)
