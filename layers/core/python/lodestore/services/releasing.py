"""Releasing: what a memory or a stub superseded, it supersedes no longer.

Owns: the way back from superseding, in an order by which either the successor or the released one is seen at every
moment: the notes first, which alone hide nothing, then the one write of the successor that decides, then again the
notes that a sweep may have written meanwhile. Guarantees: safe to repeat from any point.
Gives up: choosing what to release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lodestore.domain.memory import Memory, Record, Stub, continued
from lodestore.errors import Unavailable
from lodestore.services.ledger import Displaced, Ledger
from lodestore.services.supersede import Superseding
from lodestore.services.tombstones import Tombstones

_TRIES = 32


class Releasing:
    """Releases of all tenants."""

    def __init__(self, ledger: Ledger, superseding: Superseding, tombstones: Tombstones) -> None:
        self._ledger = ledger
        self._superseding = superseding
        self._tombstones = tombstones

    def release(self, tenant: str, successor: str, targets: tuple[str, ...]) -> None:
        """Take `targets` out of what `successor` supersedes. Raises Unavailable."""
        self._superseding.unnote(tenant, successor, targets)
        self._rewrite(tenant, successor, targets)
        self._superseding.unnote(tenant, successor, targets, stored=True)

    def _rewrite(self, tenant: str, successor: str, targets: tuple[str, ...]) -> None:
        current = self._ledger.read(tenant, successor)
        for _ in range(_TRIES):
            if current is None or not set(targets).intersection(current.record.supersedes):
                return
            result = self._ledger.write(tenant, successor, current, _without(current.record, targets))
            if not isinstance(result, Displaced):
                if isinstance(result.record, Stub):
                    self._tombstones.copy(result.record)
                return
            current = result.current
        raise Unavailable("Too many writers at once on the successor; nothing was released.")


def _without(record: Record, targets: tuple[str, ...]) -> Callable[[str], Record]:
    kept = tuple(older for older in record.supersedes if older not in targets)

    def draft(revision: str) -> Record:
        released = replace(record, supersedes=kept, revision=revision, recent=continued(record, revision))
        return (
            replace(released, version=record.version + 1)
            if isinstance(released, Memory) and isinstance(record, Memory)
            else released
        )

    return draft
