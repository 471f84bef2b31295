"""What callers say, drawn at random: statements that meet each other again and again.

Owns: `Draw`, from a source of chance to the arguments of every tool. Guarantees: few words, tenants, conversations and
ids, so that the same text is said twice, ids are used where they are not visible, and keys and own ids collide.
Gives up: secrets, and texts at the limits of their size, which have tests of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from tests.proof.model import Json, Who
from tests.services.world import START

Item = TypeVar("Item")
TENANTS = ("acme", "acme-corp")
CONVERSATIONS = (None, "chat-1", "chat-2")
# Most of it happens in one tenant, so that statements meet; the other one must see nothing of it.
CALLERS = [Who("acme", conversation) for conversation in (None, *CONVERSATIONS)] + [
    Who("acme-corp", None),
    Who("acme-corp", "chat-1"),
]
WORDS = ("zorvex", "quilban", "mirtola", "tharn", "err_x9f-2207", "年会")
CONTENTS = (
    "zorvex quilban",
    "  zorvex quilban\r\n",
    "Zorvex, quilban!",
    "zorvex mirtola",
    "mirtola tharn zorvex",
    "quilban",
    "ERR_X9F-2207 tharn",
    "年会 tharn",
)
TYPES = ("fact", "preference", "instruction", "event")
KEYS = ("key one", "key-2")
OWN_IDS = ("own-1", "own-2")
NEVER_GIVEN = "never-given"
FIELDS: dict[str, Sequence[object]] = {
    "type": TYPES,
    "category": ("team", "tharn"),
    "tags": (["red"], ["blue", "red"], ["tharn"]),
    "importance": (0.0, 0.25, 0.75, 1.0),
    "pinned": (True, False),
    "source": ("quilban", "nora"),
    "metadata": ({"a": 1}, {"b": [1, {"c": None}]}),
    "valid_from": [START + timedelta(days=days) for days in (-400, -1, 1, 45)],
}
# In days: less than a second, a minute, two days; the clock moves by amounts around them.
LIFETIMES = (1e-9, 1 / 1440, 2.0)
STEPS_OF_TIME = (
    timedelta(milliseconds=1),
    timedelta(seconds=1, milliseconds=1),
    timedelta(seconds=61),
    timedelta(minutes=31),
    timedelta(hours=1, milliseconds=1),
    timedelta(days=2),
)
CLEARABLE = ("category", "tags", "importance", "metadata", "supersedes", "expires_at", "type", "source")

BAD: dict[str, list[tuple[Json, str, str]]] = {
    "remember": [
        ({"content": " \u200b "}, "invalid_argument", "content"),
        ({"content": "x" * 32_001}, "too_large", "content"),
        ({"content": "x", "type": "rumour"}, "invalid_argument", "type"),
        ({"content": "x", "importance": 1.01}, "invalid_argument", "importance"),
        ({"content": "x", "tags": [f"t{n}" for n in range(33)]}, "too_large", "tags"),
        ({"content": "x", "ttl_days": 1, "expires_at": "2999-01-01"}, "invalid_argument", "expires_at"),
        ({"content": "x", "ttl_days": 0}, "invalid_argument", "ttl_days"),
        ({"content": "x", "expires_at": "1999-01-01"}, "invalid_argument", "expires_at"),
        ({"content": "x", "id": "../other"}, "invalid_argument", "id"),
        ({"content": "x", "supersedes": [NEVER_GIVEN]}, "invalid_argument", "supersedes"),
        ({"content": "x", "colour": "red"}, "invalid_argument", "colour"),
        ({"content": "x", "metadata": {"a": "b" * 4_096}}, "too_large", "metadata"),
    ],
    "update_memory": [
        ({"id": NEVER_GIVEN, "content": "x"}, "not_found", "id"),
        ({"id": NEVER_GIVEN}, "invalid_argument", "content"),
        ({"id": NEVER_GIVEN, "tags": ["x"], "clear": ["tags"]}, "invalid_argument", "tags"),
        ({"id": "x", "content": "x", "expected_version": 0}, "invalid_argument", "expected_version"),
    ],
    "recall": [
        ({"query": "  "}, "invalid_argument", "query"),
        ({"query": "x" * 2_001}, "too_large", "query"),
        ({"query": "x", "limit": 51}, "invalid_argument", "limit"),
        ({"query": "x", "tags": 42}, "invalid_argument", "tags"),
        ({"query": "x", "since": "2026-01-02", "until": "2026-01-01"}, "invalid_argument", "until"),
        ({"query": "x", "colour": "red"}, "invalid_argument", "colour"),
    ],
    "list_memories": [
        ({"limit": 0}, "invalid_argument", "limit"),
        ({"cursor": "garbage"}, "invalid_argument", "cursor"),
        ({"status": "lost"}, "invalid_argument", "status"),
    ],
    "get_memory": [({"id": NEVER_GIVEN}, "not_found", "id"), ({}, "invalid_argument", "id")],
    "memory_feedback": [
        ({"id": NEVER_GIVEN, "useful": True}, "not_found", "id"),
        ({"id": NEVER_GIVEN}, "invalid_argument", "useful"),
    ],
    "forget": [({"id": "a b"}, "invalid_argument", "id"), ({"id": "x", "why": 1}, "invalid_argument", "why")],
    "memory_stats": [({"tenant": "acme"}, "invalid_argument", "tenant")],
    "memory_context": [({"max_tokens": 49}, "invalid_argument", "max_tokens")],
}
BAD_CALLS = [(tool, *bad) for tool, bads in BAD.items() for bad in bads]


class Draw:
    """Arguments by chance. `known` are ids as this caller may know them, the likeliest first."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def one_of(self, items: Sequence[Item]) -> Item:
        return self.chance.choice(items)

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def statement(self, who: Who, known: Sequence[str]) -> Json:
        """The arguments of a remember."""
        given: Json = {"content": self.one_of(CONTENTS), **self._fields(0.15)}
        if self.maybe(0.2):
            given["ttl_days"] = self.one_of(LIFETIMES)
        elif self.maybe(0.1):
            given["expires_at"] = START + timedelta(days=500)
        if self.maybe(0.25 if who.conversation is not None else 0.08):
            given["scope"] = "conversation"
        if self.maybe(0.3):
            given["idempotency_key"] = self.one_of(KEYS)
        if self.maybe(0.2):
            others = [memory_id for memory_id in known if memory_id != NEVER_GIVEN]
            given["id"] = self.one_of(OWN_IDS if self.maybe(0.6) or not others else others)
        if self.maybe(0.25) and known:
            given["supersedes"] = self._some(known)
        return given

    def change(self, memory_id: str, known: Sequence[str], version: int) -> Json:
        """The arguments of an update; `version` is the current one, which it may expect."""
        if self.maybe(0.1):
            return {"id": memory_id, "clear": ["category"]}
        given = self._fields(0.2)
        if self.maybe(0.3):
            given["content"] = self.one_of(CONTENTS)
        if self.maybe(0.1):
            given["ttl_days"] = self.one_of(LIFETIMES)
        if self.maybe(0.2) and known:
            given["supersedes"] = self._some(known)
        taken = {"expires_at"} if "ttl_days" in given else set()
        free = [name for name in CLEARABLE if name not in given and name not in taken]
        if self.maybe(0.25) or not given:
            given["clear"] = list(dict.fromkeys([self.one_of(free), self.one_of(free)]))
        if self.maybe(0.3):
            given["expected_version"] = max(1, version + self.one_of((-1, 0, 0, 1)))
        return {"id": memory_id, **given}

    def filters(self, share: float) -> Json:
        """Filters of recall and list."""
        choices: dict[str, Sequence[object]] = {
            "type": (["fact"], ["event", "instruction"]),
            "category": FIELDS["category"],
            "tags": (["red"], ["blue", "red"]),
            "since": [START + timedelta(seconds=s) for s in (0, 61, 200_000)],
            "until": [START + timedelta(seconds=s) for s in (200_001, 10_000_000)],
        }
        return {name: self.one_of(values) for name, values in choices.items() if self.maybe(share)}

    def question(self, words: Sequence[str]) -> Json:
        """The arguments of a recall; half of them ask for all there is."""
        given: Json = {"query": " ".join(words), **self.filters(0.1)}
        if self.maybe(0.5):
            given |= {"mode": "exploratory", "limit": 50, "min_score": 0, "max_bytes": 262_144}
        elif self.maybe(0.5):
            given["mode"] = self.one_of(("precision", "balanced", "exploratory"))
        if self.maybe(0.3):
            given["include_superseded"] = True
        if self.maybe(0.3):
            given["as_of"] = self.as_of()
        return given

    def words(self) -> list[str]:
        """One or two words of a query."""
        return list(dict.fromkeys(self.chance.choices(WORDS, k=2)))[: self.chance.randint(1, 2)]

    def as_of(self) -> datetime:
        """A time around those at which memories begin and end to hold."""
        return START + timedelta(seconds=self.one_of((-86_400, 0, 30, 3_700, 90_000, 200_000, 4_000_000)))

    def _fields(self, share: float) -> Json:
        return {name: self.one_of(values) for name, values in FIELDS.items() if self.maybe(share)}

    def _some(self, known: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(self.chance.choices(known, k=self.chance.randint(1, 2))))
