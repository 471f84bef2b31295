"""What indexing ten thousand memories writes, counted in bytes of segments and manifests."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

from lodestore.domain.manifest import Manifest, SegmentEntry, next_manifest, without_segments
from lodestore.domain.revision import next_revision
from lodestore.format.manifests import encode_manifest
from lodestore.retrieval.bm25 import TermCounts
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_build import Row, build_segment
from lodestore.retrieval.segment_format import encode_segment
from lodestore.retrieval.segment_merge import MergeInput, merge_segments
from lodestore.services.merge_plan import ROWS_MOST, plan_merge
from tests.unit.retrieval.random_records import MEMORY

NOW = datetime(2026, 3, 9, tzinfo=UTC)
DIM = 384
MODEL = "model-x"


def rows(first: int, count: int, chance: Random) -> list[Row]:
    """Memories of twenty words by Zipf's law, with a vector each."""
    drawn = np.random.default_rng(first).normal(size=(count, DIM)).astype(np.float32)
    made = []
    for number in range(count):
        revision = next_revision(NOW, None, chance.randbytes(10))
        record = replace(MEMORY, id=f"m{first + number:032x}", revision=revision)
        words = {f"w{int(chance.paretovariate(0.6)) % 20_000}": 1 for _ in range(20)}
        made.append(Row(record, revision, TermCounts(words, 20), drawn[number : number + 1]))
    return made


class Index:
    """Segments in memory; `written` counts the bytes of every object that indexing would write."""

    def __init__(self) -> None:
        self.manifest = Manifest(tenant="acme", generation=0, updated_at=NOW, tokenizer=1, model=MODEL)
        self.segments: dict[str, Segment] = {}
        self.written = 0
        self._at = NOW

    def add(self, batch: list[Row]) -> None:
        self._at += timedelta(seconds=10)
        self._list(build_segment(batch, model=MODEL, dim=DIM, tokenizer=1), ())
        while names := plan_merge(self.manifest, ROWS_MOST):
            inputs = [
                MergeInput(self.segments[name], np.ones(len(self.segments[name]), np.bool_)) for name in names
            ]
            self._list(merge_segments(inputs, model=MODEL, tokenizer=1).segment, names)

    def _list(self, segment: Segment, retired: tuple[str, ...]) -> None:
        body, name = encode_segment(segment), f"{len(self.segments):026}"
        entry = SegmentEntry(
            name=name, rows=len(segment), documents=len(segment), length=20 * len(segment),
            size=len(body), vectors=segment.vectors,
        )  # fmt: skip
        following = next_manifest(self.manifest, stored_at=self._at, now=self._at, added=[entry])
        self.manifest = without_segments(following, retired, self._at)
        self.segments[name] = segment
        self.written += len(body) + len(encode_manifest(self.manifest))


@pytest.mark.promise("P-FLAT-WRITES")
def test_ten_thousand_in_batches_of_a_hundred_write_less_than_six_times_one_full_segment() -> None:
    chance, index, every = Random(1), Index(), list[Row]()
    for number in range(100):
        batch = rows(100 * number, 100, chance)
        every += batch
        index.add(batch)
    full = len(encode_segment(build_segment(every, model=MODEL, dim=DIM, tokenizer=1)))
    assert sum(entry.rows for entry in index.manifest.segments) == 10_000
    assert index.written <= 6 * full
    # One memory more.
    before = index.written
    index.add(rows(10_000, 1, chance))
    assert index.written - before < 20_000
