"""Superseding: one memory takes the place of others, which stay readable.

Owns: the check of `supersedes` before a write, and the note on the superseded after it.
Guarantees: itself, an unknown or invisible id, a cycle, and a successor of narrower scope are refused before anything
is written; the one PUT of the successor is enough for every reader (`domain/lineage`), the note follows before the
answer. Gives up: undoing; that is `undo` and `restore_memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory, Record, Scope, continued
from lodestore.errors import Conflict, InvalidArgument, Unavailable
from lodestore.services.ledger import Displaced, Ledger, Standing

_TRIES = 32


class Superseding:
    """The two halves around a write that supersedes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def check(
        self, caller: Caller, successor: str | None, scope: Scope, targets: tuple[str, ...]
    ) -> tuple[str, ...]:
        """What the targets were merged from, where they were. `successor`: None where its id is not known yet.

        Raises InvalidArgument where a target may not be superseded.
        """
        if successor in targets:
            raise _refused(str(successor), "a memory can't supersede itself")
        found = self._ledger.read_many(caller.tenant, targets)
        for target, standing in found.items():
            memory = standing.record if standing is not None else None
            if not isinstance(memory, Memory) or not memory.visible_to(caller):
                raise _refused(target, "no such memory is visible here")
            if scope is Scope.CONVERSATION and memory.scope is Scope.PROJECT:
                raise _refused(target, "a conversation's note can't supersede a memory of the whole project")
        return _members(found.values())

    def members_of(self, tenant: str, targets: tuple[str, ...]) -> tuple[str, ...]:
        """What those of the targets that are merged memories were merged from.

        Whoever supersedes a merged memory supersedes them too, so that none comes back once the merged one goes.
        Raises Unavailable.
        """
        return _members(self._ledger.read_many(tenant, targets).values())

    def check_cycle(self, tenant: str, successor: str, targets: tuple[str, ...]) -> None:
        """Raises InvalidArgument where a target, or what it supersedes in turn, supersedes from `successor`.

        Only an id that something stood at before can be named by others, so a first write needs no walk. The walk
        reads at most 256 records.
        """
        seen: set[str] = set()
        level = targets
        while level:
            seen.update(level)
            if successor in seen:
                raise _refused(successor, "that would be a cycle: it is itself superseded by way of these")
            if len(seen) > limits.SUPERSEDE_WALK:
                raise _refused(
                    successor, f"the chain behind it is longer than {limits.SUPERSEDE_WALK} memories"
                )
            found = self._ledger.read_many(tenant, level).values()
            level = tuple({older for standing in found for older in _older(standing)} - seen)

    def look_again(self, tenant: str, successor: str, targets: tuple[str, ...]) -> None:
        """After the write: of writers that close a cycle together, each checked before the others wrote.

        The last of them to write sees the whole cycle here. Whoever sees it takes its `supersedes` back, so that no
        two memories hide each other. Raises Conflict (what else was given is stored), Unavailable with written True.
        """
        try:
            self.check_cycle(tenant, successor, targets)
        except InvalidArgument:
            version = self._withdraw(tenant, successor, targets)
            self.unnote(tenant, successor, targets, stored=True)
        except Unavailable:
            raise _not_settled(successor, "whether they supersede it in turn was not seen") from None
        else:
            return
        raise Conflict(
            f"Another write made {successor} superseded by way of these at the same moment: supersedes was left out, "
            "what else was given is stored.",
            memory_id=successor,
            current_version=version,
            field="supersedes",
            next_step="Read both with get_memory, decide which one holds, and call again.",
            written=True,
        )

    def note(self, tenant: str, successor: str, targets: tuple[str, ...]) -> None:
        """Write `successor` into each target's `superseded_by`. Raises Unavailable with written True."""
        for target in targets:
            if not self._change(tenant, target, successor, superseded=True):
                raise _not_settled(successor, "the note on the other one is not written yet")

    def unnote(self, tenant: str, successor: str, targets: tuple[str, ...], *, stored: bool = False) -> None:
        """Take it out again, where an update no longer supersedes them.

        Before the update's own write: whoever dies in between leaves a memory that is superseded, as it was, without
        its note, and the update can be repeated. After it, a note would stay that nobody takes back.

        stored   what an error says of the update
        """
        for target in targets:
            if not self._change(tenant, target, successor, superseded=False):
                raise Unavailable(
                    "The note on a memory that is to be superseded no longer is not taken back.",
                    written=stored,
                    memory_id=successor if stored else None,
                )

    def _change(self, tenant: str, target: str, successor: str, *, superseded: bool) -> bool:
        """Whether the target has, or has not, the note now, or needs none."""
        try:
            current = self._ledger.read(tenant, target)
            for _ in range(_TRIES):
                if current is None or not isinstance(current.record, Memory):
                    return True
                if (successor in current.record.superseded_by) is superseded:
                    # Noted before, perhaps by a writer that died before its marker landed.
                    self._ledger.ensure_marked(tenant, target, current.record.revision)
                    return True
                result = self._ledger.write(
                    tenant, target, current, _noted(current, successor, superseded=superseded)
                )
                if not isinstance(result, Displaced):
                    return True
                current = result.current
        except Unavailable:
            pass
        return False

    def _withdraw(self, tenant: str, successor: str, targets: tuple[str, ...]) -> int | None:
        """Take these out of what `successor` supersedes; its version afterwards, None where it was forgotten."""
        try:
            current = self._ledger.read(tenant, successor)
            for _ in range(_TRIES):
                if current is None or not isinstance(current.record, Memory):
                    return None
                if not set(targets).intersection(current.record.supersedes):
                    return current.record.version
                result = self._ledger.write(tenant, successor, current, _without(current.record, targets))
                if not isinstance(result, Displaced):
                    return current.record.version + 1
                current = result.current
        except Unavailable:
            pass
        raise _not_settled(successor, "it is superseded in turn, and that is not taken back yet")


def _without(memory: Memory, targets: tuple[str, ...]) -> Callable[[str], Record]:
    kept = tuple(older for older in memory.supersedes if older not in targets)

    def draft(revision: str) -> Record:
        return replace(
            memory,
            supersedes=kept,
            version=memory.version + 1,
            revision=revision,
            recent=continued(memory, revision),
        )

    return draft


def _noted(current: Standing, successor: str, *, superseded: bool) -> Callable[[str], Record]:
    """The superseded memory with its note, the version untouched: what it says has not changed."""
    memory = current.record
    assert isinstance(memory, Memory)
    others = tuple(newer for newer in memory.superseded_by if newer != successor)
    noted = (*others, successor) if superseded else others

    def draft(revision: str) -> Record:
        return replace(memory, superseded_by=noted, revision=revision, recent=continued(memory, revision))

    return draft


def _members(found: Iterable[Standing | None]) -> tuple[str, ...]:
    records = (standing.record for standing in found if standing is not None)
    memories = (record for record in records if isinstance(record, Memory))
    return tuple(dict.fromkeys(member for memory in memories for member in memory.consolidated_from))


def _older(standing: Standing | None) -> tuple[str, ...]:
    return standing.record.supersedes if standing is not None else ()


def _not_settled(successor: str, what: str) -> Unavailable:
    return Unavailable(
        f"The memory is stored and supersedes the other; {what}.", written=True, memory_id=successor
    )


def _refused(memory_id: str, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"supersedes: {memory_id}: {why}.",
        field="supersedes",
        limit="ids of other memories that are visible here",
        got=memory_id,
        next_step="Call recall or list_memories to get the current id, or leave supersedes out.",
    )
