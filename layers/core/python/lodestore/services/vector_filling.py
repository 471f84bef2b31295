"""Filling the vector engine: a tenant's index begun, filled from the segments, left.

Owns: every put to the engine, and the manifest's marks of what is filled. Guarantees: a segment is marked only after
all vectors of its live rows were put, and only under the beginning in which they were; an index is created only right
after a swap that marks nothing, so an empty one is never taken for filled; until it is marked a segment is scored from
the shards, so crossing the threshold leaves no gap. Safe beside writers, readers, merges and other runs (P-IDEMPOTENT).
Gives up: the tenant's index while the engine does not answer; it is tried again by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lodestore.domain.engine_marks import is_left, with_marks, with_use
from lodestore.domain.manifest import EngineUse, Manifest, SegmentEntry
from lodestore.domain.memory import Memory
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.format import keys
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import StoreUnavailable
from lodestore.ports.vector_index import Done, Failure, NoIndex, Shape, VectorIndex
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.due import Due
from lodestore.services.index_view import live_rows
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.segments import Segments
from lodestore.services.truth import Truth
from lodestore.services.vector_rows import keys_of, vectors_of, with_vectors

# An index is left below this share of the threshold, so that a tenant at its edge does not go back and forth.
LEFT_BELOW = 0.8
# Rows put before their segments are marked, so that a run that is cut keeps what it did.
ROWS_TOGETHER = 500
MARK_EVERY = 5_000
_TRIES: Final = 10
_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Which vectors go to the engine: of this model and dimension, of tenants with more than `threshold` memories.

    threshold   None: of none, and those that are there leave
    text        put full texts too, and search them
    """

    model: str
    dim: int
    threshold: int | None
    text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What one run did: rows whose vectors were put, segments marked, and those that are left for another run.

    failed   the engine refused or did not answer, and the run ended there
    """

    rows: int = 0
    marked: int = 0
    left: int = 0
    failed: bool = False


class EngineFailed(Exception):
    """The engine refused or did not answer."""


class VectorFilling:
    """The filling of all tenants' vector indexes."""

    def __init__(
        self,
        engine: VectorIndex,
        choice: EngineChoice,
        manifests: Manifests,
        segments: Segments,
        truth: Truth,
        due: Due,
        *,
        clock: Clock,
        entropy: Entropy,
        meter: Meter,
    ) -> None:
        self._engine = engine
        self._choice = choice
        self._manifests = manifests
        self._segments = segments
        self._truth = truth
        self._due = due
        self._clock = clock
        self._entropy = entropy
        self._meter = meter

    def index_of(self, tenant: str) -> str:
        """The name of the tenant's index for this process's model."""
        return keys.vector_index(tenant, self._choice.model)

    def fits(self, shape: Shape) -> bool:
        """Whether an index is as this process makes them."""
        return shape == Shape(self._choice.dim, True, self._choice.text)

    def fills(self, segment: Segment) -> bool:
        """Whether a segment's vectors belong there; those of another model don't."""
        return segment.model == self._choice.model

    def run(self, tenant: str, *, going: Callable[[], bool] = lambda: True) -> Filled:
        """Begin, fill or leave the tenant's index. Never raises what the stores or the engine may fail in."""
        try:
            filled = self._run(tenant, going)
        except (StoreUnavailable, EngineFailed):
            filled = Filled(failed=True)
        if filled.failed:
            self._meter.count("vector_filling_failed")
        if filled.failed or filled.left:
            self._due.note(tenant, self._clock.now())
        return filled

    def begin_again(self, tenant: str) -> bool:
        """Begin the tenant's index anew, for what was in it is lost. False: another did.

        Raises StoreUnavailable, EngineFailed.
        """
        standing = self._manifests.load(tenant)
        manifest = standing.manifest
        if manifest is None or manifest.engine is None or manifest.engine.index != self.index_of(tenant):
            return False
        return self._begin(tenant, standing, manifest)

    def _run(self, tenant: str, going: Callable[[], bool]) -> Filled:
        done = Filled()
        for attempt in range(_TRIES):
            standing = self._manifests.load(tenant)
            manifest = standing.manifest
            if manifest is None or manifest.tokenizer != TOKENIZER_VERSION:
                return done
            if not self._is_settled(tenant, manifest):
                if not self._change(tenant, standing, manifest):
                    self._pause(attempt)
                continue
            unmarked = [entry for entry in manifest.segments if not entry.in_engine]
            if manifest.engine is None or manifest.engine.index != self.index_of(tenant) or not unmarked:
                return done
            filled, lost = self._fill(tenant, manifest.engine, manifest, unmarked, going)
            done = replace(filled, rows=done.rows + filled.rows, marked=done.marked + filled.marked)
            if not lost:
                return done
            self._pause(attempt)
        return replace(done, failed=True)

    def _is_settled(self, tenant: str, manifest: Manifest) -> bool:
        """Whether the index in use is the one that should be."""
        use, wanted = manifest.engine, self._wanted(tenant, manifest)
        if use is None:
            # One that is to be dropped is not begun again before it was.
            return wanted is None or is_left(manifest, wanted)
        if wanted is not None and wanted != use.index and is_left(manifest, wanted):
            return True
        return wanted == use.index and use.text == self._choice.text

    def _wanted(self, tenant: str, manifest: Manifest) -> str | None:
        threshold, count = self._choice.threshold, manifest.documents
        if threshold is None or not any(entry.vectors for entry in manifest.segments):
            return None
        least = threshold if manifest.engine is None else int(threshold * LEFT_BELOW)
        return self.index_of(tenant) if count > least else None

    def _change(self, tenant: str, standing: LoadedManifest, manifest: Manifest) -> bool:
        """Leave the use that is, or begin the one that should be. False: another run swapped the manifest first."""
        if manifest.engine is None:
            return self._begin(tenant, standing, manifest)
        self._due.note(tenant, self._clock.now())
        self._meter.count("vector_index_left")
        return self._swap(standing, manifest, None)

    def _begin(self, tenant: str, standing: LoadedManifest, manifest: Manifest) -> bool:
        begun = next_revision(self._clock.now(), None, self._entropy.token(RANDOM_BYTES))
        use = EngineUse(self.index_of(tenant), begun, self._choice.text)
        if not self._swap(standing, manifest, use):
            return False
        self._meter.count("vector_index_begun")
        if self._engine.create(use.index, self._choice.dim, text=use.text) != Done():
            raise EngineFailed
        shape = self._engine.describe(use.index)
        if isinstance(shape, Shape) and not self.fits(shape):
            # Of another dimension, from whatever hand: it has to be dropped first, which a sleep may do.
            self._meter.count("vector_index_misshapen")
            self._leave(tenant, use)
        return True

    def _leave(self, tenant: str, use: EngineUse) -> None:
        standing = self._manifests.load(tenant)
        manifest = standing.manifest
        if manifest is not None and manifest.engine == use:
            self._swap(standing, manifest, None)
            self._due.note(tenant, self._clock.now())

    def _swap(self, standing: LoadedManifest, manifest: Manifest, use: EngineUse | None) -> bool:
        following = with_use(manifest, use, stored_at=standing.stored_at, now=self._clock.now())
        return self._manifests.swap(standing, following)

    def _fill(
        self,
        tenant: str,
        use: EngineUse,
        manifest: Manifest,
        unmarked: Sequence[SegmentEntry],
        going: Callable[[], bool],
    ) -> tuple[Filled, bool]:
        """Put what is unmarked and mark it. True: the use is another by now, or the index was lost, and begun again."""
        rows, total, marks, marked = 0, 0, list[str](), 0
        outcome: Done | Failure = Done()
        for entry in unmarked:
            if not going():
                break
            outcome, put = self._put_segment(tenant, use, manifest, entry)
            rows, total = rows + put, total + put
            if not isinstance(outcome, Done):
                break
            marks.append(entry.name)
            if rows >= MARK_EVERY:
                if not self._mark(tenant, use, marks):
                    return Filled(rows=total, marked=marked), True
                rows, marked, marks = 0, marked + len(marks), []
        if marks and not self._mark(tenant, use, marks):
            return Filled(rows=total, marked=marked), True
        marked += len(marks)
        if isinstance(outcome, NoIndex):
            self._meter.count("vector_index_missing")
            self.begin_again(tenant)
            return Filled(rows=total, marked=marked), True
        done = Filled(rows=total, marked=marked, left=len(unmarked) - marked, failed=outcome != Done())
        return done, False

    def _put_segment(
        self, tenant: str, use: EngineUse, manifest: Manifest, entry: SegmentEntry
    ) -> tuple[Done | Failure, int]:
        segment = self._segments.load(tenant, [entry.name])[entry.name]
        if segment is None or len(segment) != entry.rows:
            # A rebuild is due, and marks nothing.
            raise StoreUnavailable("a listed segment is missing")
        put = 0
        for together in self._pieces(segment, entry):
            texts = self._texts(tenant, segment, together) if use.text else {}
            outcome = self._engine.put(use.index, list(vectors_of(segment, together, texts)))
            if not isinstance(outcome, Done):
                return outcome, put
            put += len(together)
        gone = list(self._forgotten(tenant, manifest, segment))
        return (self._engine.delete(use.index, gone) if gone else Done()), put

    def _pieces(self, segment: Segment, entry: SegmentEntry) -> Iterator[list[int]]:
        if not self.fills(segment):
            # Its vectors are of another model; the back-fill makes new ones, in a new segment.
            return
        rows = with_vectors(segment, live_rows(entry)).tolist()
        yield from (rows[at : at + ROWS_TOGETHER] for at in range(0, len(rows), ROWS_TOGETHER))

    def _texts(self, tenant: str, segment: Segment, rows: Sequence[int]) -> dict[str, str]:
        revisions = {segment.text("id", row): segment.revision(row) for row in rows}
        return {
            memory_id: read.record.content
            for memory_id, read in self._truth.read_many(tenant, revisions).items()
            if isinstance(read.record, Memory) and read.record.revision == revisions[memory_id]
        }

    def _forgotten(self, tenant: str, manifest: Manifest, segment: Segment) -> Iterator[str]:
        """Keys of what the stubs of this segment once said, where its rows still lie dead in some segment."""
        hashes = segment["id_hash"][np.flatnonzero(segment["stub"])]
        if not len(hashes):
            return
        stubs = {segment.text("id", row) for row in np.flatnonzero(segment["stub"]).tolist()}
        for entry in manifest.segments:
            other = self._segments.load(tenant, [entry.name])[entry.name]
            if other is None or len(other) != entry.rows or not entry.dead:
                continue
            dead = np.array(entry.dead)
            rows = dead[np.isin(other["id_hash"][dead], hashes)].tolist()
            yield from keys_of(other, [row for row in rows if other.text("id", row) in stubs])

    def _mark(self, tenant: str, use: EngineUse, names: Sequence[str]) -> bool:
        """Mark segments as filled; False: this use is over. Segments that a merge took away are no longer listed."""
        for attempt in range(_TRIES):
            standing = self._manifests.load(tenant)
            manifest = standing.manifest
            if manifest is None or manifest.engine != use:
                return False
            wanted = {
                entry.name for entry in manifest.segments if entry.name in names and not entry.in_engine
            }
            if not wanted:
                return True
            following = with_marks(
                manifest, wanted, filled=True, stored_at=standing.stored_at, now=self._clock.now()
            )
            if self._manifests.swap(standing, following):
                return True
            self._pause(attempt)
        return False

    def _pause(self, attempt: int) -> None:
        self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
