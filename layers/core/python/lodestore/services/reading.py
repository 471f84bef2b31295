"""Reading one memory by its id, with its history.

Owns: the tool `get_memory` and the one way to a visible memory by id. Guarantees: an id that is unknown, forgotten,
foreign or hidden gets one and the same answer after one and the same request (P-TENANT); history ends at the last
time it was forgotten (P-FORGOTTEN).
Gives up: history where the store keeps no versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import StrEnum

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory
from lodestore.domain.text import first_sentence, outline
from lodestore.errors import NotFound, Unavailable
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services import columns
from lodestore.services.arguments import Arguments
from lodestore.services.founded_memory import is_founded
from lodestore.services.ledger import Ledger
from lodestore.services.old_versions import OldVersions
from lodestore.services.shown import NOTICE, fit, show_memory, show_moment, status_of
from lodestore.services.tenant_view import TenantViews

ARGUMENTS = ("id", "level", "history")
_OUTLINE_BYTES = 2_000
_ABSTRACT_CHARACTERS = 240
_STATED = ("content", "type", "category", "tags", "importance", "pinned", "source", "metadata")
_DATED = ("valid_from", "expires_at", "supersedes", "superseded_by")


class Level(StrEnum):
    """How much of the content comes."""

    ABSTRACT = "abstract"
    OUTLINE = "outline"
    FULL = "full"


class Reading:
    """The tool `get_memory`."""

    def __init__(self, ledger: Ledger, views: TenantViews, versions: OldVersions, clock: Clock) -> None:
        self._ledger = ledger
        self._views = views
        self._old = versions
        self._clock = clock

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{untrusted, notice, memory, history}. Raises NotFound, InvalidArgument, Unavailable."""
        arguments = Arguments("get_memory", given, ARGUMENTS)
        memory_id = arguments.required_identifier()
        level = arguments.choice("level", Level) or Level.FULL
        wants_history = bool(arguments.flag("history"))
        memory = self.memory(caller, memory_id)
        history = self._history(memory) if wants_history else []
        answer: dict[str, object] = {
            "untrusted": True,
            "notice": NOTICE,
            "memory": self._shown(memory, level, caller),
        }
        return answer | {"history": _within(history, answer)}

    def memory(self, caller: Caller, memory_id: str) -> Memory:
        """The visible memory. Raises NotFound, Unavailable."""
        standing = self._ledger.read(caller.tenant, memory_id)
        record = standing.record if standing is not None else None
        if (
            not isinstance(record, Memory)
            or not record.visible_to(caller)
            or not is_founded(self._ledger, record)
        ):
            raise NotFound(
                f"No memory {memory_id!r} is visible here.",
                field="id",
                got=memory_id,
                next_step="Call recall or list_memories to get a current id.",
            )
        return record

    def _shown(self, memory: Memory, level: Level, caller: Caller) -> dict[str, object]:
        now = self._clock.now()
        content = _at_level(memory.content, level)
        newer = self._superseded_by(caller, memory)
        shown = show_memory(memory, now=now, superseded_by=newer)
        embedding = memory.embedding
        return shown | {
            "content": content,
            "truncated": content != memory.content,
            "level": str(level),
            "status": status_of(memory, newer, now),
            "tenant": memory.tenant,
            # Whose note it is would let another conversation name it.
            "conversation": memory.conversation if memory.conversation == caller.conversation else None,
            "supersedes": list(memory.supersedes),
            "consolidated_from": list(memory.consolidated_from),
            "revision": memory.revision,
            "recent": list(memory.recent),
            "embedding": None if embedding is None else {"model": embedding.model, "dim": embedding.dim},
        }

    def _superseded_by(self, caller: Caller, memory: Memory) -> tuple[str, ...]:
        """By its own note, else by what others state: a merge leaves no note, and a writer may have died before its."""
        if memory.superseded_by:
            return memory.superseded_by
        view = self._views.load(caller.tenant)
        place = columns.place_of(view, memory.id)
        return () if place is None else tuple(columns.id_of(view, n) for n in columns.successors(view, place))

    def _history(self, memory: Memory) -> list[dict[str, object]]:
        """Each version, newest first; its `change` names the fields that differ from the one before."""
        try:
            kept = list(self.versions(memory))
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None
        shown: list[dict[str, object]] = []
        for newer, older in zip(kept, [*kept[1:], None], strict=True):
            shown.append(
                {
                    "version": newer.version,
                    "updated_at": show_moment(newer.updated_at),
                    "content": newer.content,
                    "truncated": False,
                    "change": ["stored"] if older is None else _differing(newer, older),
                }
            )
        return shown

    def versions(self, memory: Memory) -> Iterator[Memory]:
        """The memory as it is, then its earlier versions, newest first, back to when it was last stored anew.

        Raises StoreUnavailable.
        """
        yield memory
        shown = memory.version
        for older in self._old.before(memory):
            # A note of being superseded is a new revision of the same version.
            if older.version < shown:
                shown = older.version
                yield older


def _differing(newer: Memory, older: Memory) -> list[str]:
    named = [item.name for item in fields(Memory) if item.name in (*_STATED, *_DATED)]
    return [name for name in named if getattr(newer, name) != getattr(older, name)]


def _at_level(content: str, level: Level) -> str:
    if level is Level.ABSTRACT:
        return first_sentence(content, _ABSTRACT_CHARACTERS)
    return outline(content, _OUTLINE_BYTES) if level is Level.OUTLINE else content


def _within(history: list[dict[str, object]], answer: Mapping[str, object]) -> list[dict[str, object]]:
    return (
        fit(history, envelope={**answer, "history": []}, most_bytes=limits.ANSWER_BYTES_MOST)
        if history
        else []
    )
