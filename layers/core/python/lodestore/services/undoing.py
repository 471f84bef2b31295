"""Undo: what consolidation or an accepted proposal did is taken back.

Owns: the tool `undo`. Guarantees: the originals are seen again by every reader, as they were; at every moment either
they or what took their place is seen; a repeat answers the same and finishes what a killed call began.
Gives up: what was forgotten once FORGET_WINDOW is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lodestore.domain.caller import Caller
from lodestore.domain.undo_record import UndoKind, UndoRecord
from lodestore.errors import NotFound, Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.carrying_out import Run
from lodestore.services.releasing import Releasing
from lodestore.services.undo_log import StoredUndo, UndoLog

ARGUMENTS = ("id",)


class Undo:
    """The tool `undo`. `restore` is the tool `restore_memory`."""

    def __init__(self, undo_log: UndoLog, releasing: Releasing, restore: Run, clock: Clock) -> None:
        self._undo_log = undo_log
        self._releasing = releasing
        self._restore = restore
        self._clock = clock
        self._by_kind: Mapping[UndoKind, Callable[[Caller, UndoRecord], None]] = {
            UndoKind.SUPERSEDE: self._supersede,
            UndoKind.FORGET: self._forget,
        }

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{undone, id, kind, restored: [id]}. Raises InvalidArgument, NotFound, Conflict, Unavailable."""
        undo_id = Arguments("undo", given, ARGUMENTS).required_identifier()
        stored = self._visible(caller, undo_id)
        record = stored.record
        if record.undone_at is None:
            self._by_kind[record.kind](caller, record)
            undone = replace(record, undone_at=self._clock.now(), undone_by=str(caller.role))
            if not self._undo_log.replace(stored, undone) and not self._is_undone(caller, undo_id):
                raise Unavailable("What was done is taken back; that it was is not noted yet.", written=True)
        return {
            "undone": True,
            "id": record.id,
            "kind": str(record.kind),
            "restored": [member.id for member in record.originals],
        }

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

    def _supersede(self, _: Caller, record: UndoRecord) -> None:
        assert record.result is not None
        originals = tuple(member.id for member in record.originals)
        self._releasing.release(record.tenant, record.result, originals)

    def _forget(self, caller: Caller, record: UndoRecord) -> None:
        for member in record.originals:
            self._restore(caller, {"id": member.id})
