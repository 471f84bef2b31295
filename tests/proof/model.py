"""What the service promises, as a small program that is obviously right.

Owns: `Model`: memories, who sees them, versions, forgetting, superseding, expiry, keys, own ids, order, counts: all in
dictionaries. It knows no storage, no index and no failure, and imports nothing of what it judges. Guarantees: each
operation gives the answer that the interface wants at that time; a derived id is learnt from the first that shows it.
Gives up: how ids are derived, revisions, scores, texts of messages, limits on sizes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

Json = dict[str, Any]
Place = tuple[object, ...]
Given = str | None
DERIVED_IDS = 8
DEFAULTS: Json = dict.fromkeys(("category", "source", "valid_from", "expires_at"))
DEFAULTS |= {"type": "fact", "importance": 0.5, "pinned": False, "tags": [], "supersedes": [], "metadata": {}}


class Refused(Exception):
    """The call must end in this error: its code, its field, and what a conflict adds."""

    def __init__(self, error: str, field: str, **more: object) -> None:
        super().__init__(error, field)
        self.expected = {"error": error, "field": field, "written": False, **more}


@dataclass(frozen=True)
class Who:
    """A caller: a tenant, and a conversation or none."""

    tenant: str
    conversation: str | None


@dataclass
class Memory:
    """`request`: what its first caller said; `noted`: who superseded it, also where they say so no longer."""

    id: str
    scope: str
    conversation: str | None
    content: str
    fields: Json
    created: datetime
    updated: datetime
    request: Json
    key: str | None
    version: int = 1
    forgotten: bool = False
    noted: set[str] = field(default_factory=set)
    history: list[tuple[int, str, set[str]]] = field(default_factory=list)
    past: list[Memory] = field(default_factory=list)

    def at(self, moment: datetime) -> Memory | None:
        """As it was then; None: it was not stored yet."""
        return next((one for one in (self, *reversed(self.past)) if one.updated <= moment), None)

    def seen_by(self, who: Who) -> bool:
        return not self.forgotten and (self.scope == "project" or self.conversation == who.conversation)

    def expired(self, at: datetime) -> bool:
        return self.fields["expires_at"] is not None and self.fields["expires_at"] <= at

    def since(self) -> datetime:
        return self.fields["valid_from"] or self.created

    def holds(self, at: datetime | None, now: datetime) -> bool:
        return not self.expired(at or now) and (at is None or self.since() <= at)

    def changed(self) -> Json:
        return {"changed_since": self.updated} if self.version > 1 else {}

    def passes(self, given: Json) -> bool:
        kind = self.fields["type"] in given.get("type", [self.fields["type"]])
        category = self.fields["category"] == given.get("category", self.fields["category"])
        later = given.get("until", self.created + timedelta(days=1))
        timely = given.get("since", self.created) <= self.created < later
        return kind and category and timely and set(given.get("tags", ())) <= set(self.fields["tags"])


class Model:
    """All tenants. Every `given` holds arguments that are there, in their plain form, times as datetimes."""

    def __init__(self) -> None:
        self.tenants: defaultdict[str, dict[str, Memory]] = defaultdict(dict)
        self.ids: dict[Place, str] = {}
        self.said_useful: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)

    def remember(self, who: Who, given: Json, now: datetime, answered: str | None) -> Json:
        """`answered` is the id that the service gave: this statement's, where it is said for the first time."""
        given = _trimmed(given)
        key, own = given.pop("idempotency_key", None), given.pop("id", None)
        request, content, scope = dict(given), given.pop("content"), given.pop("scope", "project")
        if scope == "conversation" and who.conversation is None:
            raise Refused("invalid_argument", "scope")
        given = _with_end(given, now)
        place = self._place(who, content, scope, key, own, now)
        memory = self.tenants[who.tenant].get(self.ids.get(place, ""))
        alive = memory is not None and not memory.forgotten and not memory.expired(now)
        if memory is None or not alive or memory.request != request:
            self._check_supersedes(who, own, scope, given)
        name = "id" if own is not None else "idempotency_key"
        if memory is not None and alive:
            return self._again(who, memory, request, given, name if place[0] != "content" else "", now)
        if memory is not None and key is not None and memory.key == key:
            return {"status": "forgotten", "id": memory.id, "redacted": []}
        if memory is not None and not self._free(who, memory, now):
            raise Refused("conflict", name, id=memory.id, current_version=None)
        memory_id = self._id(place, answered)
        self._check_cycle(who, memory_id, given.get("supersedes", []))
        fields = {**DEFAULTS, **given}
        fresh = Memory(memory_id, scope, who.conversation, content, fields, now, now, request, key)
        fresh.history.append((1, content, {"stored"}))
        self.tenants[who.tenant][memory_id] = fresh
        return self._remembered(who, fresh, "stored")

    def update(self, who: Who, given: Json, now: datetime) -> Json:
        given = _with_end(_trimmed(given), now)
        memory = self._visible(who, given.pop("id"))
        version, cleared = given.pop("expected_version", None), given.pop("clear", [])
        before = memory.fields["supersedes"]
        added = [older for older in given.get("supersedes", []) if older not in before]
        self._check_supersedes(who, memory.id, memory.scope, {"supersedes": added})
        self._check_cycle(who, memory.id, added)
        if version is not None and version != memory.version:
            raise Refused("conflict", "expected_version", id=memory.id, current_version=memory.version)
        changed = self._set(memory, {**{name: DEFAULTS[name] for name in cleared}, **given}, now)
        for older in set(before) - set(memory.fields["supersedes"]):
            if not self.tenants[who.tenant][older].forgotten:
                self.tenants[who.tenant][older].noted.discard(memory.id)
        self._note(who, memory)
        return {"id": memory.id, "version": memory.version, "changed": changed, "redacted": []}

    def forget(self, who: Who, memory_id: str) -> Json:
        memory = self.tenants[who.tenant].get(memory_id)
        if memory is None or not memory.seen_by(who):
            return {"deleted": False, "id": memory_id, "reason": "not_found"}
        memory.forgotten = True
        return {"deleted": True, "id": memory_id, "reason": "forgotten"}

    def feedback(self, who: Who, memory_id: str, useful: bool) -> Json:
        counts = self.said_useful[who.tenant, self._visible(who, memory_id).id]
        counts[useful] += 1
        return {"id": memory_id, "useful_count": counts[True], "not_useful_count": counts[False]}

    def get(self, who: Who, memory_id: str, now: datetime) -> Json:
        memory = self._visible(who, memory_id)
        mine = memory.conversation if memory.conversation == who.conversation else None
        return {**self.row(who, memory, now), "tenant": who.tenant, "conversation": mine}

    def rows(self, who: Who, given: Json, now: datetime) -> list[Json]:
        """What list_memories walks through, in its order."""
        status, important = given.get("status", "active"), given.get("sort") == "important"
        rows = [self.row(who, memory, now) for memory in self.visible(who) if memory.passes(given)]
        rows.sort(key=lambda row: (row["importance"] if important else 0, row["created_at"], row["id"]))
        return [row for row in reversed(rows) if status in ("all", row["status"])]

    def recallable(self, who: Who, given: Json, now: datetime) -> dict[str, Json]:
        """By id, everything that a recall with these filters may show, and must where the words match."""
        at = given.get("as_of")
        found = {}
        for memory in self.visible(who):
            hidden = self.superseded_by(who, memory, at) and not given.get("include_superseded")
            if hidden or not memory.passes(given) or not memory.holds(at, now):
                continue
            then = memory if at is None else memory.at(at)
            if then is None:
                found[memory.id] = self.row(who, memory, now) | memory.changed()
            elif then is memory or (then.passes(given) and then.holds(at, now)):
                found[memory.id] = self.row(who, then, now) | {"now": self.row(who, memory, now)}
        return found

    def stats(self, who: Who, now: datetime) -> Json:
        rows = [self.row(who, memory, now) for memory in self.visible(who)]
        states, types = Counter(row["status"] for row in rows), Counter[str]()
        types.update(row["type"] for row in rows if row["status"] == "active")
        feedback = sum(self.said_useful[who.tenant, row["id"]].total() for row in rows)
        states_not_active = {name: states[name] for name in ("superseded", "expired")}
        return {"total": states["active"], "by_type": dict(types), "feedback": feedback, **states_not_active}

    def visible(self, who: Who) -> list[Memory]:
        """Everything that is not forgotten and that this caller may see."""
        return [memory for memory in self.tenants[who.tenant].values() if memory.seen_by(who)]

    def superseded_by(self, who: Who, memory: Memory, at: datetime | None = None) -> set[str]:
        stating = [m for m in self.tenants[who.tenant].values() if memory.id in m.fields["supersedes"]]
        if at is None:
            return memory.noted | {m.id for m in stating}
        return {m.id for m in stating if m.forgotten or m.since() <= at}

    def row(self, who: Who, memory: Memory, now: datetime) -> Json:
        newer = self.superseded_by(who, memory)
        named = {"id": memory.id, "content": memory.content, "scope": memory.scope, "version": memory.version}
        times = {"created_at": memory.created, "updated_at": memory.updated}
        status = "expired" if memory.expired(now) else "superseded" if newer else "active"
        return {**memory.fields, **named, **times, "superseded_by": newer, "status": status}

    def _visible(self, who: Who, memory_id: str) -> Memory:
        memory = self.tenants[who.tenant].get(memory_id)
        if memory is None or not memory.seen_by(who):
            raise Refused("not_found", "id")
        return memory

    def _free(self, who: Who, memory: Memory, now: datetime) -> bool:
        """Whether a new memory may take its place: it is forgotten or expired, and nothing superseded it."""
        gone = memory.forgotten or (memory.expired(now) and memory.seen_by(who))
        return gone and not self.superseded_by(who, memory)

    def _place(self, who: Who, said: str, scope: str, key: Given, own: Given, at: datetime) -> Place:
        """Where this statement lives: at its own id or key, else at the first of eight places that is free or its."""
        mine = who.conversation if scope == "conversation" else None
        if own is not None:
            self.ids["own", own] = own
            return ("own", own)
        if key is not None:
            return ("key", mine, key)
        for attempt in range(DERIVED_IDS):
            place = ("content", mine, said, attempt)
            memory = self.tenants[who.tenant].get(self.ids.get(place, ""))
            if memory is None or self._free(who, memory, at):
                return place
            same = (memory.scope, memory.content) == (scope, said) and not memory.expired(at)
            if same and memory.seen_by(who) and not self.superseded_by(who, memory):
                return place
        raise Refused("conflict", "content", current_version=None)

    def _id(self, place: Place, answered: str | None) -> str:
        if place not in self.ids:
            assert answered not in (None, *self.ids.values()), f"{answered} for {place}: no id, or another's"
            self.ids[place] = str(answered)
        return self.ids[place]

    def _again(self, who: Who, memory: Memory, request: Json, given: Json, name: str, at: datetime) -> Json:
        """A statement where a live memory is; `name` is the argument that led there, "" if it was the content."""
        seen = memory.seen_by(who)
        if seen and name and memory.request == request:
            return {**self._remembered(who, memory, "already_known"), **memory.changed()}
        stated = (memory.scope, memory.content) == (request.get("scope", "project"), request["content"])
        if not seen or not stated:
            raise Refused("conflict", name, id=memory.id, current_version=memory.version if seen else None)
        for added in {"tags", "supersedes"} & set(given):
            given[added] = list(dict.fromkeys([*memory.fields[added], *given[added]]))
        if "ttl_days" in request and memory.request == request:
            del given["expires_at"]
        if any(memory.fields[name] != value for name, value in given.items()):
            self._check_cycle(who, memory.id, given.get("supersedes", []))
        return self._remembered(who, memory, "updated" if self._set(memory, given, at) else "already_known")

    def _remembered(self, who: Who, memory: Memory, status: str) -> Json:
        self._note(who, memory)
        return {**self.row(who, memory, memory.created), "status": status, "redacted": []}

    def _set(self, memory: Memory, values: Json, now: datetime) -> list[str]:
        held = {**memory.fields, "content": memory.content}
        changed = sorted(name for name, value in values.items() if held[name] != value)
        if changed:
            memory.past.append(replace(memory, past=[]))
            held.update(values)
            memory.content = held.pop("content")
            memory.fields, memory.version, memory.updated = held, memory.version + 1, now
            memory.history.append((memory.version, memory.content, set(changed)))
        return changed

    def _check_supersedes(self, who: Who, own: str | None, scope: str, given: Json) -> None:
        for older in given.get("supersedes", []):
            memory = self.tenants[who.tenant].get(older)
            wider = memory is not None and scope == "conversation" and memory.scope == "project"
            if memory is None or not memory.seen_by(who) or older == own or wider:
                raise Refused("invalid_argument", "supersedes")

    def _check_cycle(self, who: Who, memory_id: str, older: list[str]) -> None:
        if memory_id in older:
            raise Refused("invalid_argument", "supersedes")
        for one in older:
            self._check_cycle(who, memory_id, self.tenants[who.tenant][one].fields["supersedes"])

    def _note(self, who: Who, memory: Memory) -> None:
        for older in memory.fields["supersedes"]:
            self.tenants[who.tenant][older].noted.add(memory.id)


def _trimmed(given: Json) -> Json:
    """With line endings and outer white space as they are stored."""
    return {n: v.replace("\r\n", "\n").strip() if n == "content" else v for n, v in given.items()}


def _with_end(given: Json, now: datetime) -> Json:
    """With a lifetime as the time at which it ends."""
    given = dict(given)
    if "ttl_days" in given:
        given["expires_at"] = now + max(timedelta(seconds=1), timedelta(days=given.pop("ttl_days")))
    return given
