"""What stands at ids that changed: the indexer's look at the truth.

Owns: the classification of each dirty id as memory, stub, missing, invalid or unread.
Guarantees: an event's word is never taken, the current truth is read (P-IDEMPOTENT); an object that is no
record for its key is reported by digest and ETag, never by content, and stays as it is; an id that could not
be read is named, so that its event is repeated.
Gives up: order. Ids of one tenant are read side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from lodestore.domain import limits
from lodestore.domain.memory import Stub
from lodestore.format import keys
from lodestore.format.records import InvalidRecord, decode_record
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable
from lodestore.services.events import key_digest

INVALID_SHOWN = 20


class Kind(StrEnum):
    """What an id turned out to be."""

    MEMORY = "memory"
    STUB = "stub"
    MISSING = "missing"
    INVALID = "invalid"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Invalid:
    """An object that is no record for its key: digest of the key, ETag ("": too large to read), why."""

    digest: str
    etag: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeReport:
    """What one look at a tenant's dirty ids found; `invalid` shows the first 20, `unread` all."""

    memories: int
    stubs: int
    missing: int
    invalid_count: int
    invalid: tuple[Invalid, ...]
    unread: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Look:
    memory_id: str
    kind: Kind
    invalid: Invalid | None = None


class Intake:
    """Looks at the truth of ids that an event named."""

    def __init__(self, state: ObjectStore, *, workers: Executor) -> None:
        self._state = state
        self._workers = workers

    def inspect(self, tenant: str, memory_ids: Iterable[str]) -> IntakeReport:
        """Read each id once, at most 32 at a time, so that a burst leaves the workers free for others."""
        looks = tuple(self._looks(tenant, iter(dict.fromkeys(memory_ids))))
        counts = Counter(look.kind for look in looks)
        invalid = tuple(look.invalid for look in looks if look.invalid is not None)
        return IntakeReport(
            memories=counts[Kind.MEMORY],
            stubs=counts[Kind.STUB],
            missing=counts[Kind.MISSING],
            invalid_count=len(invalid),
            invalid=invalid[:INVALID_SHOWN],
            unread=frozenset(look.memory_id for look in looks if look.kind is Kind.UNREAD),
        )

    def _looks(self, tenant: str, memory_ids: Iterator[str]) -> Iterator[_Look]:
        while together := tuple(islice(memory_ids, limits.PARALLEL_READS)):
            yield from self._workers.map(lambda memory_id: self._look(tenant, memory_id), together)

    def _look(self, tenant: str, memory_id: str) -> _Look:
        key = keys.memory(tenant, memory_id)
        try:
            answer = self._state.get(key, max_bytes=limits.OBJECT_BYTES)
        except StoreUnavailable:
            return _Look(memory_id, Kind.UNREAD)
        except ObjectTooLarge:
            return _Look(memory_id, Kind.INVALID, Invalid(key_digest(key), "", "larger than any record"))
        if not isinstance(answer, Found):
            return _Look(memory_id, Kind.MISSING)
        try:
            record = decode_record(answer.body, tenant, memory_id)
        except InvalidRecord as why:
            return _Look(memory_id, Kind.INVALID, Invalid(key_digest(key), answer.etag, str(why)))
        return _Look(memory_id, Kind.STUB if isinstance(record, Stub) else Kind.MEMORY)
