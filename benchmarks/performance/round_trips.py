"""How deep a recall is, in round trips, and how many requests it sends.

Owns: warm and cold recalls over a store that answers late. Guarantees: depth is the longest chain of requests of which
each began after the one before had ended, from the times of the requests themselves; the wall clock is shown beside it.
Gives up: a real network, whose delays differ from request to request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.performance.report import Bound, Report, Table, number
from benchmarks.performance.synthetic import TENANT, queries, statements
from benchmarks.performance.tenants import Cost, Site, call
from lodestore.bootstrap import Lodestore
from lodestore.format import keys
from lodestore.services.counts import FLUSH_SECONDS
from tests.faults.hostile_store import Action, Request

DELAY_SECONDS = 0.020
DEPTH_MOST = 3
BESIDE_LIMIT_MOST = 2
PENDING = 10


@dataclass(slots=True)
class Delay:
    """A rule for a store: every request takes so much longer. Keeps when each was on its way."""

    seconds: float
    spans: list[tuple[float, float]] = field(default_factory=list)

    def __call__(self, _request: Request) -> Action:
        return self._wait

    def _wait(self, _request: Request) -> None:
        begun = time.perf_counter()
        time.sleep(self.seconds)
        self.spans.append((begun, time.perf_counter()))


@dataclass(frozen=True, slots=True)
class Recalled:
    """One recall over the slow store. `wall` is in delays."""

    name: str
    cost: Cost
    hits: int
    depth: int
    wall: float

    @property
    def flushed(self) -> bool:
        """Whether it wrote counts."""
        return any(request.operation == "create" for request in self.cost.requests)

    def cells(self, limit: int) -> tuple[str, ...]:
        """A line of the table."""
        segments = self.cost.received_below(keys.segments_of(TENANT))
        counts = (limit, self.hits, len(self.cost.requests))
        return (
            self.name,
            *map(str, counts),
            self.cost.described(),
            number(self.cost.received),
            number(segments),
            str(self.depth),
            f"{self.wall:.2f}",
        )


def measure(memories: int, repeats: int, limit: int = 5, delay: float = DELAY_SECONDS) -> Report:
    """Recalls in a tenant of so many memories, each the best of `repeats`.

    delay   seconds that every request takes longer; requests that begin later than this after each other, because
            the machine was busy, look like a chain
    """
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        site.indexed([memories])
        site.stored(0, memories)
        asked = queries(memories, repeats)
        fresh = [_recall(site, site.process(), "cold: nothing held", query, limit, delay) for query in asked]
        process = site.process()
        _recall(site, process, "", asked[0], limit, delay)
        warm = [_recall(site, process, "warm, nothing pending", query, limit, delay) for query in asked]
        tail = []
        for query in asked:
            _write(site, PENDING)
            tail.append(_recall(site, process, f"warm, {PENDING} new pending", query, limit, delay))
        site.clock.advance(timedelta(seconds=FLUSH_SECONDS))
        _write(site, PENDING)
        flushed = [
            _recall(site, process, "the same, once a minute: counts are flushed", asked[0], limit, delay)
        ]
        site.close()
    without_flush = [one for one in warm if not one.flushed]
    # Of the recalls with the most hits, which are the most requests, the fastest.
    assert all(one.flushed for one in flushed)
    kinds = [
        min(kind, key=lambda one: (-one.hits, one.wall)) for kind in (fresh, without_flush, tail, flushed)
    ]
    segment_bytes = max(one.cost.received_below(keys.segments_of(TENANT)) for one in (*warm, *tail))
    manifest_bytes = max(one.cost.received_below(keys.manifest(TENANT)) for one in (*warm, *tail))
    columns = (
        "recall",
        "limit",
        "hits",
        "requests",
        "of which",
        "bytes read",
        "of segments",
        "deep",
        "wall ÷ delay",
    )
    title = f"Recall in a tenant of {number(memories)} memories, {delay * 1000:.0f} ms added to every request"
    most = max(len(one.cost.requests) - limit for one in without_flush)
    return Report(
        "Round trips of a recall",
        f"Deep: the longest chain of requests each of which waits for the one before. Of {repeats} recalls the fastest"
        " with the most hits is shown, and bounds its depth and wall clock: where a busy machine begins a request late,"
        " two that did not wait for each other look as if they had. Requests and bytes are bounded over all."
        " Counts of use are flushed once a minute or every 50 counts: one request more,"
        " sent beside the first, in a row and bounds of its own.",
        [Table(title, columns, [one.cells(limit) for one in kinds])],
        [
            Bound("round trips of a recall, with a tail", max(one.depth for one in kinds[1:3]), DEPTH_MOST),
            Bound("round trips of a recall that flushes counts", kinds[3].depth, DEPTH_MOST),
            Bound("round trips of a cold recall", kinds[0].depth, DEPTH_MOST),
            Bound("requests of a warm recall beside one a hit", most, BESIDE_LIMIT_MOST),
            Bound("segment bytes read where the manifest is unchanged", segment_bytes, 0, "B"),
            Bound("manifest bytes read where it is unchanged", manifest_bytes, 0, "B"),
            Bound(
                "wall clock of a warm recall with a tail ÷ delay", kinds[2].wall, DEPTH_MOST + 1, below=True
            ),
        ],
    )


def depth(spans: list[tuple[float, float]]) -> int:
    """The longest chain of spans, each of which begins where the one before has ended."""
    count, end = 0, float("-inf")
    for begun, ended in sorted(spans, key=lambda span: span[1]):
        if begun >= end:
            count, end = count + 1, ended
    return count


def _recall(site: Site, process: Lodestore, name: str, query: str, limit: int, delay: float) -> Recalled:
    late = Delay(delay)
    site.begin()
    for store in (site.state, site.index):
        store.inject(late)
    begun = time.perf_counter()
    answer = call(process, "recall", query=query, limit=limit, min_score=0)
    wall = time.perf_counter() - begun
    for store in (site.state, site.index):
        store.heal()
    count = answer["count"]
    assert isinstance(count, int)
    return Recalled(name, site.cost(), count, depth(late.spans), wall / delay)


def _write(site: Site, count: int) -> None:
    """New memories by another process; the indexer has not run since."""
    writer = site.process()
    for text in statements(count):
        call(writer, "remember", content=f"{text} {site.clock.now().isoformat()}")
    site.clock.advance(timedelta(seconds=1))
