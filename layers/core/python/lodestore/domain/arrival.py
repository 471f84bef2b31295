"""What becomes of a record that comes from outside, given what stands at its id (design, section 3, P-FORGOTTEN).

Owns: that decision, as a pure function. Guarantees: a newer revision is never replaced by an older one; what is
forgotten here stays so unless it is asked back; the same record a second time changes nothing, so an import that was
cut is simply run again.
Gives up: the order of two lives of one id in two stores that never met: the higher revision counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lodestore.domain.memory import Memory, Record, Stub


class OnConflict(StrEnum):
    """What happens to a memory that stands at the id with another state."""

    SKIP = "skip"
    OVERWRITE = "overwrite"


class Verdict(StrEnum):
    """What became of one record.

    kept     another state stands at the id, and stays (skip)
    newer    what stands at the id is newer than the record, and stays
    """

    STORED = "stored"
    OVERWRITTEN = "overwritten"
    RESURRECTED = "resurrected"
    ALREADY_KNOWN = "already_known"
    KEPT = "kept"
    NEWER = "newer"
    FORGOTTEN = "forgotten"


WRITES = frozenset({Verdict.STORED, Verdict.OVERWRITTEN, Verdict.RESURRECTED})


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record on its way in. `earlier`: revisions of the states before it that come along."""

    record: Record
    earlier: frozenset[str]
    on_conflict: OnConflict
    resurrect: bool


def judge(arrival: Arrival, current: Record | None, tombstone: Stub | None) -> Verdict:
    """What the record comes to where `current` stands; `tombstone` is the copy that is looked at where nothing does."""
    record = arrival.record
    stub = current if isinstance(current, Stub) else tombstone if current is None else None
    if isinstance(record, Memory) and stub is not None and record.revision <= stub.revision:
        return Verdict.RESURRECTED if arrival.resurrect else Verdict.FORGOTTEN
    if current is None:
        return Verdict.STORED
    if record.revision == current.revision:
        return Verdict.ALREADY_KNOWN
    if record.revision < current.revision:
        return Verdict.NEWER
    if isinstance(current, Stub) and isinstance(record, Memory):
        return Verdict.STORED
    if isinstance(current, Memory) and current.revision in arrival.earlier:
        # An import that was cut between two versions of one memory.
        return Verdict.STORED
    return Verdict.OVERWRITTEN if arrival.on_conflict is OnConflict.OVERWRITE else Verdict.KEPT
