"""A fresh process on what the buckets hold: what it is shown now, and where upkeep leads in the end.

Owns: `probe`, a reader that starts with nothing in memory and is not disturbed, and `settle`, the indexer run until
nothing is left to do. Guarantees: neither changes what is explored; both work on copies.
Gives up: nothing is interleaved here; readers that are, are processes of a scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from lodestore import bootstrap
from lodestore.bootstrap import Lodestore, assemble
from lodestore.format import keys
from lodestore.services.index_view import EMPTY, IndexView, resolve
from lodestore.services.manifests import Manifests
from lodestore.services.segments import Segments
from lodestore.settings import parse_settings
from tests.interleavings.processes import START
from tests.interleavings.readers import flaws_of_answer
from tests.interleavings.steps import TENANT, StepAnswer, call, index
from tests.interleavings.truths import allowed, is_stub, records_of, windows_of
from tests.stores.memory_store import Contents, MemoryStore

QUERY = "office"
# Past MARKER_LAG, past MARKER_GRACE, and both again: whatever may be deleted at last is.
PAUSES = (0.0, 61.0, 61.0, 3_661.0, 61.0, 3_661.0)


class _Alone:
    """Clock, chance, meter and stores of one undisturbed process."""

    def __init__(self, state: Contents, held: Contents, now: datetime) -> None:
        self._now = now
        self._drawn = 0
        self.state = MemoryStore(self, state)
        self.index = MemoryStore(self, held)
        with patch.object(bootstrap, "ThreadPoolExecutor", lambda *_, **__: _Inline()):
            self.lodestore: Lodestore = assemble(
                parse_settings({}), self.state, self.index, clock=self, entropy=self, meter=self
            )

    def now(self) -> datetime:
        return self._now

    def elapsed(self) -> float:
        return (self._now - START).total_seconds()

    def pause(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def token(self, size: int) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(size, "big")

    def fraction(self) -> float:
        return 0.0

    def count(self, name: str, amount: int = 1) -> None:
        """Nothing is kept."""


class _Inline(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 -- handed on, as every executor does
            future.set_exception(error)
        return future


def probe(state: Contents, held: Contents, now: datetime, ids: Sequence[str]) -> tuple[StepAnswer, ...]:
    """What a fresh process answers: the list, a recall, and each id."""
    steps = [
        call("list_memories", limit=100),
        call("recall", query=QUERY, mode="exploratory"),
        *(call("get_memory", id=memory_id) for memory_id in ids),
    ]
    return tuple(step.run(_Alone(state, held, now).lodestore) for step in steps)


def settle(state: Contents, held: Contents, now: datetime, ids: Sequence[str], *, events: bool) -> list[str]:
    """What is wrong once the indexer ran until every marker is gone.

    events   S3's events of all objects arrive (once more, perhaps) before its first run
    """
    alone = _Alone(state, held, now)
    records = records_of(state)
    flaws: list[str] = []
    for number, seconds in enumerate(PAUSES):
        alone.pause(seconds)
        answer = index(*(sorted(records) if events and not number else ())).run(alone.lodestore)
        if answer.failed:
            flaws.append(f"the indexer says {answer.json['error']}")
        flaws += _flaws_of_index(alone, records)
    flaws += [
        f"a marker stays: {key}" for key in alone.index.contents.current() if key.startswith(keys.PENDING)
    ]
    may = allowed(ids, windows_of(records, ids))
    for answer in probe(alone.state.contents, alone.index.contents, alone.now(), ids):
        flaws += flaws_of_answer(answer, may)
    return flaws


def _flaws_of_index(alone: _Alone, records: dict[str, Any]) -> list[str]:
    """Where the index, without any marker, shows an id otherwise than the truth."""
    by_id = _view(alone).shown(records)
    flaws = []
    for memory_id, record in records.items():
        shown = by_id.get(memory_id)
        if shown is None:
            flaws.append(f"the index does not show {memory_id}")
        elif (shown.revision, shown.stub) != (record["revision"], is_stub(record)):
            flaws.append(f"the index shows {memory_id} as it is no more")
    return flaws


def _view(alone: _Alone) -> IndexView:
    loaded = Manifests(alone.index, alone).load(TENANT).manifest
    if loaded is None:
        return EMPTY
    segments = Segments(alone.index, clock=alone, entropy=alone, workers=_Inline(), meter=alone)
    return resolve(loaded, segments.load(TENANT, loaded.names))
