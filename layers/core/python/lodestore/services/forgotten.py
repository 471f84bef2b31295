"""What was forgotten stays forgotten, whatever a hand put back.

Owns: the comparison of records with their tombstones. Guarantees: an object whose revision is not greater than its
tombstone's becomes a stub again, by If-Match and above both revisions, with a marker (design, section 3,
P-FORGOTTEN); a stub without a copy, or with a lower one, gets it.
Gives up: an object that is not there. A tombstone alone brings nothing about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from lodestore.domain.memory import Memory, Record, Stub, continued
from lodestore.errors import Unavailable
from lodestore.services.ledger import Ledger, Overtaken, Standing
from lodestore.services.tombstones import Tombstones
from lodestore.services.truth import Read

_TRIES = 8
NO_ETAG = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The truth after the comparison: how many objects became stubs again, and how many copies were missing."""

    truth: Mapping[str, Read]
    forgotten_again: int
    copied: int


class Forgotten:
    """The forgotten of all tenants."""

    def __init__(self, ledger: Ledger, tombstones: Tombstones, *, workers: Executor) -> None:
        self._ledger = ledger
        self._tombstones = tombstones
        self._workers = workers

    def tombstones(self, tenant: str) -> frozenset[str]:
        """The ids that have a tombstone. Raises StoreUnavailable."""
        return self._tombstones.ids(tenant)

    def settle(
        self, tenant: str, truth: Mapping[str, Read], tombstones: frozenset[str], *, dry_run: bool = False
    ) -> Settled:
        """Compare what was read with the tombstones. Raises StoreUnavailable, Unavailable.

        dry_run   count, and change nothing
        """
        restored, lacking = self._compared(tenant, truth, tombstones)
        if dry_run:
            return Settled(truth, len(restored), len(lacking))
        list(self._workers.map(self._tombstones.copy, lacking))
        # One after the other: each write waits for a worker of its own.
        stubs = {m: self._forget_again(tenant, truth[m], copy) for m, copy in restored.items()}
        return Settled({**truth, **stubs}, len(restored), len(lacking))

    def look(self, tenant: str, truth: Mapping[str, Read], tombstones: frozenset[str]) -> Settled:
        """The same, for who may not write memories: restored ones are given as their tombstones, and left to `settle`.

        Their ETag is "", which no object has, so that the sweep sees a difference and settles them. Raises
        StoreUnavailable.
        """
        restored, _ = self._compared(tenant, truth, tombstones)
        stubs = {m: Read(copy, NO_ETAG) for m, copy in restored.items()}
        return Settled({**truth, **stubs}, 0, 0)

    def _compared(
        self, tenant: str, truth: Mapping[str, Read], tombstones: frozenset[str]
    ) -> tuple[dict[str, Stub], list[Stub]]:
        """Tombstones of what was restored, by id, and the stubs that have no copy, or a lower one."""
        wanted = [m for m, read in truth.items() if isinstance(read.record, Stub) or m in tombstones]
        copies = dict(
            zip(wanted, self._workers.map(lambda m: self._tombstones.read(tenant, m), wanted), strict=True)
        )
        restored = {m: copy for m, copy in copies.items() if copy is not None and _is_old(truth[m], copy)}
        lacking = [
            record
            for m, copy in copies.items()
            if isinstance(record := truth[m].record, Stub)
            and (copy is None or copy.revision < record.revision)
        ]
        return restored, lacking

    def _forget_again(self, tenant: str, read: Read, copy: Stub) -> Read:
        """The stub in the place of what was read, or whatever newer stands there by now."""
        etag = read.etag
        for _ in range(_TRIES):
            assert etag is not None, "what is older than its tombstone is there"
            # What stands there is replaced as if it were the stub: the new revision must be above the tombstone's.
            result = self._ledger.write(tenant, copy.id, Standing(copy, etag), _again(copy))
            if isinstance(result, Standing | Overtaken):
                if isinstance(result.record, Stub):
                    self._tombstones.copy(result.record)
                stands = result if isinstance(result, Standing) else result.current
                return Read(stands.record, stands.etag)
            if result.current is None:
                return Read(None, None)
            now = Read(result.current.record, result.current.etag)
            if not _is_old(now, copy):
                return now
            etag = now.etag
        raise Unavailable("Too many writers at once on a forgotten memory.")


def _is_old(read: Read, copy: Stub) -> bool:
    return isinstance(read.record, Memory) and read.record.revision <= copy.revision


def _again(copy: Stub) -> Callable[[str], Record]:
    return lambda revision: replace(copy, revision=revision, recent=continued(copy, revision))
