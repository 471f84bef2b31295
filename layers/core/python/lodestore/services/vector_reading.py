"""Asking the vector engine during a recall, beside the reads of segments and tail.

Owns: whether a recall asks it, what it asks, and whether the answer serves. Guarantees: only segments that the manifest
marked before the query was sent are taken from it, all else is scored from the shards; a hit of another revision than
is shown is dropped (P-FORGOTTEN); where fewer rows came than must have, the shards are scored instead, so a lost vector
costs time and no memory; a failure is said (`degraded`) and counted, and never costs the recall (P-SILENT-NEVER).
Gives up: `memory_context`, which is always scored from the shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import numpy as np

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.engine_marks import marked
from lodestore.domain.filters import Filters
from lodestore.domain.manifest import Manifest
from lodestore.format import keys
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.vector_index import HITS_MOST, Busy, Failure, Filter, Hit, Hits, VectorIndex
from lodestore.retrieval.hashing import hashes64
from lodestore.retrieval.near_rows import Near
from lodestore.retrieval.segment_search import Cosines
from lodestore.retrieval.vectors import quantise
from lodestore.services.columns import Masks
from lodestore.services.due import Due
from lodestore.services.index_view import rows_of
from lodestore.services.query_vectors import Asked
from lodestore.services.signals import QueryVector
from lodestore.services.tenant_view import TenantView, ViewPart
from lodestore.services.vector_rows import admitting, with_vectors

# What an answer can show; with so many rows found, a stale vector that took a place changes nothing.
ENOUGH: Final = limits.RECALL_LIMIT
# How long a process asks nothing of an engine that was busy.
REST_SECONDS: Final = 30.0
_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a recall looks for. `current` False: not what holds now alone, so time and status are left to the masks."""

    caller: Caller
    filters: Filters
    query: str
    current: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The query's vector, with what the engine found where that serves. `failed`: it did not answer."""

    vector: QueryVector | None
    failed: bool = False


Answer = Hits | Failure
# One answer for what the caller may see, one for that under the filters of the recall.
_Answers = tuple[Future[Answer], Future[Answer]]


class VectorReading:
    """The engine as recalls ask it."""

    def __init__(
        self, engine: VectorIndex, due: Due, clock: Clock, *, workers: Executor, meter: Meter, model: str
    ) -> None:
        self._engine = engine
        self._due = due
        self._clock = clock
        self._workers = workers
        self._meter = meter
        self._model = model
        self._asked_again_at = float("-inf")

    def begin(self, sought: Sought, asked: Future[Asked]) -> OneReading:
        """A reading that waits for the manifest and the query's vector."""
        return OneReading(self, sought, asked)

    def ask(self, manifest: Manifest, sought: Sought, vector: QueryVector) -> _Answers:
        """The engine's answers to come; nothing is waited for."""
        assert manifest.engine is not None
        index, text = manifest.engine.index, sought.query if manifest.engine.text else None
        now = self._clock.now() if sought.current else None
        # As the shards take it, so that both give a row the same cosine.
        asked = quantise(vector.vector[None, :]).values[0].astype(np.float32)

        def query(admit: Filter) -> Answer:
            return self._engine.query(index, asked, limit=HITS_MOST, admit=admit, text=text)

        plain, narrow = (admitting(sought.caller, filters, now=now) for filters in (None, sought.filters))
        first = self._workers.submit(query, plain)
        return first, first if plain == narrow else self._workers.submit(query, narrow)

    def rests(self) -> bool:
        """Whether the engine failed to answer so lately that asking it again would only keep callers waiting."""
        return self._clock.elapsed() < self._asked_again_at

    def is_asked(self, tenant: str, manifest: Manifest | None) -> bool:
        """Whether the tenant has an index with anything in it."""
        return manifest is not None and bool(self.parts(tenant, manifest))

    def parts(self, tenant: str, manifest: Manifest) -> frozenset[str]:
        """The segments whose vectors are in the tenant's index for this process's model."""
        return marked(manifest, keys.vector_index(tenant, self._model))

    def counted(self, what: str) -> None:
        """Count an outcome."""
        self._meter.count(f"vector_engine_{what}")

    def failed(self, tenant: str, failures: Sequence[Failure]) -> None:
        """Count a failure, and have the tenant looked after where it will not pass by itself."""
        self.counted("failed")
        if any(isinstance(failure, Busy) for failure in failures):
            self._asked_again_at = self._clock.elapsed() + REST_SECONDS
        else:
            self._due.note(tenant, self._clock.now() - _HOUR)


class OneReading:
    """The engine's part in one recall."""

    def __init__(self, engine: VectorReading, sought: Sought, asked: Future[Asked]) -> None:
        self._engine = engine
        self._sought = sought
        self._asked = asked
        self._manifest: Manifest | None = None
        self._answers: Future[_Answers | None] = Future()

    def seen(self, manifest: Manifest | None) -> None:
        """The manifest as it stands: the engine is asked as soon as the query's vector is there."""
        if manifest is None or not self._engine.is_asked(self._sought.caller.tenant, manifest):
            self._answers.set_result(None)
            return
        self._manifest = manifest
        if self._engine.rests():
            self._engine.counted("rested")
            self._answers.set_result(None)
            return
        # Chained, not waited for: a worker that waits for another could wait for ever.
        self._asked.add_done_callback(lambda asked: self._ask(manifest, asked))

    def found(self, view: TenantView, live: Masks, admitted: Masks, asked: Asked) -> Found:
        """The query's vector with what the engine found, of the rows that are live and of those admitted."""
        answers = self._answers.result()
        if asked.vector is None or self._manifest is None:
            return Found(asked.vector)
        if answers is None:
            return Found(asked.vector, failed=True)
        outcomes = [answer.result() for answer in answers]
        failures = [one for one in outcomes if not isinstance(one, Hits)]
        if failures:
            self._engine.failed(self._sought.caller.tenant, failures)
            return Found(asked.vector, failed=True)
        names = self._engine.parts(self._sought.caller.tenant, self._manifest)
        united: Near | None = None
        for hits, mask in zip(outcomes, (live, admitted), strict=True):
            assert isinstance(hits, Hits)
            near = _placed(view, names, hits.hits, asked.vector.model)
            if _is_short(view, near, hits, mask):
                self._engine.counted("short")
                return Found(asked.vector)
            united = near if united is None else _united(united, near)
        self._engine.counted("used")
        return Found(replace(asked.vector, near=united))

    def _ask(self, manifest: Manifest, asked: Future[Asked]) -> None:
        try:
            vector = asked.result().vector
            self._answers.set_result(
                None if vector is None else self._engine.ask(manifest, self._sought, vector)
            )
        except RuntimeError as stopping:
            # The workers are being stopped; whoever waits has to learn it.
            self._answers.set_exception(stopping)


def _placed(view: TenantView, names: frozenset[str], hits: Sequence[Hit], model: str) -> Near:
    """Hits as rows of the parts that the engine holds; those of another revision than is shown are dropped."""
    best: dict[str, dict[str, float]] = {}
    for hit in hits:
        name = keys.parse_vector(hit.key)
        if name is not None and hit.cosine is not None:
            of_id = best.setdefault(name.id, {})
            of_id[name.revision] = max(hit.cosine, of_id.get(name.revision, -1.0))
    hashes = hashes64(best)
    return Near(
        tuple(
            _in_part(part, best, rows_of(part.segment, part.counts, best, hashes))
            if part.name in names and part.segment.model == model
            else None
            for part in view.parts
        )
    )


def _in_part(part: ViewPart, best: dict[str, dict[str, float]], rows: dict[str, int]) -> Cosines:
    found = np.full(len(part.segment), np.nan, np.float32)
    for memory_id, row in rows.items():
        found[row] = best[memory_id].get(part.segment.revision(row), np.nan)
    return found


def _is_short(view: TenantView, near: Near, answer: Hits, wanted: Masks) -> bool:
    """Whether fewer of the wanted rows were found than the engine must hold: vectors were lost, or crowded out."""
    there, found = 0, 0
    for part, cosines, mask in zip(view.parts, near.parts, wanted, strict=True):
        if cosines is not None:
            there += len(with_vectors(part.segment, mask))
            found += int(np.count_nonzero(~np.isnan(cosines) & mask))
    return found < (there if len(answer.hits) < HITS_MOST else min(there, ENOUGH))


def _united(one: Near, other: Near) -> Near:
    return Near(
        tuple(
            None if first is None or second is None else np.fmax(first, second)
            for first, second in zip(one.parts, other.parts, strict=True)
        )
    )
