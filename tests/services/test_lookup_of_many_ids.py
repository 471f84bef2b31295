"""Looking up many ids at once finds what looking up each would."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.performance.synthetic import memories
from benchmarks.performance.tenants import synthetic_segment
from lodestore.domain.manifest import SegmentEntry
from lodestore.retrieval.hashing import hashes64
from lodestore.services.index_view import IndexView, ListedSegment, counted_row, rows_of


def _listed(first: int, last: int, rng: np.random.Generator) -> ListedSegment:
    segment = synthetic_segment(first, last)
    rows = len(segment)
    entry = SegmentEntry(name="0", rows=rows, documents=rows, length=1, size=1, vectors=0)
    return ListedSegment(entry, segment, rng.random(rows) < 0.7)


@pytest.mark.parametrize("seed", range(20))
def test_ids_together_are_found_where_each_alone_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    listed = [_listed(0, 40, rng), _listed(30, 50, rng), _listed(50, 51, rng)]
    ids = [memory.id for memory in memories(0, 60)] + ["not-there", ""]
    asked = [ids[at] for at in rng.permutation(len(ids))[: int(rng.integers(0, len(ids) + 1))]]
    hashes = hashes64(asked)
    alone = [{m: row for m in asked if (row := counted_row(one, m)) is not None} for one in listed]
    assert [rows_of(one.segment, one.counts, asked, hashes) for one in listed] == alone
    shown = IndexView(tuple(listed), ()).shown(asked)
    assert set(shown) == set().union(*alone)
    for memory_id, found in shown.items():
        first = next(one for one, rows in zip(listed, alone, strict=True) if memory_id in rows)
        assert (found.listed, found.row) == (first, counted_row(first, memory_id))
        assert found.revision == first.segment.revision(found.row)
