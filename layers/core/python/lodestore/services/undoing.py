"""Undo: what consolidation or an accepted proposal did is taken back.

Owns: the tool `undo`. Guarantees: the originals are seen again by every reader, as they were; at every moment either
they or what took their place is seen; a repeat answers the same and finishes what a killed call began.
Gives up: what was forgotten once FORGET_WINDOW is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory, Stub
from lodestore.domain.undo_record import UndoKind, UndoRecord
from lodestore.errors import NotFound, Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.carrying_out import Run
from lodestore.services.ledger import Ledger
from lodestore.services.releasing import Releasing
from lodestore.services.removing import Ending, Removal, Removing
from lodestore.services.undo_log import StoredUndo, UndoLog

ARGUMENTS = ("id",)
UNDONE = "undone"


class Undo:
    """The tool `undo`. `restore` is the tool `restore_memory`."""

    def __init__(
        self,
        ledger: Ledger,
        undo_log: UndoLog,
        removing: Removing,
        releasing: Releasing,
        restore: Run,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._undo_log = undo_log
        self._removing = removing
        self._releasing = releasing
        self._restore = restore
        self._clock = clock
        self._by_kind: Mapping[UndoKind, Callable[[Caller, UndoRecord], None]] = {
            UndoKind.MERGE: self._merge,
            UndoKind.SUPERSEDE: self._supersede,
            UndoKind.FORGET: self._forget,
        }

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{undone, id, kind, restored: [id]}. Raises InvalidArgument, NotFound, Conflict, Unavailable."""
        undo_id = Arguments("undo", given, ARGUMENTS).required_identifier()
        stored = self._visible(caller, undo_id)
        record = stored.record
        # A merge that was undone and restored since can be undone again; the write itself finds out.
        if record.undone_at is None or record.kind is UndoKind.MERGE:
            self._by_kind[record.kind](caller, record)
            undone = replace(record, undone_at=self._clock.now(), undone_by=str(caller.role))
            if not self._undo_log.replace(stored, undone) and not self._is_undone(caller, undo_id):
                raise Unavailable("What was done is taken back; that it was is not noted yet.", written=True)
        return {
            "undone": True,
            "id": record.id,
            "kind": str(record.kind),
            "restored": self._restored(record),
        }

    def _restored(self, record: UndoRecord) -> list[str]:
        """The originals that stand and that what took their place does not supersede. Raises NotFound: none."""
        wanted = [member.id for member in record.originals]
        found = self._ledger.read_many(record.tenant, (*wanted, *([record.result] if record.result else [])))
        result = found.get(record.result) if record.result else None
        hidden = set() if result is None else set(result.record.supersedes)
        restored = [
            memory_id
            for memory_id in wanted
            if (stands := found[memory_id]) is not None
            and isinstance(stands.record, Memory)
            and memory_id not in hidden
        ]
        if not restored:
            raise NotFound(
                f"Nothing of what {record.id} took the place of stands any more.",
                field="id",
                got=record.id,
                next_step="Call restore_memory with the id of one that was forgotten within FORGET_WINDOW.",
            )
        return restored

    def _visible(self, caller: Caller, undo_id: str) -> StoredUndo:
        stored = self._undo_log.get(caller.tenant, undo_id)
        if stored is None or stored.record.conversation not in (None, caller.conversation):
            raise NotFound(
                f"Nothing that can be undone has the id {undo_id!r} here.",
                field="id",
                got=undo_id,
                next_step="Give the id of a merged memory or of an accepted proposal; for what was forgotten "
                "call restore_memory.",
            )
        return stored

    def _is_undone(self, caller: Caller, undo_id: str) -> bool:
        return self._visible(caller, undo_id).record.undone_at is not None

    def _merge(self, caller: Caller, record: UndoRecord) -> None:
        """One write: the stub supersedes nothing, so the originals show at once; it names them, so they stay apart.

        What a person wrote in the merged one's place since is theirs, and stays; it lets go of the originals.
        """
        originals = tuple(member.id for member in record.originals)
        removal = Removal(UNDONE, str(caller.role), self._clock.now(), Ending.UNDO)
        if not self._removing.remove(
            record.tenant, record.id, removal, lambda memory: bool(memory.consolidated_reads)
        ):
            self._refuse_forgotten(record)
        self._releasing.release(record.tenant, record.id, originals)

    def _refuse_forgotten(self, record: UndoRecord) -> None:
        standing = self._ledger.read(record.tenant, record.id)
        stub = standing.record if standing is not None else None
        if isinstance(stub, Stub) and stub.supersedes and stub.consolidated_reads:
            raise NotFound(
                f"{record.id} was forgotten since, and what it was merged from with it.",
                field="id",
                got=record.id,
                next_step="Call restore_memory with this id; then undo can take the merge back.",
            )

    def _supersede(self, _: Caller, record: UndoRecord) -> None:
        assert record.result is not None
        originals = tuple(member.id for member in record.originals)
        self._releasing.release(record.tenant, record.result, originals)

    def _forget(self, caller: Caller, record: UndoRecord) -> None:
        for member in record.originals:
            self._restore(caller, {"id": member.id})
