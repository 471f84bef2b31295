"""Strangers: a caller who must see nothing of what another tenant or conversation holds, and all it may try.

Owns: the world that they meet in, the strangers, and for each tool of the catalogue what is tried; tools of later
versions are tried by their schema. Guarantees: every attempt begins with the same buckets, clock and chance, so that
whatever differs between two answers comes from what is foreign, and answers are compared to the byte.
Gives up: time. How long an answer takes may tell whether an object is there.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lodestore.bootstrap import Lodestore
from lodestore.domain.caller import Role
from lodestore.domain.memory import Memory
from lodestore.domain.proposal import ProposalKind, propose
from lodestore.format import keys
from mcp_server.endpoint import Endpoint
from mcp_server.observability import Counters, Observer
from tests.handlers.wire import LOCAL, call, event, send
from tests.services.index_truth import contents_of
from tests.services.world import Instance, World
from tests.stores.memory_store import Contents, MemoryStore

Json = dict[str, Any]

OWNER, CHAT = "acme", "chat-1"
OWN = "own-walrus"
# Foreign ids by what stands behind them, and one of the same length behind which nothing ever stood.
NOTE, LIVE, SUPERSEDED, FORGOTTEN, FORGOTTEN_NOTE = "n-note", "n-live", "n-over", "n-gone", "n-gnot"
UNKNOWN = "n-nope"
OTHER_NOTE = "n-not2"
# Tools whose `id` is a proposal's.
OF_PROPOSALS = ("decide_proposal", "undo")
OF_A_CONVERSATION = (NOTE, FORGOTTEN_NOTE)
OF_A_TENANT = (NOTE, LIVE, SUPERSEDED, FORGOTTEN, FORGOTTEN_NOTE)
# Arguments that take ids.
ID_ARGUMENTS = ("id", "supersedes")
# What the required arguments of any tool are filled with; a new one must be added.
FILLED: Mapping[str, object] = {
    "content": "A walrus lives in the harbour of Oslo too",
    "query": "walrus harbour",
    "id": OWN,
    "useful": True,
    "accept": True,
}
# Beyond what is required: the arguments that show most.
TELLING: Mapping[str, Json] = {
    "recall": {"mode": "exploratory", "limit": 50, "explain": True, "include_superseded": True, "max_bytes": 262_144},
    "list_memories": {"status": "all", "limit": 100},
    "list_proposals": {"status": "all", "limit": 100},
    "memory_context": {"query": "walrus harbour", "max_tokens": 8_000},
    "get_memory": {"history": True},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stranger:
    """Who asks, and which ids of the owner are foreign to it."""

    tenant: str
    conversation: str | None
    foreign: tuple[str, ...]

    @property
    def headers(self) -> dict[str, str]:
        own = {} if self.conversation is None else {"x-conversation-id": self.conversation}
        return {**LOCAL, "x-memory-tenant": self.tenant, **own}


STRANGERS = {
    "another tenant": Stranger("zephyr", None, OF_A_TENANT),
    "a tenant whose name begins alike": Stranger("acme-corp", CHAT, OF_A_TENANT),
    "a tenant whose name differs by case": Stranger("Acme", CHAT, OF_A_TENANT),
    "another conversation": Stranger(OWNER, "chat-2", OF_A_CONVERSATION),
    "a conversation that differs by case": Stranger(OWNER, "Chat-1", OF_A_CONVERSATION),
    "no conversation": Stranger(OWNER, None, OF_A_CONVERSATION),
}


@dataclass(frozen=True, slots=True)
class Buckets:
    """Both buckets at one moment."""

    state: Contents
    index: Contents


@dataclass(frozen=True, slots=True)
class Told:
    """What one attempt brought: the answer, and the requests that it made, in the order of their keys."""

    status: int
    body: str
    requests: tuple[tuple[str, str], ...]

    def masked(self, memory_id: str) -> Told:
        """The same with the id taken out."""
        requests = tuple((operation, key.replace(memory_id, "*")) for operation, key in self.requests)
        return Told(self.status, self.body.replace(memory_id, "*"), tuple(sorted(requests)))


def buckets(folder: Path, stranger: Stranger, *, foreign: bool, indexed: bool) -> Buckets:
    """What stands there before an attempt: the stranger's own memory and, with `foreign`, all that is the owner's."""
    world = _world(folder, Buckets(Contents(versioned=True), Contents(versioned=False)))
    own = world.instance(stranger.tenant, conversation=stranger.conversation)
    own.stored("The walrus of this house eats clams", id=OWN)
    if foreign:
        _fill(world, stranger)
    if indexed:
        # The stranger's first: what chance gives it must not depend on what the owner needs.
        for tenant in dict.fromkeys((stranger.tenant, OWNER)):
            own.lodestore.upkeep.index(tenant)
    world.close()
    return Buckets(contents_of(world.state), contents_of(world.index))


def _fill(world: World, stranger: Stranger) -> None:
    owner = world.instance(OWNER, conversation=CHAT)
    owner.stored("A secret walrus of this chat lives in the harbour of Oslo", id=NOTE, scope="conversation")
    owner.stored("A secret walrus of this chat left the harbour", id=OTHER_NOTE, scope="conversation")
    _propose(owner)
    owner.stored("A walrus note that was forgotten", id=FORGOTTEN_NOTE, scope="conversation")
    owner.call("forget", id=FORGOTTEN_NOTE)
    if stranger.tenant == OWNER:
        return
    owner.stored("A walrus lives in the harbour of Oslo", id=LIVE, pinned=True, type="instruction")
    owner.stored("The walrus is called Ole", id=SUPERSEDED)
    owner.stored("The walrus is called Olav", id="n-succ", supersedes=[SUPERSEDED])
    owner.stored("The walrus left the harbour", id=FORGOTTEN)
    owner.call("forget", id=FORGOTTEN)


def _propose(owner: Instance) -> None:
    """Two things that an admin may decide of the notes."""
    one, tenant = owner.lodestore, owner.caller.tenant
    found = one.rebuilding._truth.read_many(tenant, (NOTE, OTHER_NOTE))
    notes = [read.record for read in found.values() if isinstance(read.record, Memory)]
    at = one.clock.now()
    wanted = [
        propose(ProposalKind.SUPERSEDE, notes, at=at, keeps=NOTE),
        propose(ProposalKind.PRUNE, notes[:1], at=at),
    ]
    assert len(one.proposals.propose(tenant, wanted).made) == 2


def proposals_in(before: Buckets) -> list[str]:
    """The ids of the proposals that stand there."""
    names = (keys.parse_proposal(key) for key in before.index.current())
    return [name.id for name in names if name is not None]


def attempt(folder: Path, before: Buckets, stranger: Stranger, message: Json) -> Told:
    """What a stranger's message brings, in a fresh process over these buckets."""
    world = _world(folder, before)
    lodestore = world.instance().lodestore
    answer = send(endpoint_over(lodestore), event(headers=stranger.headers, body=json.dumps(message)))
    requests = [(one.operation, one.key) for one in (*world.state.requests, *world.index.requests)]
    world.close()
    return Told(answer.status, answer.text, tuple(sorted(requests)))


def endpoint_over(lodestore: Lodestore) -> Endpoint:
    """The endpoint in open mode, where a header names the tenant."""
    observer = Observer(clock=lodestore.clock, counters=Counters(), log=io.StringIO(), metrics=None)
    return Endpoint(lodestore, observer)


def _world(folder: Path, before: Buckets) -> World:
    world = World(folder)
    world.state.inner = MemoryStore(world.clock, before.state)
    world.index.inner = MemoryStore(world.clock, before.index)
    return world


def tools(folder: Path) -> dict[str, Json]:
    """Every tool of the catalogue with its input schema."""
    world = _world(folder, Buckets(Contents(versioned=True), Contents(versioned=False)))
    found = {
        tool.name: dict(tool.input_schema) for tool in world.instance().lodestore.toolbox.tools(Role.ADMIN)
    }
    world.close()
    return found


def filled(tool: str, schema: Json) -> Json:
    """Arguments that the tool takes. Raises KeyError for a required one that nobody said how to fill."""
    return {name: FILLED[name] for name in schema.get("required", ())} | TELLING.get(tool, {})


def with_id(tool: str, schema: Json, memory_id: str) -> Iterator[Json]:
    """Calls of the tool that name the id, in each argument that takes one."""
    for name in ID_ARGUMENTS:
        if name in schema["properties"]:
            listed = schema["properties"][name].get("type") == "array"
            given = {**filled(tool, schema), name: [memory_id] if listed else memory_id}
            more = {"content": "Another walrus"} if tool == "update_memory" else {}
            yield call(tool, {**given, **more})
