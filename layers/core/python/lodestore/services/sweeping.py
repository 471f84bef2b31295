"""The sweep: the truth as one listing shows it, against what the index shows.

Owns: finding what no marker and no event told of: an object put, changed or removed by hand, a stub that was
overwritten with its old object, a copy of a stub or a note of being superseded that was never written. Guarantees:
only what differs by ETag is read; an old object becomes its stub again (P-FORGOTTEN); what it hands on is indexed from
the truth as it then is, so it is safe beside writers and another sweep (P-IDEMPOTENT).
Gives up: objects that are no records: each is named with what is wrong with it, left as it is and looked at again each
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lodestore.domain.memory import Memory
from lodestore.format import keys
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectStore
from lodestore.services.forgotten import Forgotten
from lodestore.services.index_rows import IndexRows, ShownRow, read_index
from lodestore.services.manifests import Manifests
from lodestore.services.segments import Segments
from lodestore.services.supersede import Superseding
from lodestore.services.truth import Read, Truth

RUN_IDS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one run found; with `dry_run` it only looked.

    objects    id to ETag, as listed
    differing  ids whose object is another than the index shows, or that it does not show
    vanished   ids that the index shows and the listing has not
    skipped    (id, why) of objects that are no records; they stay as they are, and are not found
    forgotten_again, copied   objects that became stubs again; copies of stubs that were missing or lower
    noted      (superseded id, successor) that were not noted
    left       ids that were too many for one run
    """

    objects: Mapping[str, str] = field(default_factory=dict)
    differing: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    forgotten_again: int = 0
    copied: int = 0
    noted: tuple[tuple[str, str], ...] = ()
    left: int = 0

    @property
    def dirty(self) -> tuple[str, ...]:
        """The ids that the indexer has to look at."""
        return (*self.differing, *self.vanished)


class Sweeping:
    """The sweep of all tenants."""

    def __init__(
        self,
        state: ObjectStore,
        manifests: Manifests,
        segments: Segments,
        truth: Truth,
        forgotten: Forgotten,
        superseding: Superseding,
        *,
        meter: Meter,
    ) -> None:
        self._state = state
        self._manifests = manifests
        self._segments = segments
        self._truth = truth
        self._forgotten = forgotten
        self._superseding = superseding
        self._meter = meter

    def run(self, tenant: str, *, dry_run: bool = False) -> Swept:
        """Compare all of a tenant. Raises StoreUnavailable, Unavailable; NeedsRebuild: no usable index."""
        # The index first: what changes between the two listings differs, and is only read once more.
        index = read_index(tenant, self._manifests, self._segments)
        shown = index.rows()
        objects = self._listed(tenant)
        copies = self._copies(tenant)
        differing = sorted(m for m, etag in objects.items() if m not in shown or shown[m].etag != etag)
        vanished = sorted(m for m, row in shown.items() if m not in objects and not row.stub)
        doubted = _doubted(objects, shown, copies)
        wanted = [*differing[:RUN_IDS], *doubted[:RUN_IDS]]
        truth = self._truth.read_many(tenant, wanted)
        settled = self._forgotten.settle(tenant, truth, frozenset(copies), dry_run=dry_run)
        skipped = {m: read.flaw for m, read in truth.items() if read.invalid}
        return Swept(
            objects=objects,
            # What the index shows of an object that is no record any more has to go; what it never showed is no news.
            differing=tuple(m for m in differing[:RUN_IDS] if m not in skipped or m in shown),
            skipped=tuple(sorted(skipped.items())),
            vanished=tuple(vanished[:RUN_IDS]),
            forgotten_again=settled.forgotten_again,
            copied=settled.copied,
            noted=self._note(tenant, index, dry_run=dry_run),
            left=sum(max(0, len(ids) - RUN_IDS) for ids in (differing, vanished, doubted)),
        )

    def _listed(self, tenant: str) -> dict[str, str]:
        objects: dict[str, str] = {}
        for page in self._state.list(keys.memories_of(tenant)):
            for entry in page.entries:
                name = keys.parse_memory(entry.key)
                if name is None:
                    self._meter.count("foreign_object_skipped")
                else:
                    objects[name.id] = entry.etag
        return objects

    def _copies(self, tenant: str) -> dict[str, str]:
        return {
            name.id: entry.etag
            for page in self._state.list(keys.tombstones_of(tenant))
            for entry in page.entries
            if (name := keys.parse_tombstone(entry.key)) is not None
        }

    def _note(self, tenant: str, index: IndexRows, *, dry_run: bool) -> tuple[tuple[str, str], ...]:
        """Write the notes that are missing, where the truth still says so."""
        missing = index.unnoted()[:RUN_IDS]
        truth = self._truth.read_many(tenant, (memory_id for pair in missing for memory_id in pair))
        noted: list[tuple[str, str]] = []
        for target, successor in missing:
            if not _lacks(truth, target, successor):
                continue
            if not dry_run:
                self._superseding.note(tenant, successor, (target,))
            noted.append((target, successor))
        return tuple(noted)


def _lacks(truth: Mapping[str, Read], target: str, successor: str) -> bool:
    newer, older = truth[successor].record, truth[target].record
    return (
        newer is not None
        and target in newer.supersedes
        and isinstance(older, Memory)
        and successor not in older.superseded_by
    )


def _doubted(
    objects: Mapping[str, str], shown: Mapping[str, ShownRow], copies: Mapping[str, str]
) -> list[str]:
    """Ids that are shown as they are, and whose tombstone is missing, may be lower, or says that they are forgotten.

    A copy has the bytes of its stub, and so its ETag where the store makes that from the bytes; where it does not
    (SSE-KMS), each copy is read.
    """
    return sorted(
        memory_id
        for memory_id, row in shown.items()
        if objects.get(memory_id) == row.etag
        and (copies.get(memory_id) != row.etag if row.stub else memory_id in copies)
    )
