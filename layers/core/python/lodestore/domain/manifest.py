"""The manifest: which segments a tenant's index consists of, and which of their rows no longer count.

Owns: `Manifest` and the pure changes to it. Guarantees: each change is a new generation; dead rows only grow while a
segment is listed; a segment that leaves the list is retired, never forgotten at once (design, section 4).
Gives up: storage; `services/manifests` swaps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentEntry:
    """One listed segment.

    rows        rows in it; `dead` are those that were replaced, in ascending order
    documents   live memories in it (neither dead nor stubs), `length` their terms
    size        bytes of the object
    listed_at   when the manifest that first listed it was stored, by the store's clock; None until the next swap
    """

    name: str
    rows: int
    documents: int
    length: int
    size: int
    vectors: int
    dead: tuple[int, ...] = ()
    listed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Retired:
    """A segment that was listed until `at` (by the store's clock); readers that loaded before may still read it."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The index of one tenant at one generation.

    tokenizer        version of the tokenizer of all segments
    model            whose vectors the segments hold; None: none
    vectors_through  the last segment whose vectors are in the vector engine; None: none are
    """

    tenant: str
    generation: int
    updated_at: datetime
    tokenizer: int
    model: str | None = None
    segments: tuple[SegmentEntry, ...] = ()
    retired: tuple[Retired, ...] = ()
    vectors_through: str | None = None

    @property
    def documents(self) -> int:
        """Live memories that are indexed."""
        return sum(entry.documents for entry in self.segments)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the listed segments."""
        return tuple(entry.name for entry in self.segments)


@dataclass(frozen=True, slots=True)
class Killed:
    """Rows of one segment that stop counting: how many of them were live memories, and the terms of those."""

    rows: tuple[int, ...]
    documents: int
    length: int


def with_listed(manifest: Manifest, stored_at: datetime) -> tuple[SegmentEntry, ...]:
    """The entries, those new in `manifest` now with the time at which it was stored."""
    return tuple(
        entry if entry.listed_at is not None else replace(entry, listed_at=stored_at)
        for entry in manifest.segments
    )


def with_dead(entry: SegmentEntry, killed: Killed) -> SegmentEntry:
    """The entry with more dead rows."""
    return replace(
        entry,
        dead=tuple(sorted({*entry.dead, *killed.rows})),
        documents=entry.documents - killed.documents,
        length=entry.length - killed.length,
    )


def next_manifest(
    base: Manifest,
    *,
    stored_at: datetime | None,
    now: datetime,
    added: Iterable[SegmentEntry] = (),
    killed: Mapping[str, Killed] | None = None,
    removed: Iterable[str] = (),
    collected: Iterable[str] = (),
) -> Manifest:
    """The next generation.

    stored_at   when `base` was stored, by the store's clock; None: it never was
    killed      segment name to the rows in it that stop counting
    removed     segments that leave the list and are retired
    collected   retired segments whose objects are deleted
    """
    entries = with_listed(base, stored_at) if stored_at is not None else base.segments
    dead = killed or {}
    gone, done = frozenset(removed), frozenset(collected)
    kept = tuple(
        with_dead(entry, dead[entry.name]) if entry.name in dead else entry
        for entry in entries
        if entry.name not in gone
    )
    retired = tuple(item for item in base.retired if item.name not in done)
    retired += tuple(Retired(name, stored_at or now) for name in base.names if name in gone)
    return replace(
        base, generation=base.generation + 1, updated_at=now, segments=(*kept, *added), retired=retired
    )
