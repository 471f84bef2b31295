"""The operating system's source of chance.

Owns: the only drawing of random numbers in the package. Guarantees: nothing is drawn ahead, so a process
that was forked, or restored from a snapshot (Lambda SnapStart), never repeats another's numbers. Gives up:
speed.
"""

from __future__ import annotations

import secrets


class SystemEntropy:
    """An Entropy on `secrets`. Thread-safe, without state."""

    def token(self, size: int) -> bytes:
        """`size` bytes fit for keys."""
        return secrets.token_bytes(size)

    def fraction(self) -> float:
        """A number in [0, 1) of 53 random bits."""
        return secrets.randbits(53) / (1 << 53)
