"""Which texts a local model runs together.

Owns: batches of like length. Guarantees: every row in exactly one batch; a batch within its bounds of rows and of
pieces, padding included, unless one row alone is longer. Gives up: the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(lengths: Sequence[int], most_rows: int, most_pieces: int) -> Iterator[list[int]]:
    """Row numbers, longest first, so that the rows of a batch are padded little. `lengths` in pieces."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        longest = lengths[batch[0]] if batch else 0
        if batch and (len(batch) == most_rows or longest * (len(batch) + 1) > most_pieces):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
