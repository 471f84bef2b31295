"""Rebuilding: the index of a tenant from the truth alone.

Owns: reading all of the truth and making segments of it. Guarantees: needs nothing of the old index, not even a
readable manifest (P-TRUTH); a change that was answered while the truth was read is in a segment added since, which
stays on top, or still has its marker (P-READ-YOUR-WRITES); what was forgotten and put back by hand is forgotten again
(P-FORGOTTEN). Bounded: 32 reads at a time, and no more than one segment's worth of records in memory.
Gives up: speed; each object is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from lodestore.domain.memory import Memory, Stub
from lodestore.domain.use_levels import Levels
from lodestore.ports.meter import Meter
from lodestore.services.folded_levels import FoldedLevels
from lodestore.services.forgotten import Forgotten
from lodestore.services.indexing import RUN_IDS, Contended, Indexing, NeedsRebuild
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.pending import Pending
from lodestore.services.replacing import Replaced, Replacing
from lodestore.services.rows import UNUSED, row_of, segment_of, use_columns
from lodestore.services.segments import Segments, Written
from lodestore.services.truth import Read, Truth

SEGMENT_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild found and did; with `dry_run`, what it would do.

    objects           under the tenant's memories; `invalid` of them are no records, and stay as they are
    forgotten_again   objects as old as their tombstone, or older, that became stubs again
    tombstones        copies of stubs that were missing
    kept              segments added by others meanwhile, that stay listed; `retired` ones left the list
    generation        of the manifest; 0: there is none, for there is nothing to index
    """

    dry_run: bool
    objects: int = 0
    memories: int = 0
    stubs: int = 0
    invalid: int = 0
    forgotten_again: int = 0
    tombstones: int = 0
    segments: int = 0
    kept: int = 0
    retired: int = 0
    generation: int = 0


Progress = Callable[[Rebuilt], None]


def unseen(_: Rebuilt) -> None:
    """Progress that nobody looks at."""


class Rebuilding:
    """Rebuilds of all tenants. Safe beside everything else."""

    def __init__(
        self,
        manifests: Manifests,
        segments: Segments,
        pending: Pending,
        truth: Truth,
        forgotten: Forgotten,
        replacing: Replacing,
        indexing: Indexing,
        levels: FoldedLevels,
        *,
        meter: Meter,
        model: str | None,
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._pending = pending
        self._truth = truth
        self._forgotten = forgotten
        self._replacing = replacing
        self._indexing = indexing
        self._levels = levels
        self._meter = meter
        self._model = model

    def run(
        self, tenant: str, *, dry_run: bool = False, settle: bool = True, progress: Progress = unseen
    ) -> Rebuilt:
        """Rebuild the index. Raises StoreUnavailable, Unavailable, Contended; then the old index stands.

        settle     False: write no memory and no tombstone; what was restored is indexed as forgotten
        progress   called after each batch of objects with what was done so far
        """
        begun = self._manifests.load(tenant)
        report = Rebuilt(dry_run=dry_run)
        written: list[Written] = []
        levels = {} if dry_run else self._levels.read(tenant)
        for truth, report in self._batches(tenant, report, settle=settle):  # noqa: B020 - each batch continues the report
            if not dry_run:
                written = [*self._replacing.renewed(tenant, written), *self._build(tenant, truth, levels)]
            progress(report)
        if dry_run:
            return replace(report, generation=begun.manifest.generation if begun.manifest else 0)
        if begun.etag is None and not report.objects and not self._pending.list(tenant).markers:
            return report
        return self._replace(tenant, begun, written, report)

    def _batches(
        self, tenant: str, report: Rebuilt, *, settle: bool
    ) -> Iterator[tuple[Mapping[str, Read], Rebuilt]]:
        """The truth, one segment's worth at a time, with the report so far."""
        tombstones = self._forgotten.tombstones(tenant)
        ids = self._truth.ids(tenant)
        while together := list(islice(ids, SEGMENT_ROWS)):
            read = self._truth.read_many(tenant, together)
            settled = (
                self._forgotten.settle(tenant, read, tombstones, dry_run=report.dry_run)
                if settle
                else self._forgotten.look(tenant, read, tombstones)
            )
            records = [one.record for one in settled.truth.values()]
            report = replace(
                report,
                objects=report.objects + len(together),
                memories=report.memories + sum(isinstance(record, Memory) for record in records),
                stubs=report.stubs + sum(isinstance(record, Stub) for record in records),
                invalid=report.invalid + sum(one.invalid for one in settled.truth.values()),
                forgotten_again=report.forgotten_again + settled.forgotten_again,
                tombstones=report.tombstones + settled.copied,
                segments=report.segments + any(record is not None for record in records),
            )
            yield settled.truth, report

    def _build(self, tenant: str, truth: Mapping[str, Read], levels: Levels) -> Iterator[Written]:
        rows = [
            row_of(
                read.record,
                read.etag,
                model=self._model,
                use=use_columns(levels[memory_id]) if memory_id in levels else UNUSED,
            )
            for memory_id, read in truth.items()
            if read.record is not None and read.etag is not None
        ]
        if rows:
            yield self._segments.write(tenant, segment_of(rows, model=self._model))

    def _replace(
        self, tenant: str, begun: LoadedManifest, written: list[Written], report: Rebuilt
    ) -> Rebuilt:
        replaced: Replaced = self._replacing.run(tenant, begun, written)
        self._meter.count("index_rebuilt")
        touched = iter(sorted(replaced.touched))
        while together := list(islice(touched, RUN_IDS)):
            try:
                self._indexing.run(tenant, together)
            except NeedsRebuild:
                raise Contended from None
        return replace(report, kept=replaced.kept, retired=replaced.retired, generation=replaced.generation)
