"""The write protocol of one id: read, conditional write, marker, and what an unclear answer means.

Owns: design section 3's rules for won, lost, contended, gone and unknown, in one place for every kind of write.
Guarantees: a write that `Ledger.write` returns is in the state bucket and has a marker (P-DURABLE); an attempt whose
answer was lost is found by its revision and counts as won; no attempt reuses a revision or a body (but for a record
that an import brings along); a write that may have happened is never reported as not stored; what it returns is what
its own attempt wrote, also where another write was made over it before its lost answer was looked for
(P-NO-LOST-UPDATE).
Gives up: merging. A displaced write comes back to the caller, who reads the newer record and decides anew.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta

from lodestore.domain import limits
from lodestore.domain.memory import Record
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.errors import Unavailable
from lodestore.format import keys
from lodestore.format.records import encode_record
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import (
    Contended,
    Found,
    ObjectStore,
    ObjectTooLarge,
    StoreUnavailable,
    Unknown,
    Won,
    WriteOutcome,
)
from lodestore.services.truth import Truth

MARKER_GRACE = timedelta(hours=1)
ATTEMPTS = 5
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Standing:
    """A record as it stands at its key, with the ETag that a replacement must name."""

    record: Record
    etag: str


@dataclass(frozen=True, slots=True)
class Displaced:
    """The write did not take effect, and never will: this is what stands there instead (None: nothing)."""

    current: Standing | None


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The write took effect as `record`, and was replaced before its lost answer was looked for."""

    record: Record
    current: Standing


@dataclass(frozen=True, slots=True)
class _Attempt:
    record: Record
    outcome: WriteOutcome
    marker: WriteOutcome


class Quarantined(Unavailable):
    """What stands at the key is no record; it is left as it is, and no write goes over it."""

    retryable = False


class Ledger:
    """All reads and writes of single records."""

    def __init__(
        self,
        state: ObjectStore,
        index: ObjectStore,
        truth: Truth,
        *,
        clock: Clock,
        entropy: Entropy,
        workers: Executor,
        meter: Meter,
    ) -> None:
        self._state = state
        self._index = index
        self._truth = truth
        self._clock = clock
        self._entropy = entropy
        self._workers = workers
        self._meter = meter

    def read(self, tenant: str, memory_id: str) -> Standing | None:
        """What stands at the id's key; None where nothing does. Raises Unavailable.

        An object that is no record for this key is unavailable too, not absent: a write must not replace it.
        """
        try:
            read = self._truth.read(tenant, memory_id)
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None
        if read.etag is None:
            return None
        if read.record is None:
            raise Quarantined(
                f"The object stored for {memory_id} can't be read as a memory.",
                next_step="Its operator has to repair or remove it; repeating the call does not help.",
            )
        return Standing(read.record, read.etag)

    def read_many(self, tenant: str, memory_ids: tuple[str, ...]) -> dict[str, Standing | None]:
        """`read` for several ids, side by side."""
        answers = self._workers.map(lambda memory_id: self.read(tenant, memory_id), memory_ids)
        return dict(zip(memory_ids, answers, strict=True))

    def write(
        self, tenant: str, memory_id: str, over: Standing | None, draft: Callable[[str], Record]
    ) -> Standing | Overtaken | Displaced:
        """Write `draft(revision)` where `over` stands (None: where nothing does), with its marker, side by side.

        Raises Unavailable with written "unknown" (no answer, and not found after), True (the memory landed, its
        marker did not) or False (the store refused outright).
        """
        predecessor = over.record.revision if over is not None else None
        return self._write(tenant, memory_id, over, lambda: draft(self.revision_above(predecessor)))

    def place(
        self, tenant: str, memory_id: str, over: Standing | None, record: Record
    ) -> Standing | Overtaken | Displaced:
        """`write` of a record that has its revision already, above that of `over`: one that comes from another store.

        Its repeats are one and the same body, which is safe where a draft's would not be (decision 0085).
        """
        assert over is None or over.record.revision < record.revision, "a revision never goes back"
        return self._write(tenant, memory_id, over, lambda: record)

    def _write(
        self, tenant: str, memory_id: str, over: Standing | None, draft: Callable[[], Record]
    ) -> Standing | Overtaken | Displaced:
        drafted: dict[str, Record] = {}
        unsure = False
        for attempt in range(ATTEMPTS):
            record = draft()
            drafted[record.revision] = record
            tried = self._attempt(tenant, memory_id, over, record, unsure=unsure)
            if isinstance(tried.outcome, Won):
                return self._marked(tenant, memory_id, tried, tried.outcome)
            unsure = unsure or isinstance(tried.outcome, Unknown)
            settled = self._settle(tenant, memory_id, over, drafted, tried.outcome, unsure=unsure)
            if settled is not None:
                return settled
            self._backoff(attempt)
        raise _undecided(unsure=unsure)

    def ensure_marked(self, tenant: str, memory_id: str, revision: str) -> None:
        """Make sure that what stands at this revision has a marker: its writer may have died before putting it.

        A marker that is there and young serves: it is deleted only once the index shows what it says. An old one may
        be about to be deleted as settled, so a fresh one is put. Raises Unavailable with written True.
        """
        try:
            marker = self._index.get(keys.pending(tenant, revision, memory_id), max_bytes=limits.OBJECT_BYTES)
        except (StoreUnavailable, ObjectTooLarge):
            marker = None
        if not isinstance(marker, Found) or marker.at - marker.last_modified > MARKER_GRACE / 2:
            self.mark(tenant, memory_id, revision)

    def mark(self, tenant: str, memory_id: str, predecessor: str) -> None:
        """Put a marker under a fresh revision above `predecessor`, so that every reader looks at the truth again.

        Raises Unavailable with written True: the record it points to stands.
        """
        for attempt in range(ATTEMPTS):
            if isinstance(self._put_marker(tenant, memory_id, self.revision_above(predecessor)), Won):
                return
            self._backoff(attempt)
        raise Unavailable(
            "The memory is stored, but the note that makes it visible everywhere at once is not.",
            written=True,
            memory_id=memory_id,
        )

    def _attempt(
        self, tenant: str, memory_id: str, over: Standing | None, record: Record, *, unsure: bool
    ) -> _Attempt:
        marker = self._workers.submit(self._put_marker, tenant, memory_id, record.revision)
        key, body = keys.memory(tenant, memory_id), encode_record(record)
        try:
            if over is None:
                outcome = self._state.create(key, body)
            else:
                outcome = self._state.replace(key, body, expected=over.etag)
        except StoreUnavailable:
            raise _undecided(unsure=True) if unsure else Unavailable("The store refused the write.") from None
        finally:
            marker_outcome = marker.result()
        self._meter.count(f"write_{type(outcome).__name__.lower()}")
        return _Attempt(record, outcome, marker_outcome)

    def _put_marker(self, tenant: str, memory_id: str, revision: str) -> WriteOutcome:
        try:
            return self._index.create(keys.pending(tenant, revision, memory_id), b"")
        except StoreUnavailable:
            return Unknown("refused")

    def _marked(self, tenant: str, memory_id: str, tried: _Attempt, won: Won) -> Standing:
        """The write is in the truth; make sure that its marker is there and young enough to be kept until read."""
        marker = tried.marker
        apart = isinstance(marker, Won) and abs(won.at - marker.at) > MARKER_GRACE / 2
        # A fresh revision's key is free, so even "lost" proves no marker there.
        if not isinstance(marker, Won) or apart:
            self.mark(tenant, memory_id, tried.record.revision)
        return Standing(tried.record, won.etag)

    def _settle(
        self,
        tenant: str,
        memory_id: str,
        over: Standing | None,
        drafted: dict[str, Record],
        outcome: WriteOutcome,
        *,
        unsure: bool,
    ) -> Standing | Overtaken | Displaced | None:
        """What a write that was not answered with success came to; None: nothing yet, try again."""
        if isinstance(outcome, Contended):
            return None
        current = self._read_after(tenant, memory_id, unsure=unsure)
        if current is not None and (ours := _landed(current, drafted)):
            self._meter.count("write_found_after_lost_answer")
            self.mark(tenant, memory_id, current.record.revision)
            return current if ours.revision == current.record.revision else Overtaken(ours, current)
        if isinstance(outcome, Unknown) and _same(current, over):
            return None
        if current is not None:
            # Another record stands there, so none of ours can land any more. Where nothing stands, one still might.
            for revision in drafted:
                self._drop_marker(tenant, memory_id, revision)
        return Displaced(current)

    def _read_after(self, tenant: str, memory_id: str, *, unsure: bool) -> Standing | None:
        try:
            return self.read(tenant, memory_id)
        except Unavailable as error:
            raise _undecided(unsure=True) if unsure else error from None

    def _drop_marker(self, tenant: str, memory_id: str, revision: str) -> None:
        # Best effort: one that stays costs a reader one look, and upkeep removes it.
        try:
            self._index.delete(keys.pending(tenant, revision, memory_id))
        except StoreUnavailable:
            self._meter.count("marker_left_behind")

    def revision_above(self, predecessor: str | None) -> str:
        """A fresh revision, greater than `predecessor`."""
        return next_revision(self._clock.now(), predecessor, self._entropy.token(RANDOM_BYTES))

    def _backoff(self, attempt: int) -> None:
        self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))


def _undecided(*, unsure: bool) -> Unavailable:
    if unsure:
        return Unavailable(
            "The store gave no answer; whether it stored the write is not known.", written="unknown"
        )
    return Unavailable("Too many writers at once; nothing was stored.")


def _landed(current: Standing, drafted: dict[str, Record]) -> Record | None:
    """The one attempt that took effect: all named the same predecessor, so no two can."""
    seen = (current.record.revision, *current.record.recent)
    return next((drafted[revision] for revision in seen if revision in drafted), None)


def _same(current: Standing | None, over: Standing | None) -> bool:
    if current is None or over is None:
        return current is over
    return current.etag == over.etag
