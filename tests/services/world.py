"""A small world for service tests: one pair of stores, any number of instances, one clock.

Owns: `FakeClock`, `SeededEntropy`, `World`. Guarantees: time moves only when a test or a pause moves it; every
request of every instance is in `world.state` and `world.index`.
Gives up: the transport, which tests/handlers and tests/system drive.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Literal

from lodestore.adapters.folder_store import FolderStore
from lodestore.bootstrap import NO_EMBEDDER, Lodestore, assemble
from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError
from lodestore.ports.embedder import Embedder
from lodestore.ports.language_model import LanguageModel
from lodestore.ports.vector_index import VectorIndex
from lodestore.settings import parse_settings
from tests.faults.hostile_store import FaultyStore

START = datetime(2026, 3, 9, 1, 30, tzinfo=UTC)
Answer = dict[str, object]


class FakeClock:
    """Starts at 2026-03-09T01:30Z; each pause moves it."""

    def __init__(self) -> None:
        self._now = START
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._now

    def elapsed(self) -> float:
        return (self._now - START).total_seconds()

    def pause(self, seconds: float) -> None:
        self.advance(timedelta(seconds=seconds))

    def advance(self, by: timedelta) -> None:
        with self._lock:
            moved = self._now + by
            self._now = moved.replace(microsecond=moved.microsecond // 1000 * 1000)


class SeededEntropy:
    """Chance that a seed decides."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def token(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def fraction(self) -> float:
        return self._random.random()


class CountingMeter:
    """Counts by name."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def count(self, name: str, amount: int = 1) -> None:
        self.counts[name] += amount


class ListedQueue:
    """A TaskQueue that a test reads. It refuses the messages at these places of all that are sent."""

    def __init__(self, *, refuses: Container[int] = ()) -> None:
        self.messages: list[str] = []
        self.refuses = refuses
        self._seen = 0

    def send(self, messages: Sequence[str]) -> tuple[int, ...]:
        lost = tuple(n for n in range(len(messages)) if self._seen + n in self.refuses)
        self._seen += len(messages)
        self.messages.extend(text for n, text in enumerate(messages) if n not in lost)
        return lost

    def take(self) -> list[str]:
        """All that is on it, and nothing after."""
        taken, self.messages = self.messages, []
        return taken


class Instance:
    """One process of ours, as a caller of one tenant sees it."""

    def __init__(self, lodestore: Lodestore, caller: Caller, *, after: Callable[[str], None]) -> None:
        self.lodestore = lodestore
        self.caller = caller
        self._after = after

    def call(self, tool: str, **arguments: object) -> Answer:
        """The tool's answer. Raises LodestoreError. The indexer may run afterwards."""
        answer = self.lodestore.toolbox.call(self.caller, tool, arguments)
        self._after(self.caller.tenant)
        return answer

    def error(self, tool: str, **arguments: object) -> Answer:
        """The error that the call must end in."""
        try:
            answer = self.call(tool, **arguments)
        except LodestoreError as error:
            return error.to_dict()
        raise AssertionError(f"{tool} answered {answer} instead of an error")

    def remember(self, content: str, **arguments: object) -> Answer:
        return self.call("remember", content=content, **arguments)

    def stored(self, content: str, **arguments: object) -> str:
        """The id of a memory that is newly stored."""
        answer = self.remember(content, **arguments)
        assert answer["status"] == "stored", answer
        return str(answer["id"])

    def hits(self, query: str, **arguments: object) -> list[str]:
        """The contents that recall finds."""
        return [str(hit["content"]) for hit in rows(self.call("recall", query=query, **arguments), "hits")]

    def listed(self, **arguments: object) -> list[str]:
        """The ids that list_memories shows on its first page."""
        return [str(row["id"]) for row in rows(self.call("list_memories", **arguments), "memories")]

    def get(self, memory_id: str, **arguments: object) -> Answer:
        """The memory of get_memory."""
        memory = self.call("get_memory", id=memory_id, **arguments)["memory"]
        assert isinstance(memory, dict)
        return memory


class World:
    """Two stores on one folder, and the instances over them.

    indexing   after which calls the indexer runs: never, after each, or after some by a seed. It works on the stores
               behind the faults and the request log, and its time is the world's.
    """

    def __init__(self, folder: Path, indexing: Literal["off", "on", "random"] = "off") -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.meter = CountingMeter()
        self.state = FaultyStore(FolderStore(folder / "state", self.clock, versioned=True))
        self.index = FaultyStore(FolderStore(folder / "index", self.clock, versioned=False))
        self.indexing = indexing
        self._chance = Random(indexing)
        self.embedder: Embedder | None = None
        self.engine: VectorIndex | None = None
        self.model: LanguageModel | None = None
        self.variables: Mapping[str, str] = {}
        self.queue: ListedQueue | None = None
        self._indexer: Lodestore | None = None
        self._indexer_of: Embedder | None = None
        self._lock = threading.Lock()
        self._instances: list[Lodestore] = []

    def instance(
        self,
        tenant: str = "acme",
        *,
        conversation: str | None = None,
        role: Role = Role.ADMIN,
        variables: Mapping[str, str] | None = None,
    ) -> Instance:
        """A fresh process that holds nothing in memory, seen as this caller."""
        lodestore = assemble(
            parse_settings({**self.variables, **(variables or {})}),
            self.state,
            self.index,
            clock=self.clock,
            entropy=SeededEntropy(len(self._instances)),
            meter=self.meter,
            embedder=self.embedder or NO_EMBEDDER,
            vectors=self.engine,
            queue=self.queue,
            model=self.model,
        )
        self._instances.append(lodestore)
        return Instance(lodestore, Caller(tenant, conversation, role), after=self._index)

    def _index(self, tenant: str) -> None:
        if self.indexing == "off" or (self.indexing == "random" and self._chance.random() < 0.5):
            return
        with self._lock:
            if self._indexer is None or self._indexer_of is not self.embedder:
                self._indexer = assemble(
                    parse_settings(self.variables),
                    self.state.inner,
                    self.index.inner,
                    clock=self.clock,
                    entropy=SeededEntropy(10_000),
                    meter=self.meter,
                    embedder=self.embedder or NO_EMBEDDER,
                    vectors=self.engine,
                )
                self._instances.append(self._indexer)
                self._indexer_of = self.embedder
            self._indexer.upkeep.index(tenant)

    def close(self) -> None:
        """Stop the worker threads."""
        for lodestore in self._instances:
            lodestore.workers.shutdown()


def rows(answer: Mapping[str, object], name: str) -> list[Answer]:
    """A list of objects in an answer."""
    found = answer[name]
    assert isinstance(found, list)
    return found
