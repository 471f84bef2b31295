"""A write and a recall here and under the protocol of one index object, by turns, at growing sizes.

Owns: the comparison. Guarantees: the same memories, embedder, folder adapter and queries; requests and bytes are
counted at the store, milliseconds are CPU time of the process, the median of several by turns.
Gives up: contention, which costs that protocol further swaps and ours none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.performance.one_index_object import OneIndexObject
from benchmarks.performance.report import Report, Table, number
from benchmarks.performance.synthetic import TENANT, queries, statements
from benchmarks.performance.tenants import Cost, Site, call
from lodestore.adapters.folder_store import FolderStore
from tests.faults.hostile_store import FaultyStore
from tests.services.world import SeededEntropy

LIMIT = 5
Log = Callable[[], Cost]


@dataclass(slots=True)
class _Measured:
    """Calls of one kind: their milliseconds, and what the last one cost."""

    milliseconds: list[float] = field(default_factory=list)
    cost: Cost = field(default_factory=lambda: Cost(()))

    def cells(self) -> tuple[str, str, str]:
        """Requests, bytes moved, milliseconds."""
        moved = self.cost.sent + self.cost.received
        return (self.cost.described(), number(moved), f"{median(self.milliseconds):.1f}")


_NOT_MEASURED = ("", "", "")


def measure(sizes: Sequence[int], repeats: int) -> Report:
    """Every size."""
    rows = [row for size in sizes for row in _at(size, repeats)]
    columns = (
        "memories",
        "protocol",
        "requests of a write",
        "bytes moved",
        "CPU ms",
        f"requests of a recall, limit {LIMIT}",
        "bytes moved",
        "CPU ms",
    )
    return Report(
        "Beside one index object per namespace",
        "The protocol of s3-agent-memory as its README describes it (`benchmarks/performance/one_index_object.py`)."
        " Bytes are of bodies, both ways. Ours is warm: its process has recalled before. What the indexer does later"
        " for the one memory stands in a row of its own, at its dearest: a run for this memory alone.",
        [Table("One write and one recall", columns, rows)],
    )


def _at(size: int, repeats: int) -> list[tuple[str, ...]]:
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        site.indexed([size])
        site.stored(0, size)
        theirs = {vectors: _theirs(site, Path(folder), size, vectors=vectors) for vectors in (False, True)}
        reader, indexer = site.process(), site.process()
        asked, said = queries(size, repeats + 1), statements(repeats)
        call(reader, "recall", query=asked[-1], limit=LIMIT, min_score=0)
        indexer.indexing.run(TENANT)
        recalls = {name: _Measured() for name in (False, True, "ours")}
        writes = {name: _Measured() for name in (False, True, "ours", "index")}
        for query in asked[:repeats]:
            for vectors, (store, namespace) in theirs.items():
                _measured(recalls[vectors], store, partial(namespace.recall, query, LIMIT))
            recall = partial(call, reader, "recall", query=query, limit=LIMIT, min_score=0)
            _measured(recalls["ours"], site, recall)
        for content in said:
            for vectors, (store, namespace) in theirs.items():
                _measured(writes[vectors], store, partial(namespace.remember, content))
            _measured(writes["ours"], site, partial(call, reader, "remember", content=content))
            _measured(writes["index"], site, partial(indexer.indexing.run, TENANT))
        site.close()
    label = number(size)
    return [
        (label, "one index object, words", *writes[False].cells(), *recalls[False].cells()),
        (label, "one index object, words and vectors", *writes[True].cells(), *recalls[True].cells()),
        (label, "Lodestore, words and vectors", *writes["ours"].cells(), *recalls["ours"].cells()),
        (label, "Lodestore, indexing it alone", *writes["index"].cells(), *_NOT_MEASURED),
    ]


def _theirs(site: Site, folder: Path, size: int, *, vectors: bool) -> tuple[FaultyStore, OneIndexObject]:
    place = folder / f"one-index-{vectors}"
    store = FaultyStore(FolderStore(place, site.clock, versioned=False))
    namespace = OneIndexObject(store, site.clock, SeededEntropy(int(vectors)), vectors=vectors)
    namespace.fill(place, size)
    return store, namespace


def _measured(into: _Measured, log: Site | FaultyStore, work: Callable[[], object]) -> None:
    begin = log.begin if isinstance(log, Site) else log.reset
    begin()
    begun = time.process_time_ns()
    work()
    into.milliseconds.append((time.process_time_ns() - begun) / 1e6)
    into.cost = log.cost() if isinstance(log, Site) else Cost(log.requests)
