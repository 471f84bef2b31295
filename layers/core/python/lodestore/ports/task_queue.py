"""The queue of maintenance's tasks, as a port.

Owns: `TaskQueue`. Guarantees: a message that is not named in the answer is in the queue, durably.
Gives up: receiving, which is the platform's; order; and once-only delivery. A message may come twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

# SQS takes 256 KiB a message everywhere; a task with all its notes has 15 kB.
MESSAGE_BYTES_MOST: Final = 262_144


class TaskQueue(Protocol):
    """A queue of short texts. Thread-safe."""

    def send(self, messages: Sequence[str]) -> tuple[int, ...]:
        """Put all messages; the places in `messages` of those of which it is not sure that they are in the queue.

        Never raises for a queue that does not answer: then every message is named. Raises ValueError for a message
        over MESSAGE_BYTES_MOST, before any is sent.
        """
        ...
