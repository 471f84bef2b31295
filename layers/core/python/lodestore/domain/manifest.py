"""The manifest: which segments a tenant's index consists of, and which of their rows no longer count.

Owns: `Manifest` and the pure changes to it. Guarantees: each change is a new generation; dead rows only grow while a
segment is listed; a segment that leaves the list is either noted as retired, or was listed so shortly that its own
age protects it for the hour that readers of an older manifest may need (design, section 4). So the list of retired
ones stays short at any rate of writes.
Gives up: storage; `services/manifests` swaps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# How long a segment's object stays after it was last listed.
RETIRED_FOR = timedelta(hours=1)
# One that was listed for less than this is not noted as retired ...
SHORT_LIFE = timedelta(minutes=10)
# ... because an object that is neither listed nor retired stays until it is this old.
UNLISTED_FOR = RETIRED_FOR + SHORT_LIFE


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentEntry:
    """One listed segment.

    rows        rows in it; `dead` are those that were replaced, in ascending order
    documents   live memories in it (neither dead nor stubs), `length` their terms
    size        bytes of the object
    listed_at   since when, by the store's clock, every stored manifest shows what is in it; None: since the one that
                lists it now, whose time the next swap fills in
    in_engine   the vectors of its live rows are in the vector index that the manifest names
    """

    name: str
    rows: int
    documents: int
    length: int
    size: int
    vectors: int
    dead: tuple[int, ...] = ()
    listed_at: datetime | None = None
    in_engine: bool = False

    @property
    def live(self) -> int:
        """Rows that were not replaced: memories and stubs."""
        return self.rows - len(self.dead)


@dataclass(frozen=True, slots=True)
class Retired:
    """A segment that was listed, or a vector index that was used, until `at` by the store's clock.

    at   None: until the manifest that notes it first
    """

    name: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class EngineUse:
    """A use of the vector engine: its index, and the name of this beginning, a ULID drawn anew whenever the index may
    be empty again, so that whoever filled it before can mark nothing as filled. `text`: full texts are in it too.
    """

    index: str
    begun: str
    text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The index of one tenant at one generation.

    tokenizer        version of the tokenizer of all segments
    model            whose vectors the segments hold; None: none
    rebuilt          name of the rebuild that it goes back to; None: none was ever made
    engine           the use of the vector engine that `in_engine` of the segments is about; None: it is not used
    engine_left      vector indexes that were used until then, and are to be dropped
    """

    tenant: str
    generation: int
    updated_at: datetime
    tokenizer: int
    model: str | None = None
    segments: tuple[SegmentEntry, ...] = ()
    retired: tuple[Retired, ...] = ()
    rebuilt: str | None = None
    engine: EngineUse | None = None
    engine_left: tuple[Retired, ...] = ()

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


def settled(manifest: Manifest, stored_at: datetime) -> Manifest:
    """The manifest with the time at which it was stored where it is the first to list or to retire a segment.

    Notes of segments that were retired an hour before are left out: by now their own age lets their objects go.
    """
    return replace(
        manifest,
        segments=tuple(
            entry if entry.listed_at is not None else replace(entry, listed_at=stored_at)
            for entry in manifest.segments
        ),
        retired=tuple(
            Retired(item.name, item.at or stored_at)
            for item in manifest.retired
            if item.at is None or stored_at - item.at < RETIRED_FOR
        ),
        engine_left=tuple(Retired(item.name, item.at or stored_at) for item in manifest.engine_left),
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
) -> Manifest:
    """The next generation, with segments added and rows killed.

    stored_at   when `base` was stored, by the store's clock; None: it never was
    now         the writer's clock, for people to read
    killed      segment name to the rows in it that stop counting
    """
    before = settled(base, stored_at) if stored_at is not None else base
    dead = killed or {}
    segments = tuple(
        with_dead(entry, dead[entry.name]) if entry.name in dead else entry
        for entry in (*before.segments, *added)
    )
    return replace(before, generation=base.generation + 1, updated_at=now, segments=segments)


def without_segments(manifest: Manifest, names: Iterable[str], at: datetime) -> Manifest:
    """The same generation without these segments, noted as retired unless they were listed shortly before.

    at   the store's clock, at most moments before the manifest is stored
    """
    gone = frozenset(names)
    noted = tuple(
        Retired(entry.name, None)
        for entry in manifest.segments
        if entry.name in gone and (entry.listed_at is None or at - entry.listed_at >= SHORT_LIFE)
    )
    kept = tuple(entry for entry in manifest.segments if entry.name not in gone)
    return replace(manifest, segments=kept, retired=(*manifest.retired, *noted))
