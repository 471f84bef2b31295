"""Filters of recall and list, as one value that says yes or no to a memory.

Owns: type, category, tags, since and until. Guarantees: pure and exact; applied before ranking cuts anything off
(B35). Gives up: free expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lodestore.domain.memory import Memory, MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """None: no restriction. `tags`: all of them; `since` inclusive, `until` exclusive, on created_at."""

    types: tuple[MemoryType, ...] | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None

    def admits(self, memory: Memory) -> bool:
        """Whether the memory passes every filter."""
        return (
            (self.types is None or memory.type in self.types)
            and (self.category is None or memory.category == self.category)
            and (self.tags is None or set(self.tags) <= set(memory.tags))
            and (self.since is None or memory.created_at >= self.since)
            and (self.until is None or memory.created_at < self.until)
        )
