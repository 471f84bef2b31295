"""What a write costs, and what indexing it costs, at any size of the tenant (P-FLAT-WRITES).

Owns: requests and bytes of `remember`, `update_memory`, `forget`, of indexing one memory, and of indexing many in
batches with the tiered merge. Guarantees: counted at the store, from the process that has looked at all of the tenant.
Gives up: time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.performance.layouts import most_segments
from benchmarks.performance.report import Bound, Report, Table, number
from benchmarks.performance.synthetic import TENANT, memories, queries, statements, texts
from benchmarks.performance.tenants import SETTLED, Cost, Site, call, synthetic_segment
from lodestore.bootstrap import Lodestore
from lodestore.format import keys
from lodestore.retrieval.segment_format import encode_segment
from lodestore.services.merge_plan import DEAD_BYTES_MOST

GROWTH_MOST = 1.05
INDEX_ONE_MOST = 20_000
SEGMENTS_WRITTEN_MOST = 6.0
_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large. `writes` and `index_one` are sizes of tenants; `batches` is memories and how many at a time."""

    writes: tuple[int, int] = (100, 10_000)
    index_one: Sequence[int] = (100, 10_000, 100_000)
    batches: tuple[int, int] = (10_000, 100)


def measure(sizes: Sizes) -> Report:
    """Run all three."""
    writes, growth = _writes(sizes.writes)
    index_one, largest = _index_one(sizes.index_one)
    batches, share = _batches(*sizes.batches)
    small, large = (number(size) for size in sizes.writes)
    return Report(
        "Writes",
        "Bytes are those of request bodies. A write's embedding (384 numbers) is part of its memory. The process has"
        " recalled before, so that it holds the tenant's index.",
        [writes, index_one, batches],
        [
            Bound(f"bytes of remember at {large} ÷ at {small} memories", growth.bytes, GROWTH_MOST),
            Bound(f"requests of remember at {large} ÷ at {small} memories", growth.requests, 1),
            Bound("bytes written to index one memory, at worst", largest, INDEX_ONE_MOST, "B", below=True),
            Bound(
                f"bytes written to index {number(sizes.batches[0])} by {sizes.batches[1]} ÷ one full segment",
                share,
                SEGMENTS_WRITTEN_MOST,
            ),
        ],
    )


@dataclass(frozen=True, slots=True)
class _Growth:
    bytes: float
    requests: float


def _writes(sizes: tuple[int, int]) -> tuple[Table, _Growth]:
    small, large = (_write_costs(size) for size in sizes)
    rows = [
        (
            tool,
            small[tool].described(),
            number(small[tool].sent),
            large[tool].described(),
            number(large[tool].sent),
            f"{large[tool].sent / small[tool].sent:.3f}",
        )
        for tool in small
    ]
    at = [f"at {number(size)}" for size in sizes]
    columns = (
        "tool",
        f"requests {at[0]}",
        f"bytes {at[0]}",
        f"requests {at[1]}",
        f"bytes {at[1]}",
        "bytes ÷",
    )
    before, after = small["remember"], large["remember"]
    growth = _Growth(after.sent / before.sent, len(after.requests) / len(before.requests))
    return Table("One write", columns, rows), growth


def _write_costs(size: int) -> dict[str, Cost]:
    """Tool to the cost of one call; `remember` is the dearest of several."""
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        site.indexed([size])
        process = _seasoned(site, size)
        said = [_cost(site, process, "remember", content=content) for content in statements(_REPEATS)]
        stored = call(process, "remember", content="The office is in Oslo", id="own")
        costs = {
            "remember": max(said, key=lambda cost: (cost.sent, len(cost.requests))),
            "update_memory": _cost(site, process, "update_memory", id=str(stored["id"]), importance=0.9),
            "forget": _cost(site, process, "forget", id=str(stored["id"])),
        }
        site.close()
        return costs


def _seasoned(site: Site, size: int) -> Lodestore:
    """A process that has recalled in the tenant and found something."""
    site.stored(0, size)
    process = site.process()
    assert call(process, "recall", query=queries(size, 1)[0])["count"]
    return process


def _cost(site: Site, process: Lodestore, tool: str, **arguments: object) -> Cost:
    site.begin()
    call(process, tool, **arguments)
    return site.cost()


def _index_one(sizes: Sequence[int]) -> tuple[Table, int]:
    rows: list[tuple[str, ...]] = []
    largest = 0
    for size in sizes:
        many = most_segments(size)
        for layout, dead_bytes in (([size], 0), (many, 0), (many, DEAD_BYTES_MOST)):
            one = _index_one_at(layout, dead_bytes)
            largest = max(largest, one.segment + one.manifest)
            cells = (len(layout), one.dead, one.segment, one.manifest, one.segment + one.manifest)
            rows.append((number(size), *map(number, cells), one.requests))
    columns = ("memories", "segments", "dead rows", "segment", "manifest", "bytes written", "requests")
    title = "Indexing one memory, with one segment, and with as many segments and dead rows as merging leaves"
    return Table(title, columns, rows), largest


@dataclass(frozen=True, slots=True)
class _OneIndexed:
    """Bytes of the segment and of the manifest that one run wrote, and its requests."""

    dead: int
    segment: int
    manifest: int
    requests: str


def _index_one_at(layout: Sequence[int], dead_bytes: int) -> _OneIndexed:
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        before = site.indexed(layout, dead_bytes_most=dead_bytes)
        total = sum(layout)
        stored = call(site.process(), "remember", content=next(texts(total, total + 1)))
        indexer = site.process()
        site.begin()
        indexer.indexing.run(TENANT, [str(stored["id"])])
        cost = site.cost()
        site.close()
    writes = {request.key: request.sent for request in cost.requests if request.sent}
    manifest = writes.pop(keys.manifest(TENANT))
    dead = sum(len(entry.dead) for entry in before.segments)
    return _OneIndexed(dead, sum(writes.values()), manifest, cost.described())


def _batches(count: int, at_a_time: int) -> tuple[Table, float]:
    full = len(encode_segment(synthetic_segment(0, count)))
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        indexer = site.process()
        site.begin()
        largest = merges = 0
        for first in range(0, count, at_a_time):
            last = min(count, first + at_a_time)
            site.stored(first, last)
            before = site.cost().sent
            done = indexer.upkeep.index(TENANT, [memory.id for memory in memories(first, last)])
            assert done.rows == last - first or first == 0
            merges += done.merges
            largest = max(largest, site.cost().sent - before)
            site.clock.advance(SETTLED)
        cost = site.cost()
        site.close()
    written = [request for request in cost.requests if request.sent]
    manifests = sum(request.sent for request in written if request.key == keys.manifest(TENANT))
    rows = [
        ("one full segment", number(full), "1"),
        ("written in all", number(cost.sent), f"{cost.sent / full:.2f}"),
        ("of it manifests", number(manifests), f"{manifests / full:.2f}"),
        ("largest run", number(largest), f"{largest / full:.2f}"),
    ]
    runs = len(range(0, count, at_a_time))
    title = f"Indexing {number(count)} memories, {at_a_time} at a time: {runs} runs, {merges} merges"
    return Table(title, ("", "bytes", "÷ one full segment"), rows), cost.sent / full
