"""Manifests change by generations, and stay small at any rate of writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lodestore.domain.manifest import (
    RETIRED_FOR,
    SHORT_LIFE,
    UNLISTED_FOR,
    Killed,
    Manifest,
    Retired,
    SegmentEntry,
    next_manifest,
    without_segments,
)
from lodestore.services.merge_plan import FAN_IN, ROWS_MOST, plan_merge

NOW = datetime(2026, 3, 9, 1, 30, tzinfo=UTC)
BASE = Manifest(tenant="acme", generation=3, updated_at=NOW, tokenizer=1)


def entry(name: str, rows: int = 10, listed_at: datetime | None = None) -> SegmentEntry:
    return SegmentEntry(
        name=name,
        rows=rows,
        documents=rows,
        length=20 * rows,
        size=400 * rows,
        vectors=rows,
        listed_at=listed_at,
    )


def test_a_segment_is_listed_since_the_manifest_was_stored_that_listed_it_first() -> None:
    first = next_manifest(BASE, stored_at=NOW, now=NOW, added=[entry("a")])
    assert first.segments[0].listed_at is None
    stored = NOW + timedelta(seconds=7)
    second = next_manifest(first, stored_at=stored, now=NOW, added=[entry("b")])
    third = next_manifest(second, stored_at=stored + timedelta(hours=1), now=NOW)
    assert [one.listed_at for one in second.segments] == [stored, None]
    assert [one.listed_at for one in third.segments] == [stored, stored + timedelta(hours=1)]
    assert [one.generation for one in (first, second, third)] == [4, 5, 6]


def test_dead_rows_are_counted_once_and_only_grow() -> None:
    base = next_manifest(BASE, stored_at=NOW, now=NOW, added=[entry("a")])
    killed = {"a": Killed((7, 3), 2, 40)}
    after = next_manifest(base, stored_at=NOW, now=NOW, killed=killed).segments[0]
    assert (after.dead, after.documents, after.length, after.live) == ((3, 7), 8, 160, 8)
    later = next_manifest(BASE, stored_at=NOW, now=NOW, added=[after], killed={"a": Killed((1,), 1, 20)})
    assert later.segments[0].dead == (1, 3, 7)


def test_a_segment_that_leaves_the_list_is_noted_unless_its_own_age_protects_it() -> None:
    old, young, new = entry("old", listed_at=NOW), entry("young", listed_at=NOW + SHORT_LIFE), entry("new")
    base = Manifest(tenant="acme", generation=1, updated_at=NOW, tokenizer=1, segments=(old, young, new))
    after = without_segments(base, ["old", "young"], NOW + SHORT_LIFE + timedelta(seconds=1))
    assert after.names == ("new",)
    assert after.retired == (Retired("old", None),)
    assert UNLISTED_FOR - SHORT_LIFE >= RETIRED_FOR


def test_a_note_gets_the_time_of_its_manifest_and_goes_after_an_hour() -> None:
    base = Manifest(tenant="acme", generation=1, updated_at=NOW, tokenizer=1, retired=(Retired("a", None),))
    noted = next_manifest(base, stored_at=NOW, now=NOW)
    assert noted.retired == (Retired("a", NOW),)
    almost = NOW + RETIRED_FOR - timedelta(milliseconds=1)
    assert next_manifest(noted, stored_at=almost, now=NOW).retired == noted.retired
    assert next_manifest(noted, stored_at=NOW + RETIRED_FOR, now=NOW).retired == ()


@pytest.mark.promise("P-FLAT-WRITES")
@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize("every", [1, 5, 30, 100, 240, 600])
@pytest.mark.parametrize("rows", [1, 40])
def test_at_any_rate_of_writes_few_segments_are_listed_and_few_are_noted_as_retired(
    every: int, rows: int
) -> None:
    """Seconds between runs of the indexer, each of which adds so many rows and then merges."""
    manifest, at = BASE, NOW
    listed = noted = number = 0
    for _ in range(min(6000, 8 * 3600 // every)):
        number += 1
        at += timedelta(seconds=every)
        manifest = next_manifest(manifest, stored_at=at, now=at, added=[entry(f"{number:06}", rows)])
        while names := plan_merge(manifest, ROWS_MOST):
            number += 1
            gone = [one for one in manifest.segments if one.name in names]
            since = max(one.listed_at or at for one in gone)
            output = entry(f"{number:06}", sum(one.live for one in gone), since)
            following = next_manifest(manifest, stored_at=at, now=at, added=[output])
            manifest = without_segments(following, names, at)
        listed, noted = max(listed, len(manifest.segments)), max(noted, len(manifest.retired))
    assert listed <= 6 * (FAN_IN - 1)
    assert noted <= 40
