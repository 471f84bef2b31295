"""Counting what happens, as a port.

Owns: `Meter`. Guarantees: a name and a number, never content, query, key or tenant (P-UNTRUSTED).
Gives up: where they go; the edge decides (CloudWatch EMF, a log, nothing).
"""

from __future__ import annotations

from typing import Protocol


class Meter(Protocol):
    """A sink for counts. Thread-safe, never raises."""

    def count(self, name: str, amount: int = 1) -> None:
        """Add `amount` to the counter `name` (snake case)."""
        ...
