"""Counts of use and feedback: what one instance saw, and how many such pieces add up.

Owns: `Tally` (counts of one memory), deltas and the snapshot, their sum, and the levels of use that they give.
Guarantees: a delta counts exactly once: it is in the snapshot if its sequence is at or below the instance's last
folded one, else beside it (design, section 6). Gives up: what an instance that stopped had not flushed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lodestore.domain.use_levels import Levels, UseLevels


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one memory."""

    recalls: int = 0
    useful: int = 0
    not_useful: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.recalls + other.recalls, self.useful + other.useful, self.not_useful + other.not_useful
        )


Tallies = Mapping[str, Tally]


@dataclass(frozen=True, slots=True)
class Note:
    """Words that came with a piece of feedback, screened for secrets."""

    memory_id: str
    useful: bool
    text: str


@dataclass(frozen=True, slots=True)
class Delta:
    """One flush of one instance."""

    instance: str
    sequence: int
    tallies: Tallies
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenDelta:
    """A delta, and when the store took it in milliseconds since 1970: the time at which its counts came."""

    delta: Delta
    at: int


@dataclass(frozen=True, slots=True)
class KnownUse:
    """All that is known of the use of a tenant's memories: sums and levels by id."""

    tallies: Tallies = field(default_factory=dict)
    levels: Levels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Folded counts, the last folded sequence of each instance, the newest words of feedback, and levels of use."""

    tallies: Tallies = field(default_factory=dict)
    folded: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    levels: Levels = field(default_factory=dict)

    def holds(self, instance: str, sequence: int) -> bool:
        """Whether that delta is already folded in."""
        return sequence <= self.folded.get(instance, 0)


def added(*pieces: Tallies) -> dict[str, Tally]:
    """The sum of several tallies by memory."""
    total: dict[str, Tally] = {}
    for piece in pieces:
        for memory_id, tally in piece.items():
            total[memory_id] = total.get(memory_id, Tally()) + tally
    return total


def totals(snapshot: Snapshot, deltas: Iterable[Delta]) -> dict[str, Tally]:
    """All flushed counts, each once."""
    fresh = [delta.tallies for delta in deltas if not snapshot.holds(delta.instance, delta.sequence)]
    return added(snapshot.tallies, *fresh)


def lifted_levels(levels: Levels, fresh: Iterable[TakenDelta], forgotten: Collection[str] = ()) -> Levels:
    """The levels after these deltas, without those of forgotten ids."""
    after = {memory_id: level for memory_id, level in levels.items() if memory_id not in forgotten}
    for one in fresh:
        for memory_id, tally in one.delta.tallies.items():
            if memory_id not in forgotten:
                after[memory_id] = after.get(memory_id, UseLevels()).lifted(
                    one.at, recalls=tally.recalls, useful=tally.useful, not_useful=tally.not_useful
                )
    return after


def with_all_levels(snapshot: Snapshot, stored_at: int) -> Snapshot:
    """The snapshot as one that has levels; the counts of one that was written without came when it was stored."""
    missing = snapshot.tallies.keys() - snapshot.levels.keys()
    if not missing:
        return snapshot
    came = Delta("", 0, {memory_id: snapshot.tallies[memory_id] for memory_id in missing})
    return replace(snapshot, levels=lifted_levels(snapshot.levels, [TakenDelta(came, stored_at)]))
