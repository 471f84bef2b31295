"""What is merged next: little is written again, few segments stay, and no output is too large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.manifest import Manifest, SegmentEntry
from lodestore.format.dead_rows import dead_bytes
from lodestore.format.manifests import encode_manifest
from lodestore.services.merge_plan import (
    BYTES_MOST,
    DEAD_BYTES_MOST,
    DEAD_ROWS_LEAST,
    FAN_IN,
    ROWS_MOST,
    SMALL_ROWS,
    plan_merge,
)

NOW = datetime(2026, 3, 9, tzinfo=UTC)


def entry(number: int, rows: int, dead: Sequence[int] = (), row_bytes: int = 400) -> SegmentEntry:
    live = rows - len(dead)
    return SegmentEntry(
        name=f"{number:026}",
        rows=rows,
        documents=live,
        length=20 * live,
        size=rows * row_bytes,
        vectors=rows,
        dead=tuple(dead),
        listed_at=NOW,
    )


def manifest(*entries: SegmentEntry) -> Manifest:
    return Manifest(tenant="acme", generation=1, updated_at=NOW, tokenizer=1, segments=entries)


class Index:
    """Segments that are added and merged as the plan says; `merged` counts rows written by merges."""

    def __init__(self) -> None:
        self.listed: list[SegmentEntry] = []
        self.merged = 0
        self.merges = 0
        self._number = 0

    def add(self, rows: int, most_rows: int = ROWS_MOST) -> None:
        self._list(rows)
        while names := plan_merge(manifest(*self.listed), most_rows):
            gone = [one for one in self.listed if one.name in names]
            self.listed = [one for one in self.listed if one.name not in names]
            live = sum(one.live for one in gone)
            assert live <= most_rows
            self.merged += live
            self.merges += 1
            if live:
                self._list(live)

    def kill(self, chance: Random) -> None:
        """One row somewhere dies, in a segment chosen by its size."""
        (one,) = chance.choices(self.listed, [one.live for one in self.listed])
        row = chance.choice(sorted(set(range(one.rows)) - set(one.dead)))
        at = self.listed.index(one)
        self.listed[at] = replace(one, dead=tuple(sorted({*one.dead, row})))

    def _list(self, rows: int) -> None:
        self._number += 1
        self.listed.append(entry(self._number, rows))


@pytest.mark.promise("P-FLAT-WRITES")
@pytest.mark.parametrize(
    ("batch", "batches", "times"), [(1, 4096, 4), (100, 100, 3), (100, 1000, 4), (1000, 300, 3)]
)
def test_a_row_is_written_again_a_few_times_however_many_there_are(
    batch: int, batches: int, times: int
) -> None:
    index = Index()
    for _ in range(batches):
        index.add(batch)
    assert index.merged <= times * batch * batches
    assert sum(one.live for one in index.listed) == batch * batches
    assert len(index.listed) <= 4 * FAN_IN


@given(st.lists(st.integers(1, 30_000), max_size=60), st.sampled_from([SMALL_ROWS, ROWS_MOST]))
def test_every_plan_fits_its_limit_and_planning_comes_to_an_end(sizes: list[int], most_rows: int) -> None:
    index = Index()
    for size in sizes:
        index.add(size, most_rows)
    assert index.merges <= len(sizes)
    assert plan_merge(manifest(*index.listed), most_rows) == ()


def test_what_is_too_large_for_the_indexer_is_left_to_maintenance() -> None:
    full = manifest(*(entry(number, 5000) for number in range(FAN_IN)))
    assert plan_merge(full, SMALL_ROWS) == ()
    assert len(plan_merge(full, ROWS_MOST)) == FAN_IN


def test_a_full_tier_takes_everything_smaller_along() -> None:
    mixed = manifest(
        *(entry(number, 100) for number in range(FAN_IN)), entry(50, 3), entry(51, 9), entry(52, 600)
    )
    assert set(plan_merge(mixed, SMALL_ROWS)) == {one.name for one in mixed.segments[:-1]}


def test_a_segment_that_grew_large_is_merged_no_further() -> None:
    grown = [entry(number, ROWS_MOST // 2) for number in range(2 * FAN_IN)]
    assert plan_merge(manifest(*grown), ROWS_MOST) == ()
    heavy = [entry(number, 1000, row_bytes=BYTES_MOST // 1500) for number in range(2 * FAN_IN)]
    assert plan_merge(manifest(*heavy), ROWS_MOST) == ()


@pytest.mark.promise("P-BOUNDED")
def test_no_output_is_larger_than_a_function_can_hold() -> None:
    for many in (
        [entry(number, 40_000) for number in range(FAN_IN)],
        [entry(number, 5_000, row_bytes=10_000) for number in range(FAN_IN)],
    ):
        names = plan_merge(manifest(*many), ROWS_MOST)
        chosen = [one for one in many if one.name in names]
        assert len(chosen) >= 2
        assert sum(one.rows for one in chosen) <= ROWS_MOST
        assert sum(one.size for one in chosen) <= BYTES_MOST


def test_a_segment_that_is_mostly_dead_is_written_again_without_its_dead_rows() -> None:
    rows = 4 * DEAD_ROWS_LEAST
    few = entry(1, rows, range(0, rows, 4))
    many = entry(2, rows, range(0, rows, 3))
    assert plan_merge(manifest(few), SMALL_ROWS) == ()
    assert plan_merge(manifest(few, many), SMALL_ROWS) == (many.name,)
    assert plan_merge(manifest(entry(3, 30, range(29))), SMALL_ROWS) == ()


def test_dead_rows_that_take_too_much_of_the_manifest_are_dropped_from_the_segment_that_has_most() -> None:
    chance = Random(1)
    large = entry(1, 150_000, sorted(chance.sample(range(150_000), 2_600)))
    small = entry(2, 500, sorted(chance.sample(range(500), 40)))
    assert large.rows * 0.3 > len(large.dead)
    assert dead_bytes(large.dead) > DEAD_BYTES_MOST
    assert plan_merge(manifest(large, small), ROWS_MOST) == (large.name,)
    # The indexer can't write it; that it writes the small one again would not help.
    assert plan_merge(manifest(large, small), SMALL_ROWS) == ()


@pytest.mark.promise("P-FLAT-WRITES")
def test_a_tenant_that_changes_at_random_keeps_a_small_manifest() -> None:
    chance, index = Random(7), Index()
    index.add(9_000)
    largest = 0
    for _ in range(1_500):
        index.kill(chance)
        index.add(1)
        largest = max(largest, len(encode_manifest(manifest(*index.listed))))
    assert largest < 10_000
    assert index.merged < 1_500 * 60
