"""Undo records: what upkeep did to the meaning of memories, so that it can be taken back.

Owns: `UndoRecord`. Guarantees: ids, revisions and digests, never a word: what was superseded stays where it is, so
nothing has to be kept to bring it back. Its id is that of what did it: the merged memory, or the proposal.
Gives up: undoing a forget after FORGET_WINDOW.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lodestore.domain.memory import Member


class UndoKind(StrEnum):
    """What is taken back.

    merge       `result`, the merged memory, goes; the originals show again
    supersede   `result` supersedes the originals no longer
    forget      the originals are restored
    """

    MERGE = "merge"
    SUPERSEDE = "supersede"
    FORGET = "forget"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRecord:
    """One thing done. `by`: consolidation, or the proposal's id; `result`: what stands instead, if anything does."""

    id: str
    tenant: str
    kind: UndoKind
    by: str
    conversation: str | None
    result: str | None
    originals: tuple[Member, ...]
    made_at: datetime
    undone_at: datetime | None = None
    undone_by: str | None = None
