"""Segments, written once and held in memory by name.

Owns: the objects under `index/<tenant>/segments/`. Guarantees: a name is used once, so what is held can't be stale;
bounded in bytes, least recently used first; a missing or corrupt segment is an answer, not an exception.
Gives up: nothing is deleted here; `services/collection` does that.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime, timedelta

from lodestore.domain.manifest import SegmentEntry
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.format import keys
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable, Won
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_format import InvalidSegment, decode_segment, encode_segment

SEGMENT_BYTES = 1 << 30
BYTES_HELD = 1 << 30
# A segment that waited longer to be listed is not listed any more: collection may be about to delete it.
LISTABLE_FOR = timedelta(minutes=30)
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Written:
    """A segment as written: what lists it in a manifest, and the store's clock when it was there."""

    entry: SegmentEntry
    at: datetime


class Segments:
    """Segments of all tenants. Thread-safe."""

    def __init__(
        self,
        index: ObjectStore,
        *,
        clock: Clock,
        entropy: Entropy,
        workers: Executor,
        meter: Meter,
        bytes_held: int = BYTES_HELD,
    ) -> None:
        self._index = index
        self._clock = clock
        self._entropy = entropy
        self._workers = workers
        self._meter = meter
        self._bytes_held = bytes_held
        self._held: OrderedDict[tuple[str, str], tuple[Segment, int]] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, tenant: str, names: Iterable[str]) -> dict[str, Segment | None]:
        """The segments of these names, side by side; None: it is missing or no segment. Raises StoreUnavailable."""
        wanted = tuple(names)
        held = {name: self._get_held(tenant, name) for name in wanted}
        missing = [name for name, segment in held.items() if segment is None]
        self._meter.count("segment_held", len(wanted) - len(missing))
        self._meter.count("segment_loaded", len(missing))
        read = self._workers.map(lambda name: self._read(tenant, name), missing)
        return held | dict(zip(missing, read, strict=True))

    def write(self, tenant: str, segment: Segment) -> Written:
        """Write a new segment. Raises StoreUnavailable."""
        body = encode_segment(segment)
        for _ in range(_TRIES):
            name = next_revision(self._clock.now(), None, self._entropy.token(RANDOM_BYTES))
            # One whose answer was lost is listed by nobody; collection removes it.
            outcome = self._index.create(keys.segment(tenant, name), body)
            if isinstance(outcome, Won):
                self._hold(tenant, name, segment, len(body))
                return Written(_entry(name, segment, len(body)), outcome.at)
        raise StoreUnavailable("a segment could not be written")

    def _read(self, tenant: str, name: str) -> Segment | None:
        try:
            found = self._index.get(keys.segment(tenant, name), max_bytes=SEGMENT_BYTES)
            if not isinstance(found, Found):
                self._meter.count("segment_missing")
                return None
            segment = decode_segment(found.body)
        except (InvalidSegment, ObjectTooLarge):
            self._meter.count("segment_quarantined")
            return None
        self._hold(tenant, name, segment, len(found.body))
        return segment

    def _get_held(self, tenant: str, name: str) -> Segment | None:
        with self._lock:
            if (tenant, name) not in self._held:
                return None
            self._held.move_to_end((tenant, name))
            return self._held[tenant, name][0]

    def _hold(self, tenant: str, name: str, segment: Segment, size: int) -> None:
        with self._lock:
            self._held[tenant, name] = (segment, size)
            while len(self._held) > 1 and sum(size for _, size in self._held.values()) > self._bytes_held:
                self._held.popitem(last=False)


def _entry(name: str, segment: Segment, size: int) -> SegmentEntry:
    return SegmentEntry(
        name=name,
        rows=len(segment),
        documents=len(segment) - int(segment["stub"].sum()),
        length=int(segment["length"].sum()),
        size=size,
        vectors=segment.vectors,
    )
