"""Which segments to merge next: a pure choice over the manifest.

Owns: the tiers. Guarantees: a row is written again at most once in each tier by tiered merges, so indexing costs a
logarithm of the tenant's size (P-FLAT-WRITES); a tier holds fewer than FAN_IN segments when nothing is left to
choose, and dead rows take at most DEAD_BYTES_MOST of the manifest, so that it is small at any size; no output is
larger than ROWS_MOST rows or BYTES_MOST bytes.
Gives up: the least possible number of segments.

    tier of a segment   floor(log FAN_IN of its live rows): a merge of a full tier reaches a higher one
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lodestore.domain.manifest import Manifest, SegmentEntry
from lodestore.format.dead_rows import dead_bytes

FAN_IN = 8
# What a merge in the indexer may hold; larger ones are maintenance's.
SMALL_ROWS = 20_000
ROWS_MOST = 200_000
BYTES_MOST = 256 * 1_048_576
DEAD_SHARE_MOST = 0.3
DEAD_ROWS_LEAST = 256
DEAD_BYTES_MOST = 4_096


def plan_merge(manifest: Manifest, most_rows: int) -> tuple[str, ...]:
    """Names of the segments whose merge gives at most `most_rows` rows and comes next; () for none."""
    most = min(most_rows, ROWS_MOST)
    chosen = _full_tier(manifest.segments, most) or _mostly_dead(manifest.segments, most)
    return tuple(entry.name for entry in chosen)


def _full_tier(entries: Iterable[SegmentEntry], most: int) -> Sequence[SegmentEntry]:
    """The highest full tier that fits, with everything below it, smallest first."""
    growing = sorted((entry for entry in entries if not _is_large(entry)), key=lambda entry: entry.live)
    tiers = [_tier(entry.live) for entry in growing]
    for tier in sorted(set(tiers), reverse=True):
        if tiers.count(tier) < FAN_IN:
            continue
        fitting = _fitting(growing[: len(tiers) - tiers[::-1].index(tier)], most)
        if sum(_tier(entry.live) == tier for entry in fitting) >= FAN_IN or _makes_large(fitting):
            return fitting
    return ()


def _mostly_dead(entries: Sequence[SegmentEntry], most: int) -> Sequence[SegmentEntry]:
    """One segment to be written without its dead rows: for their share in it, or for their bytes in the manifest."""
    for entry in entries:
        share = len(entry.dead) / max(1, entry.rows)
        if len(entry.dead) >= DEAD_ROWS_LEAST and share > DEAD_SHARE_MOST and entry.live <= most:
            return (entry,)
    if sum(dead_bytes(entry.dead) for entry in entries) <= DEAD_BYTES_MOST:
        return ()
    largest = max(entries, key=lambda entry: dead_bytes(entry.dead))
    return (largest,) if largest.live <= most else ()


def _fitting(entries: Iterable[SegmentEntry], most: int) -> list[SegmentEntry]:
    """As many of the entries, from the first on, as one output can hold."""
    fitting: list[SegmentEntry] = []
    rows = size = 0.0
    for entry in entries:
        rows, size = rows + entry.live, size + _live_bytes(entry)
        if rows > most or size > BYTES_MOST:
            break
        fitting.append(entry)
    return fitting


def _is_large(entry: SegmentEntry) -> bool:
    """Whether it is merged no further."""
    return entry.live >= ROWS_MOST / 2 or _live_bytes(entry) >= BYTES_MOST / 2


def _makes_large(entries: Sequence[SegmentEntry]) -> bool:
    rows, size = sum(entry.live for entry in entries), sum(map(_live_bytes, entries))
    return len(entries) > 1 and (rows >= ROWS_MOST / 2 or size >= BYTES_MOST / 2)


def _live_bytes(entry: SegmentEntry) -> float:
    return entry.size * entry.live / entry.rows if entry.rows else 0.0


def _tier(live: int) -> int:
    tier = 0
    while live >= FAN_IN:
        live //= FAN_IN
        tier += 1
    return tier
