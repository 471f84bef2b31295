"""A history, sorted for a judge: by memory, by read, and what each operation can have done.

Owns: `CaseFile`, `MemoryFile`, `Sight`, `Read`. Guarantees: an operation whose answer is not known may take effect at
any later time, until another write of the same memory that began after it took effect (its condition fails from then
on), or until the history says that nothing is under way any more (`SETTLED`).
Gives up: verdicts; those are `judge`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tests.proof.history import FOREVER, Operation
from tests.proof.model import Json, Who

# Operations of these names say that every write without an answer has landed by now, or never will; and that the index
# shows every write, also those that have no marker because their process died over them.
SETTLED = "settled"
INDEXED = "indexed"
Place = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """What one answer shows of a memory that is there; `wrote`: the operation made this state.

    direct   it was read from the memory's own object, and may show a write that nobody was told of; lists and recalls
             need not show that yet
    """

    revision: str | None = None
    version: int | None = None
    fields: Json = field(default_factory=dict)
    wrote: bool = False
    direct: bool = False

    def joined(self, other: Sight) -> Sight:
        """All that is known of one state."""
        return replace(self, fields={**other.fields, **self.fields}, wrote=self.wrote or other.wrote)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One id of one tenant: who said it, who forgot it, and every answer that showed it, in order."""

    tenant: str
    id: str
    said: tuple[Operation, ...]
    forgets: tuple[Operation, ...]
    sights: tuple[tuple[Operation, Sight], ...]

    @property
    def conversation(self) -> str | None:
        """The conversation whose note it is; None: everyone's."""
        scoped = (o for o in self.said if o.given.get("scope") == "conversation")
        return next((o.who.conversation for o in scoped), None)

    @property
    def content(self) -> str:
        """Its text."""
        shown = (str(sight.fields["content"]) for _, sight in self.sights if "content" in sight.fields)
        return next(shown, "")


@dataclass(frozen=True, slots=True)
class Read:
    """One answered read: its rows; of a walk the totals."""

    operation: Operation
    rows: tuple[Json, ...]
    totals: tuple[int, ...] = ()

    @property
    def who(self) -> Who:
        """Who read."""
        return self.operation.who

    @property
    def active_only(self) -> bool:
        """Whether superseded memories are left out."""
        given = self.operation.given
        return self.operation.tool != "get_memory" and given.get("status") != "all"

    @property
    def named_beside(self) -> frozenset[str]:
        """Ids that a hit names as saying the same."""
        return frozenset(i for row in self.rows for i in row.get("similar", ()))

    def would_show(self, memory: MemoryFile, case: CaseFile) -> bool:
        """Whether the memory, if it is there, must be among the rows."""
        given = self.operation.given
        if self.operation.tool == "get_memory":
            return bool(given["id"] == memory.id)
        asked = self.operation.tool == "list_memories" or all(
            word in memory.content.split() for word in given["query"].split()
        )
        return asked and not (self.active_only and case.maybe_superseded(memory, self.operation))


class CaseFile:
    """One history."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.operations = tuple(operations)
        self._barriers = [o.began for o in self.calls(SETTLED)]
        self.superseding = tuple(o for o in self.operations if o.given.get("supersedes"))
        self.reads = tuple(_reads(self.operations))
        self.places = self._places()
        self.memories = self._memories()
        self._origins = self._of_values()

    def calls(self, tool: str) -> tuple[Operation, ...]:
        """The operations of one tool."""
        return tuple(o for o in self.operations if o.tool == tool)

    def memories_of(self, who: Who) -> Iterator[MemoryFile]:
        """Memories that this caller may see."""
        for memory in self.memories.values():
            if memory.tenant == who.tenant and memory.conversation in (None, who.conversation):
                yield memory

    def origins(self, name: str, value: object) -> tuple[Operation, ...]:
        """The operations that said this value of a field."""
        return tuple(self._origins.get((name, value), ()))

    def may_reach(self, origin: Operation, who: Who) -> bool:
        """Whether what was said there is this caller's to see."""
        scoped = origin.given.get("scope") == "conversation"
        return origin.who.tenant == who.tenant and (not scoped or origin.who.conversation == who.conversation)

    def without_effect(self, operation: Operation) -> bool:
        """Whether the caller was told that this operation changed nothing."""
        answer = operation.answered
        return operation.refused or (
            bool(answer)
            and (
                answer.get("status") in ("already_known", "forgotten")
                or answer.get("deleted") is False
                or answer.get("changed") == []
            )
        )

    def done_by(self, operation: Operation) -> int:
        """When its effect is there at the latest, if it has one."""
        if operation.settled:
            return operation.ended
        return next((barrier for barrier in self._barriers if barrier >= operation.ended), FOREVER)

    def must_be_there(self, memory: MemoryFile, read: Operation) -> bool:
        """Whether an answer that ended before shows the memory, and nothing can have removed it since."""
        return any(
            self._lives(memory, seen, read, wrote=sight.wrote) for seen, sight in self.before(memory, read)
        )

    def before(self, memory: MemoryFile, read: Operation) -> Iterator[tuple[Operation, Sight]]:
        """The sights that a read has to be as new as."""
        for seen, sight in memory.sights:
            if seen.ended < read.began and not (sight.direct and read.tool in ("list_memories", "recall")):
                yield seen, sight

    def lives_from(self, memory: MemoryFile, said: Operation, read: Operation) -> bool:
        """Whether the read comes after the statement, in the same life of the memory."""
        wrote = not self.without_effect(said)
        return said.ended < read.began and self._lives(memory, said, read, wrote=wrote)

    def must_be_gone(self, memory: MemoryFile, forgotten: Operation, read: Operation) -> bool:
        """Whether the read comes after the forget, and no statement can have brought the memory back."""
        return forgotten.ended < read.began and all(
            said.ended <= forgotten.began
            or said.began >= read.ended
            or self.without_effect(said)
            or said.answered.get("status") == "updated"
            # Its key is known as forgotten.
            or bool(said.given.get("idempotency_key"))
            for said in memory.said
        )

    def maybe_superseded(self, memory: MemoryFile, read: Operation) -> bool:
        """Whether something may supersede it by the end of the read."""
        return any(
            memory.id in o.given["supersedes"]
            and o.who.tenant == memory.tenant
            and not o.refused
            and o.began < read.ended
            for o in self.superseding
        )

    def disturbed(self, read: Operation) -> bool:
        """Whether a write may take effect or come to light during the read."""
        return any(
            o.began < read.ended and self._shown_by(o) > read.began and not self.without_effect(o)
            for o in self.operations
            if o.tool in ("remember", "update_memory", "forget")
        )

    def _shown_by(self, operation: Operation) -> int:
        """When every reader sees its effect at the latest."""
        if operation.answered:
            return operation.ended
        return next((o.began for o in self.calls(INDEXED) if o.began >= operation.ended), FOREVER)

    def _lives(self, memory: MemoryFile, seen: Operation, read: Operation, *, wrote: bool) -> bool:
        for forget in memory.forgets:
            before = self.done_by(forget) <= seen.began or (wrote and forget.ended <= seen.began)
            if not before and forget.began < read.ended and not self.without_effect(forget):
                return False
        return True

    def _places(self) -> dict[Place, list[tuple[Operation, str]]]:
        places: defaultdict[Place, list[tuple[Operation, str]]] = defaultdict(list)
        for said in self.calls("remember"):
            if "id" in said.answered:
                places[_place(said)].append((said, said.answered["id"]))
        return dict(places)

    def _memories(self) -> dict[tuple[str, str], MemoryFile]:
        sights: defaultdict[tuple[str, str], list[tuple[Operation, Sight]]] = defaultdict(list)
        for operation in self.operations:
            for memory_id, sight in _sights(operation):
                sights[operation.who.tenant, memory_id].append((operation, sight))
        said: defaultdict[Place, list[Operation]] = defaultdict(list)
        by_content: dict[tuple[str, object], Place] = {}
        for operation in self.calls("remember"):
            said[_place(operation)].append(operation)
            by_content[operation.who.tenant, operation.given["content"]] = _place(operation)
        placed = {(o.who.tenant, i): place for place, found in self.places.items() for o, i in found}
        forgets: defaultdict[tuple[str, str], list[Operation]] = defaultdict(list)
        for forget in self.calls("forget"):
            forgets[forget.who.tenant, forget.given["id"]].append(forget)
        memories = {}
        for name in dict.fromkeys([*sights, *placed]):
            texts = (s.fields["content"] for _, s in sights[name] if "content" in s.fields)
            place = placed.get(name) or by_content.get((name[0], next(texts, None)), ())
            memories[name] = MemoryFile(
                *name, tuple(said.get(place, ())), tuple(forgets[name]), tuple(sights[name])
            )
        return memories

    def _of_values(self) -> dict[tuple[str, object], list[Operation]]:
        origins: defaultdict[tuple[str, object], list[Operation]] = defaultdict(list)
        for operation in (*self.calls("remember"), *self.calls("update_memory")):
            given = operation.given
            values = [("content", given.get("content")), ("source", given.get("source"))]
            values += [("tags", tag) for tag in given.get("tags", ())]
            for name, value in values:
                origins[name, value].append(operation)
        return dict(origins)


def _place(said: Operation) -> Place:
    """What a statement meets itself by."""
    given, tenant = said.given, said.who.tenant
    mine = said.who.conversation if given.get("scope") == "conversation" else None
    if "id" in given:
        return (tenant, "id", given["id"])
    if "idempotency_key" in given:
        return (tenant, mine, "key", given["idempotency_key"])
    return (tenant, mine, "content", given["content"])


def _sights(operation: Operation) -> Iterator[tuple[str, Sight]]:
    """What an answer shows to be there, by id."""
    answer, given, tool = operation.answered, operation.given, operation.tool
    if tool == "remember" and "version" in answer:
        wrote = answer["status"] in ("stored", "updated")
        yield answer["id"], Sight(answer["revision"], answer["version"], answer, wrote)
    elif tool == "update_memory" and answer:
        fields = {
            n: v for n, v in given.items() if n not in ("id", "expected_version", "supersedes", "clear")
        }
        yield given["id"], Sight(answer["revision"], answer["version"], fields, bool(answer["changed"]))
    elif tool == "update_memory" and (operation.answer or {}).get("field") == "expected_version":
        yield given["id"], Sight(version=(operation.answer or {})["current_version"], direct=True)
    elif tool == "memory_feedback" and answer:
        yield given["id"], Sight(direct=True)
    elif tool == "get_memory" and answer:
        row = answer["memory"]
        yield row["id"], Sight(row["revision"], row["version"], row, direct=True)
    elif tool in ("list_memories", "recall") and answer:
        for row in answer["memories" if tool == "list_memories" else "hits"]:
            yield row["id"], Sight(None, row["version"], row)


def _reads(operations: Iterable[Operation]) -> Iterator[Read]:
    for operation in operations:
        answer = operation.answer or {}
        if operation.tool == "get_memory" and answer.get("error") in (None, "not_found") and answer:
            yield Read(operation, (answer["memory"],) if "memory" in answer else ())
        elif operation.tool == "list_memories" and "memories" in answer:
            yield Read(operation, tuple(answer["memories"]), tuple(answer["totals"]))
        elif operation.tool == "recall" and "hits" in answer:
            yield Read(operation, tuple(answer["hits"]))
