"""Rows of one id in two sets of segments, and which of them stops counting.

Owns: the comparison of a rebuilt index with segments that were added while it was built. Guarantees: after it at most
one row of each id counts, so that a later kill never lets an older row show. Gives up: ids doubled inside one set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from lodestore.domain.manifest import Killed
from lodestore.services.index_view import ListedSegment, counted_row, killed_rows


def doubled_rows(rebuilt: Sequence[ListedSegment], kept: Sequence[ListedSegment]) -> Mapping[str, Killed]:
    """Segment name to the rows that another row of their id, in the other set, replaces.

    The higher revision stays. Of two rows of one revision and ETag the rebuilt one stays, for its vectors are of
    today's model; of one revision and two ETags the kept one, for it was read later.
    """
    if not rebuilt or not kept:
        return {}
    known = np.concatenate([one.segment["id_hash"] for one in rebuilt])
    dead: defaultdict[str, list[int]] = defaultdict(list)
    for one in kept:
        for row in np.flatnonzero(one.counts & np.isin(one.segment["id_hash"], known)).tolist():
            memory_id = one.segment.text("id", row)
            for other in rebuilt:
                there = counted_row(other, memory_id)
                if there is not None:
                    loser, lost = (one, row) if _stays(other, there, one, row) else (other, there)
                    dead[loser.entry.name].append(lost)
    segments = {one.entry.name: one.segment for one in (*rebuilt, *kept)}
    return {name: killed_rows(segments[name], rows) for name, rows in dead.items()}


def _stays(rebuilt: ListedSegment, there: int, kept: ListedSegment, row: int) -> bool:
    """Whether the rebuilt row is the one that stays."""
    ours, theirs = rebuilt.segment.revision(there), kept.segment.revision(row)
    same = rebuilt.segment.text("etag", there) == kept.segment.text("etag", row)
    return ours > theirs or (ours == theirs and same)
