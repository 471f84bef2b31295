"""Update: some fields of a memory change, its id stays.

Owns: the tool `update_memory`. Guarantees: an update that met another one is applied to the newer memory, or refused
where `expected_version` says so (P-NO-LOST-UPDATE); fields that were not given stay (B50).
Gives up: changing scope. A memory that more may read, or fewer, is another memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from lodestore.domain.caller import Caller
from lodestore.domain.consolidation import noting, taken_over
from lodestore.domain.memory import Memory, Record
from lodestore.domain.statement import CLEARABLE, Fields, revised, with_fields
from lodestore.errors import Conflict, InvalidArgument, NotFound, Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.founded_memory import is_founded
from lodestore.services.ledger import Displaced, Ledger, Overtaken, Standing
from lodestore.services.passages import Passages
from lodestore.services.remember import Neighbourhood
from lodestore.services.statements import FIELD_ARGUMENTS, Screen, read_fields
from lodestore.services.supersede import Superseding
from lodestore.settings import SecretPolicy

ARGUMENTS = ("id", "expected_version", *FIELD_ARGUMENTS, "clear")
_CLEAR_ARGUMENTS = (*CLEARABLE, "ttl_days")
_MOST_VERSION = 2**31
_TRIES = 64


@dataclass(frozen=True, slots=True)
class Change:
    """What an update asks for."""

    memory_id: str
    expected_version: int | None
    fields: Fields
    cleared: tuple[str, ...]
    redacted: tuple[str, ...]


class Update:
    """The tool `update_memory`."""

    def __init__(
        self,
        ledger: Ledger,
        superseding: Superseding,
        passages: Passages,
        near: Neighbourhood,
        clock: Clock,
        *,
        secrets: SecretPolicy,
    ) -> None:
        self._ledger = ledger
        self._superseding = superseding
        self._passages = passages
        self._near = near
        self._clock = clock
        self._secrets = secrets

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{id, version, revision, changed, redacted}. Raises LodestoreError."""
        change = self._read(given)
        current = self._visible(caller, change.memory_id, self._ledger.read(caller.tenant, change.memory_id))
        self._check_supersedes(caller, current, change)
        change = self._reaching_members(caller, current, change)
        after, changed = self._apply(caller, current, change)
        self._note_supersedes(caller, current, after, change)
        if isinstance(after, Standing):
            self._near.hold(after)
        memory = _memory(after)
        return {
            "id": memory.id,
            "version": memory.version,
            "revision": memory.revision,
            "changed": list(changed),
            "redacted": list(change.redacted),
        }

    def _read(self, given: Mapping[str, object]) -> Change:
        arguments = Arguments("update_memory", given, ARGUMENTS)
        memory_id = arguments.required_identifier()
        screen = Screen(self._secrets)
        fields = read_fields(arguments, screen, now=self._clock.now())
        cleared = arguments.names("clear", _CLEAR_ARGUMENTS)
        cleared = tuple(dict.fromkeys("expires_at" if name == "ttl_days" else name for name in cleared))
        _check_change(fields, cleared)
        return Change(
            memory_id,
            arguments.whole("expected_version", least=1, most=_MOST_VERSION),
            fields,
            cleared,
            tuple(screen.redacted),
        )

    def _apply(
        self, caller: Caller, current: Standing, change: Change
    ) -> tuple[Standing | Overtaken, tuple[str, ...]]:
        """What the memory is now, and the names that differ."""
        for _ in range(_TRIES):
            memory = _memory(current)
            _check_version(memory, change.expected_version)
            altered, changed = with_fields(memory, change.fields, change.cleared)
            if not changed:
                # This may be the repeat of an update that landed while its marker did not.
                self._ledger.ensure_marked(caller.tenant, memory.id, memory.revision)
                return current, ()
            if altered.embedding is None:
                altered = replace(altered, embedding=self._passages.of(altered.content, altered.source))
            if "content" in changed:
                # What a person states anew rests on no other memory.
                altered = replace(altered, consolidated_from=(), consolidated_reads=())
            else:
                altered = taken_over(altered, self._members(memory))
            dropped = tuple(item for item in memory.supersedes if item not in altered.supersedes)
            self._superseding.unnote(caller.tenant, memory.id, dropped)
            result = self._ledger.write(caller.tenant, memory.id, current, self._draft(altered, memory))
            if not isinstance(result, Displaced):
                return result, changed
            current = self._visible(caller, change.memory_id, result.current)
            self._check_supersedes(caller, current, change)
        raise Unavailable("Too many writers at once on this memory; it was not changed.")

    def _members(self, memory: Memory) -> dict[str, Memory]:
        found = self._ledger.read_many(memory.tenant, tuple(m.id for m in memory.consolidated_reads))
        return {
            memory_id: standing.record
            for memory_id, standing in found.items()
            if standing is not None and isinstance(standing.record, Memory)
        }

    def _draft(self, altered: Memory, over: Memory) -> Callable[[str], Record]:
        now = self._clock.now()

        def draft(revision: str) -> Record:
            return revised(altered, over=over, revision=revision, now=now)

        return draft

    def _check_supersedes(self, caller: Caller, current: Standing, change: Change) -> None:
        memory = _memory(current)
        added = tuple(item for item in change.fields.supersedes or () if item not in memory.supersedes)
        if added:
            self._superseding.check(caller, memory.id, memory.scope, added)
            self._superseding.check_cycle(caller.tenant, memory.id, added)

    def _reaching_members(self, caller: Caller, current: Standing, change: Change) -> Change:
        """The change with the members of each merged memory that it supersedes."""
        wanted = change.fields.supersedes
        if not wanted:
            return change
        before = _memory(current).supersedes
        added = self._superseding.members_of(caller.tenant, tuple(i for i in wanted if i not in before))
        kept = self._superseding.members_of(caller.tenant, tuple(i for i in wanted if i in before))
        reached = dict.fromkeys([*wanted, *(i for i in kept if i in before), *added])
        reached.pop(change.memory_id, None)
        return replace(change, fields=replace(change.fields, supersedes=tuple(reached)))

    def _note_supersedes(
        self, caller: Caller, before: Standing, after: Standing | Overtaken, change: Change
    ) -> None:
        now = _memory(after)
        if change.fields.supersedes is not None:
            self._superseding.look_again(caller.tenant, now.id, change.fields.supersedes)
        if change.fields.supersedes is not None or _memory(before).consolidated_reads:
            self._superseding.note(caller.tenant, now.id, noting(now))

    def _visible(self, caller: Caller, memory_id: str, standing: Standing | None) -> Standing:
        record = standing.record if standing is not None else None
        if standing is None or not isinstance(record, Memory) or not record.visible_to(caller):
            raise _not_found(memory_id)
        if not is_founded(self._ledger, record):
            raise _not_found(memory_id)
        return standing


def _memory(written: Standing | Overtaken) -> Memory:
    assert isinstance(written.record, Memory)
    return written.record


def _check_change(fields: Fields, cleared: tuple[str, ...]) -> None:
    given = fields.given()
    both = sorted(set(given) & set(cleared))
    if both:
        raise InvalidArgument(
            f"{both[0]} is both given and cleared.",
            field=both[0],
            limit="given or cleared",
            got="both",
            next_step=f"Leave {both[0]} out of clear, or do not give it.",
        )
    if not given and not cleared:
        raise InvalidArgument(
            "Nothing to change was given.",
            field="content",
            limit=f"any of {', '.join(FIELD_ARGUMENTS)}, clear",
            got="nothing",
            next_step="Name at least one field to change.",
        )


def _check_version(memory: Memory, expected: int | None) -> None:
    if expected is not None and expected != memory.version:
        raise Conflict(
            f"The memory is at version {memory.version}, not {expected}.",
            memory_id=memory.id,
            current_version=memory.version,
            field="expected_version",
            got=expected,
            next_step="Read it with get_memory, then decide and call again with its version.",
        )


def _not_found(memory_id: str) -> NotFound:
    return NotFound(
        f"No memory {memory_id!r} is visible here.",
        field="id",
        got=memory_id,
        next_step="Call recall or list_memories to get a current id.",
    )
