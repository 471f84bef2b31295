"""How an index of so many rows may be cut into segments, as the rules of merging leave it.

Owns: sizes of segments and dead rows. Guarantees: `left_by_batches` asks `plan_merge` itself; a layout is one that a
tenant can have.
Gives up: how likely it is.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from benchmarks.performance.synthetic import BEGIN, TENANT
from lodestore.domain.manifest import Manifest, SegmentEntry
from lodestore.format.dead_rows import dead_bytes
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.merge_plan import DEAD_SHARE_MOST, FAN_IN, ROWS_MOST, plan_merge

_ROW_BYTES = 750


def left_by_batches(rows: int, at_a_time: int) -> list[int]:
    """Sizes of the segments after indexing so many rows in batches, merging after each, the largest first."""
    sizes: dict[str, int] = {}
    for first in range(0, rows, at_a_time):
        sizes[f"{first}"] = min(at_a_time, rows - first)
        while names := plan_merge(_manifest(sizes), ROWS_MOST):
            sizes[f"merged {first} {len(sizes)}"] = sum(sizes.pop(name) for name in names)
    return sorted(sizes.values(), reverse=True)


def most_segments(rows: int) -> list[int]:
    """Sizes of as many segments as merging leaves of so many rows, the largest first.

    Every tier is one short of full: FAN_IN - 1 of 1, 8, 64, ... rows; what is left over is the largest.
    """
    sizes: list[int] = []
    size = 1
    while (FAN_IN - 1) * size < rows - sum(sizes) - size * FAN_IN:
        sizes.extend([size] * (FAN_IN - 1))
        size *= FAN_IN
    return [rows - sum(sizes), *reversed(sizes)]


def scattered(rows: int, bytes_most: int) -> tuple[int, ...]:
    """Dead rows drawn by chance from so many rows: as many as a merge leaves and a manifest has room for."""
    drawn = np.random.default_rng(3).permutation(rows).tolist()[: int(rows * DEAD_SHARE_MOST)]
    count = bisect_right(range(len(drawn) + 1), bytes_most, key=lambda many: dead_bytes(sorted(drawn[:many])))
    return tuple(sorted(drawn[: count - 1]))


def _manifest(sizes: dict[str, int]) -> Manifest:
    entries = tuple(
        SegmentEntry(name=name, rows=size, documents=size, length=0, size=size * _ROW_BYTES, vectors=size)
        for name, size in sizes.items()
    )
    return Manifest(
        tenant=TENANT, generation=1, updated_at=BEGIN, tokenizer=TOKENIZER_VERSION, segments=entries
    )
