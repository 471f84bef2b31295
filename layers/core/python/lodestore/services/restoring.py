"""Restoring: what was forgotten comes back, as long as the window lasts and its old version is kept.

Owns: the tool `restore_memory`. Guarantees: only the newest state before the stub comes back, over exactly that stub
and above its revision, so every reader and the tombstone agree that it is there again; what it superseded is superseded
again. A memory that is hidden only by a forgotten successor is shown again. An expiry that has passed does not come
back with it. Gives up: anything after FORGET_WINDOW, whether or not a version is still there (P-FORGOTTEN).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.consolidation import noting
from lodestore.domain.memory import Memory, Record, Stub, continued
from lodestore.errors import Conflict, NotFound, Unavailable
from lodestore.format import keys
from lodestore.format.records import InvalidRecord, decode_record
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable
from lodestore.services.arguments import Arguments
from lodestore.services.founded_memory import is_founded
from lodestore.services.ledger import Displaced, Ledger, Standing
from lodestore.services.supersede import Superseding
from lodestore.services.tombstones import Tombstones

ARGUMENTS = ("id",)
VERSIONS_READ = 50
_TRIES = 8


class Restoring:
    """The tool `restore_memory`. `window`: how long a forgotten memory can be restored."""

    def __init__(
        self,
        state: ObjectStore,
        ledger: Ledger,
        superseding: Superseding,
        tombstones: Tombstones,
        clock: Clock,
        *,
        window: timedelta,
    ) -> None:
        self._state = state
        self._ledger = ledger
        self._superseding = superseding
        self._tombstones = tombstones
        self._clock = clock
        self._window = window

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{restored, id, revision, changed}. Raises NotFound, Conflict, InvalidArgument, Unavailable."""
        memory_id = Arguments("restore_memory", given, ARGUMENTS).required_identifier()
        for _ in range(_TRIES):
            current = self._ledger.read(caller.tenant, memory_id)
            if current is None:
                raise _nothing(memory_id)
            if isinstance(current.record, Memory):
                return self._shown_again(caller, current.record)
            before = self._before(caller, current.record)
            self._restore_members(caller, before)
            over = before.expired_at(self._clock.now())
            memory = replace(before, expires_at=None) if over else before
            restored = self._ledger.write(
                caller.tenant, memory_id, current, _restored(memory, current.record)
            )
            if not isinstance(restored, Displaced):
                self._superseding.note(caller.tenant, memory_id, noting(memory))
                return _answer(memory, restored.record.revision, ["expires_at"] if over else [])
        raise Unavailable("Too many writers at once on this memory; it was not restored.")

    def _restore_members(self, caller: Caller, before: Memory) -> None:
        """What a merged memory was made of and forgotten with. Raises NotFound where not all of it comes back."""
        for member in before.consolidated_reads:
            current = self._ledger.read(caller.tenant, member.id)
            if current is not None and isinstance(current.record, Stub):
                self(caller, {"id": member.id})
        if not is_founded(self._ledger, before):
            raise _nothing(before.id)

    def _before(self, caller: Caller, stub: Stub) -> Memory:
        """The state that the stub replaced. Raises NotFound where it is gone, hidden, or the window is over."""
        now = self._clock.now()
        if now - stub.forgotten_at >= self._window:
            raise _nothing(stub.id)
        key = keys.memory(stub.tenant, stub.id)
        try:
            for count, version in enumerate(self._state.versions(key)):
                if version.key != key or count >= VERSIONS_READ:
                    break
                record = self._version(stub, key, version.version_id)
                if isinstance(record, Memory) and record.revision < stub.revision:
                    if not record.visible_to(caller):
                        break
                    return record
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None
        raise _nothing(stub.id)

    def _version(self, stub: Stub, key: str, version_id: str) -> Record | None:
        try:
            found = self._state.get_version(key, version_id, max_bytes=limits.OBJECT_BYTES)
            return decode_record(found.body, stub.tenant, stub.id) if isinstance(found, Found) else None
        except (InvalidRecord, ObjectTooLarge):
            return None

    def _shown_again(self, caller: Caller, memory: Memory) -> dict[str, object]:
        """Take a memory that stands out of what its forgotten successors supersede."""
        if not memory.visible_to(caller):
            raise _nothing(memory.id)
        for successor in memory.superseded_by:
            standing = self._ledger.read(caller.tenant, successor)
            record = standing.record if standing is not None else None
            if isinstance(record, Memory) and memory.id in record.supersedes:
                raise Conflict(
                    f"{memory.id} is superseded by {successor}, which stands.",
                    memory_id=memory.id,
                    current_version=memory.version,
                    field="id",
                    next_step=f"Forget {successor}, or update it with other supersedes, and call again.",
                )
        for successor in memory.superseded_by:
            self._release(caller.tenant, successor, memory.id)
        self._unnote(caller.tenant, memory)
        standing = self._ledger.read(caller.tenant, memory.id)
        revision = memory.revision if standing is None else standing.record.revision
        return _answer(memory, revision, ["superseded_by"] if memory.superseded_by else [])

    def _unnote(self, tenant: str, memory: Memory) -> None:
        for successor in memory.superseded_by:
            self._superseding.unnote(tenant, successor, (memory.id,))

    def _release(self, tenant: str, successor: str, memory_id: str) -> None:
        """Rewrite the successor's stub so that it supersedes the memory no longer. Raises Unavailable."""
        current = self._ledger.read(tenant, successor)
        for _ in range(_TRIES):
            if current is None or memory_id not in current.record.supersedes:
                return
            if isinstance(current.record, Memory):
                return
            result = self._ledger.write(tenant, successor, current, _released(current.record, memory_id))
            if isinstance(result, Standing):
                if isinstance(result.record, Stub):
                    self._tombstones.copy(result.record)
                return
            current = result.current
        raise Unavailable("Too many writers at once on the successor; nothing was restored.")


def _restored(memory: Memory, stub: Stub) -> Callable[[str], Record]:
    def draft(revision: str) -> Record:
        return replace(
            memory,
            version=memory.version + 1,
            revision=revision,
            recent=continued(stub, revision),
            superseded_by=stub.superseded_by,
        )

    return draft


def _released(stub: Stub, memory_id: str) -> Callable[[str], Record]:
    kept = tuple(older for older in stub.supersedes if older != memory_id)

    def draft(revision: str) -> Record:
        return replace(stub, supersedes=kept, revision=revision, recent=continued(stub, revision))

    return draft


def _answer(memory: Memory, revision: str, changed: list[str]) -> dict[str, object]:
    return {"restored": True, "id": memory.id, "revision": revision, "changed": changed}


def _nothing(memory_id: str) -> NotFound:
    return NotFound(
        f"No forgotten memory {memory_id!r} can be restored here.",
        field="id",
        got=memory_id,
        next_step="Only what was forgotten within FORGET_WINDOW comes back; otherwise remember it.",
    )
