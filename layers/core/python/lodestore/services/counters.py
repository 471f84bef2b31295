"""Counts that are kept until the edge writes them down.

Owns: `Counters`, the meter of a process that has a log or metrics. Guarantees: nothing that was counted is written
twice or lost between two writes. Gives up: outliving the process.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping


class Counters:
    """A `lodestore.ports.meter.Meter` that keeps counts until they are taken. Thread-safe."""

    def __init__(self) -> None:
        self._counted: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counted[name] += amount

    def take(self) -> Mapping[str, int]:
        """What was counted since the last time."""
        with self._lock:
            counted, self._counted = self._counted, Counter()
        return counted
