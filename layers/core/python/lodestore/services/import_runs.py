"""A whole import: entries of a file one after the other, several at a time.

Owns: what may go side by side. Guarantees: outcomes come in the order of the entries, each with its place, merged
memories last, for they hold only where their members are; an entry that is refused is said, and the others go on
(P-SILENT-NEVER); two entries of one id, and one that supersedes, never run beside another. Memory for `BATCH` entries,
`MERGED_MOST` merged memories, the ids that came, and what the index shows.
Gives up: the file; readers of `local_runner` make entries of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from concurrent.futures import Executor
from dataclasses import dataclass, field

from lodestore.domain.arrival import WRITES, Verdict
from lodestore.domain.identity import id_from_content
from lodestore.domain.memory import Memory
from lodestore.errors import LodestoreError
from lodestore.format.transfer_lines import TransferLine
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.import_statements import StatementImporting
from lodestore.services.importing import Importing, ImportOptions, Taken
from lodestore.services.index_rows import ShownRow, read_index
from lodestore.services.indexing import NeedsRebuild
from lodestore.services.manifests import Manifests
from lodestore.services.segments import Segments

BATCH = 16
MERGED_MOST = 10_000
"""Merged memories that wait for their members; those behind them are judged where they stand in the file."""

_AS_BROUGHT = WRITES | {Verdict.ALREADY_KNOWN}


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why an entry is nothing that can be stored; nothing of its content."""

    why: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of what is imported: a record of ours, arguments of `remember`, or a flaw. `place`: where it stands."""

    place: str
    item: TransferLine | Mapping[str, object] | Flaw


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an entry; `error` where it is refused."""

    entry: Entry
    taken: Taken | None = None
    error: str = ""


@dataclass(slots=True)
class _Batch:
    """Entries that may go side by side."""

    calls: list[tuple[Entry, Callable[[], Taken]]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


class ImportRuns:
    """Imports of all tenants.

    takers   threads that are not those of the ledger, for each write waits for one of those
    """

    def __init__(
        self,
        importing: Importing,
        statements: StatementImporting,
        manifests: Manifests,
        segments: Segments,
        *,
        takers: Executor,
    ) -> None:
        self._importing = importing
        self._statements = statements
        self._manifests = manifests
        self._segments = segments
        self._takers = takers

    def run(self, tenant: str, entries: Iterable[Entry], options: ImportOptions) -> Iterator[Outcome]:
        """The outcome of each entry, in order. Raises StoreUnavailable, and whatever the entries' reader raises."""
        shown = self._shown(tenant)
        brought: set[str] = set()
        batch = _Batch()
        for entry in _merged_last(entries):
            memory_id, call, alone = self._prepared(tenant, entry, shown, options, brought)
            if memory_id in batch.ids or alone or len(batch.calls) >= BATCH:
                yield from self._done(batch, brought)
                batch = _Batch()
            batch.calls.append((entry, call))
            batch.ids.add(memory_id)
            if alone:
                yield from self._done(batch, brought)
                batch = _Batch()
        yield from self._done(batch, brought)

    def _prepared(
        self,
        tenant: str,
        entry: Entry,
        shown: Mapping[str, ShownRow],
        options: ImportOptions,
        brought: Set[str],
    ) -> tuple[str, Callable[[], Taken], bool]:
        """The id that the entry is about, what to do, and whether nothing else may go on meanwhile."""
        item = entry.item
        if isinstance(item, Flaw):
            return "", _raising(LodestoreError(item.why)), False
        if isinstance(item, TransferLine):
            record = item.record
            alone = bool(record.supersedes)
            return record.id, lambda: self._importing.take(tenant, item, shown, options, brought), alone
        try:
            statement = self._statements.read(tenant, item)
        except LodestoreError as error:
            return "", _raising(error), False
        memory_id = id_from_content(statement.content, None, 0)
        return memory_id, lambda: self._statements.take(tenant, statement, options), False

    def _done(self, batch: _Batch, brought: set[str]) -> Iterator[Outcome]:
        for outcome in self._takers.map(_outcome, batch.calls):
            if outcome.taken is not None and outcome.taken.verdict in _AS_BROUGHT:
                brought.add(outcome.taken.memory_id)
            yield outcome

    def _shown(self, tenant: str) -> Mapping[str, ShownRow]:
        try:
            return read_index(tenant, self._manifests, self._segments).rows()
        except NeedsRebuild:
            return {}


def _merged_last(entries: Iterable[Entry]) -> Iterator[Entry]:
    merged: list[Entry] = []
    for entry in entries:
        record = entry.item.record if isinstance(entry.item, TransferLine) else None
        if isinstance(record, Memory) and record.consolidated_reads and len(merged) < MERGED_MOST:
            merged.append(entry)
        else:
            yield entry
    yield from merged


def _outcome(prepared: tuple[Entry, Callable[[], Taken]]) -> Outcome:
    entry, call = prepared
    try:
        return Outcome(entry, call())
    except LodestoreError as error:
        return Outcome(entry, error=error.message)
    except StoreUnavailable:
        return Outcome(entry, error="The store did not answer a read; nothing is known to be stored.")


def _raising(error: LodestoreError) -> Callable[[], Taken]:
    def call() -> Taken:
        raise error

    return call
