"""Clients that speak of the same few memories at once, each in words that no other uses.

Owns: `Board` (what all clients of one run know), `Client` (what one says next). Guarantees: every tag, source and text
says who said it and when, so that a judge can tell whose words it reads; the seed decides everything.
Gives up: expiry and texts said anew after they were superseded, which the judge can't order.

Kinds of memories: a chain is never forgotten, and everybody changes it; a mortal is said and forgotten again and again;
a keyed one stays forgotten; a note belongs to one conversation; an old one is superseded by its successor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random

from tests.proof.history import Operation
from tests.proof.model import Json, Who

TENANTS = ("acme", "acme-corp")
CONVERSATIONS = (None, "chat-1", "chat-2")
EVERYTHING = "zorvex"
LETTERS = "abc"
SUCCESSIONS = 8
Say = tuple[str, Json]


@dataclass(slots=True)
class Board:
    """Ids by the text that they were said with, versions as last shown, and the next unused number."""

    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    ids: dict[tuple[str, str], str] = field(default_factory=dict)
    versions: dict[tuple[str, str], int] = field(default_factory=dict)
    successions: dict[str, int] = field(default_factory=dict)

    def learn(self, operation: Operation) -> None:
        """Take in what an answer shows."""
        answer, tenant = operation.answered, operation.who.tenant
        memory_id = answer.get("id", answer.get("memory", {}).get("id"))
        version = answer.get("version", answer.get("memory", {}).get("version"))
        if operation.tool == "remember" and memory_id is not None:
            self.ids[tenant, operation.given["content"]] = memory_id
        if version is not None:
            self.versions[tenant, memory_id] = version

    def known(self, tenant: str) -> list[str]:
        """Every id of a tenant that an answer showed."""
        return sorted({memory_id for (owner, _), memory_id in self.ids.items() if owner == tenant})


def text(kind: str, letter: str, who: Who) -> str:
    """What a memory says: a word that only it has, and one that all have."""
    owner = who.tenant.replace("-", "") + (
        (who.conversation or "").replace("-", "") if kind == "note" else ""
    )
    return f"{kind}{letter}{owner} {EVERYTHING}"


class Client:
    """One caller, as a source of calls."""

    def __init__(self, who: Who, board: Board, chance: Random) -> None:
        self.who = who
        self._board = board
        self._chance = chance
        self._kinds: tuple[tuple[int, Callable[[], Say]], ...] = (
            (6, self._say),
            (4, self._edit),
            (3, self._forget),
            (1, self._succeed),
            (2, self._feedback),
            (3, self._get),
            (3, self._list),
            (4, self._recall),
        )

    def next(self) -> Say:
        """A tool and its arguments."""
        weights = [weight for weight, _ in self._kinds]
        (say,) = self._chance.choices([say for _, say in self._kinds], weights)
        return say()

    def _word(self, prefix: str) -> str:
        return f"{prefix}{next(self._board.numbers)}"

    def _letter(self) -> str:
        return self._chance.choice(LETTERS)

    def _say(self) -> Say:
        kinds = ["chain", "chain", "mortal", "mortal", "keyed"] + ["note"] * (
            self.who.conversation is not None
        )
        return "remember", self._statement(self._chance.choice(kinds), self._letter())

    def _statement(self, kind: str, letter: str) -> Json:
        given: Json = {"content": text(kind, letter, self.who)}
        if kind == "chain":
            given["id"] = f"chain-{letter}"
        if kind == "note":
            given["scope"] = "conversation"
        if kind == "keyed":
            given["idempotency_key"] = f"key {letter}"
        elif self._chance.random() < 0.5:
            given["tags"] = [self._word("tag")]
        return given

    def _edit(self) -> Say:
        memory_id = f"chain-{self._letter()}"
        given: Json = {"id": memory_id, "source": self._word("source")}
        version = self._board.versions.get((self.who.tenant, memory_id))
        if version is not None and self._chance.random() < 0.6:
            given["expected_version"] = version
        return "update_memory", given

    def _forget(self) -> Say:
        kind = self._chance.choice(("mortal", "mortal", "keyed", "note"))
        memory_id = self._board.ids.get((self.who.tenant, text(kind, self._letter(), self.who)))
        return ("forget", {"id": memory_id}) if memory_id is not None else self._say()

    def _succeed(self) -> Say:
        """Say something, or what takes the place of what was said last."""
        number = self._board.successions.get(self.who.tenant, 0)
        old = self._board.ids.get((self.who.tenant, text("old", chr(97 + number), self.who)))
        if number >= SUCCESSIONS:
            return self._say()
        if old is None:
            return "remember", {"content": text("old", chr(97 + number), self.who)}
        self._board.successions[self.who.tenant] = number + 1
        return "remember", {"content": text("new", chr(97 + number), self.who), "supersedes": [old]}

    def _known(self) -> str:
        return self._chance.choice(self._board.known(self.who.tenant) or ["chain-a"])

    def _feedback(self) -> Say:
        return "memory_feedback", {"id": self._known(), "useful": self._chance.random() < 0.5}

    def _get(self) -> Say:
        return "get_memory", {"id": self._known()}

    def _list(self) -> Say:
        status = {"status": "all"} if self._chance.random() < 0.5 else {}
        return "list_memories", {**status, "limit": self._chance.choice((3, 100))}

    def _recall(self) -> Say:
        kind = self._chance.choice(("chain", "mortal", "keyed", "note"))
        query = text(kind, self._letter(), self.who).split()[self._chance.random() < 0.5]
        return "recall", thorough(query)


def thorough(query: str) -> Json:
    """A recall that must find everything that has these words."""
    return {"query": query, "mode": "exploratory", "limit": 50, "min_score": 0, "max_bytes": 262_144}


def inspection(who: Who, board: Board) -> Iterator[Say]:
    """Every way to read everything that this caller may see."""
    yield "list_memories", {"status": "all", "limit": 7}
    yield "list_memories", {"limit": 100}
    yield "recall", thorough(EVERYTHING)
    for memory_id in board.known(who.tenant):
        yield "get_memory", {"id": memory_id}
    for kind in ("chain", "mortal", "keyed", "note", "new"):
        yield "recall", thorough(text(kind, LETTERS[0], who).split()[0])
