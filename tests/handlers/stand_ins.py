"""A core to stand behind the MCP server in tests: real access on a real folder, small tools, a clock by hand.

Owns: `StandIn` (see `mcp_server.surface.Lodestore`) and its tools. Guarantees: every storage request and every tool
call is written down. Gives up: what the real tools do; `test_tools_over_the_wire.py` has those.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lodestore.adapters.folder_store import FolderStore
from lodestore.domain.caller import Caller, Role
from lodestore.errors import Conflict, NotFound
from lodestore.services.access import Access
from lodestore.services.counted_store import RequestCounts
from lodestore.services.invocation_budget import InvocationBudget
from lodestore.services.toolbox import Tool, Toolbox
from lodestore.settings import Auth, Settings, parse_settings
from mcp_server.endpoint import Endpoint
from mcp_server.observability import Counters, Observer
from tests.faults.hostile_store import CountingStore

Run = Callable[[Caller, Mapping[str, object]], dict[str, object]]
INSTRUCTIONS = "Long-term memory of this project. Call recall before you answer a question about it."
SECRET_TEXT = "content-of-a-memory-4711"


class HandClock:
    """A clock that moves when a test says so."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 9, 1, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def elapsed(self) -> float:
        return self.time.timestamp()

    def pause(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class CountingEntropy:
    """Different bytes at every call, the same in every run."""

    def __init__(self) -> None:
        self.drawn = 0

    def token(self, size: int) -> bytes:
        self.drawn += 1
        return self.drawn.to_bytes(size, "big")

    def fraction(self) -> float:
        return 0.5


@dataclass
class Call:
    """One call of a tool as it arrived."""

    caller: Caller
    name: str
    arguments: dict[str, object]


@dataclass
class StandIn:
    """A `mcp_server.surface.Lodestore`."""

    settings: Settings
    toolbox: Toolbox
    access: Access
    clock: HandClock
    store: CountingStore
    calls: list[Call] = field(default_factory=list)
    instructions: str = INSTRUCTIONS
    pinned: None = None

    @property
    def requests(self) -> RequestCounts:
        return RequestCounts()

    @property
    def budget(self) -> InvocationBudget:
        return InvocationBudget(self.clock)

    def health(self) -> Mapping[str, object]:
        return {"status": "ok", "version": "0.1.0", "auth": str(self.settings.auth), "embeddings": "none"}


def stand_in(folder: Path, **variables: str) -> StandIn:
    """A core with these variables, its state in `folder`."""
    clock = HandClock()
    settings = parse_settings(variables)
    store = CountingStore(FolderStore(folder, clock, versioned=True))
    access = Access(
        store, clock=clock, entropy=CountingEntropy(), auth=settings.auth, default_tenant=settings.tenant
    )
    calls: list[Call] = []
    return StandIn(settings, Toolbox(_catalogue(calls)), access, clock, store, calls)


def endpoint_of(
    core: StandIn, *, log: io.StringIO | None = None, origins: frozenset[str] = frozenset()
) -> Endpoint:
    """An endpoint over the core; its log goes to `log`."""
    observer = Observer(clock=core.clock, counters=Counters(), log=log or io.StringIO(), metrics=None)
    return Endpoint(core, observer, allowed_origins=origins)


def keys_mode(folder: Path) -> tuple[StandIn, str]:
    """A core in key mode, and a writer's key for the tenant `acme`."""
    core = stand_in(folder, AUTH=str(Auth.KEYS))
    return core, core.access.issue_key(["acme"], Role.WRITER)


class _Tools:
    """What the tools do; each call is written down."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls

    def recall(self, caller: Caller, arguments: Mapping[str, object]) -> dict[str, object]:
        self._calls.append(Call(caller, "recall", dict(arguments)))
        hit = {"id": "m1", "content": SECRET_TEXT, "category": None, "score": 0.5, "tags": ["é", "年"]}
        return {"untrusted": True, "count": 1, "hits": [hit], "message": ""}

    def remember(self, caller: Caller, arguments: Mapping[str, object]) -> dict[str, object]:
        self._calls.append(Call(caller, "remember", dict(arguments)))
        if arguments.get("content") == "conflict":
            raise Conflict("Other content is stored under this id.", memory_id="m1", current_version=3)
        if arguments.get("content") == "boom":
            raise RuntimeError(SECRET_TEXT)
        return {"status": "stored", "id": "m1", "content": arguments.get("content")}

    def get_memory(self, caller: Caller, arguments: Mapping[str, object]) -> dict[str, object]:
        self._calls.append(Call(caller, "get_memory", dict(arguments)))
        match arguments.get("id"):
            case "boom":
                raise RuntimeError(SECRET_TEXT)
            case "endless":
                return {"score": float("nan")}
            case "half":
                return {"content": "half of \ud83d"}
        raise NotFound("No such memory is visible here.", field="id")

    def maintain(self, caller: Caller, arguments: Mapping[str, object]) -> dict[str, object]:
        self._calls.append(Call(caller, "maintain", dict(arguments)))
        return {"steps": []}


def _catalogue(calls: list[Call]) -> tuple[Tool, ...]:
    tools = _Tools(calls)
    return (
        _tool("recall", Role.READER, tools.recall, read_only=True),
        _tool("get_memory", Role.READER, tools.get_memory, read_only=True),
        _tool("remember", Role.WRITER, tools.remember, idempotent=True),
        _tool("maintain", Role.ADMIN, tools.maintain, destructive=True),
    )


def _tool(
    name: str,
    role: Role,
    run: Run,
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
) -> Tool:
    return Tool(
        name=name,
        description=f"What {name} does.",
        input_schema={
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "additionalProperties": False,
        },
        role=role,
        read_only=read_only,
        destructive=destructive,
        idempotent=idempotent or read_only,
        run=run,
    )
