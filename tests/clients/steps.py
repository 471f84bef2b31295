"""What every client has to do, and what each did.

Owns: the steps and the table of this run. Guarantees: a step is noted before it is asserted, so that the table shows
the failed ones.
"""

from __future__ import annotations

STEPS = ("list", "remember", "error", "recall", "headers")
TABLE: dict[str, tuple[str, ...]] = {}


def note(client: str, **done: bool) -> None:
    """Write down a client's row; every step has to be given."""
    TABLE[client] = tuple("ok" if done[step] else "FAILED" for step in STEPS)


def note_missing(client: str, reason: str) -> None:
    """Write down why a client was not tried."""
    TABLE[client] = (f"not tried: {reason}",)
