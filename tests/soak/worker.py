"""A worker: threads that write, read and index for one tenant until they are killed or told to end by their input.

Owns: the program that `make soak` starts several of. Guarantees: what it draws is decided by its seed; no thread does
more than `CALLS_A_SECOND`; counts of requests and swaps are in a file that is replaced as a whole.
Gives up: a graceful end; being killed is what it is for.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from pathlib import Path
from random import Random

from lodestore.adapters.system_clock import SystemClock
from lodestore.bootstrap import Lodestore, assemble, build, environment
from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.upkeep import FAILURES
from tests.services.world import CountingMeter
from tests.soak.journal import SHARED, Journal, Json
from tests.soak.tallied_store import TalliedStore

TENANT = "acme"
SHARED_IDS = tuple(f"{SHARED}-{number}" for number in range(4))
CALLS_A_SECOND = 12
INDEX_EVERY = 10
NOTES_EVERY = 20


class Writer:
    """One thread's work."""

    def __init__(self, name: str, lodestore: Lodestore, journal: Journal, chance: Random) -> None:
        self._name = name
        self._lodestore = lodestore
        self._caller = Caller(TENANT, None, Role.ADMIN)
        self._journal = journal
        self._chance = chance
        self._clock = SystemClock()
        self._said = 0
        self._own: list[str] = []
        self.batches = 0

    def step(self) -> None:
        """One call, now and then one run of the indexer."""
        tool, given = self._chance.choices(
            (self._remember, self._update, self._forget, self._share, self._get, self._list, self._recall),
            (6, 3, 1, 3, 3, 1, 2),
        )[0]()
        self._call(tool, given)
        if self._chance.randrange(INDEX_EVERY) == 0:
            self._index()
        self._clock.pause(self._chance.random() * 2 / CALLS_A_SECOND)

    def _call(self, tool: str, given: Json) -> None:
        self._journal.intend(tool, given)
        began = self._clock.elapsed()
        try:
            answer = self._lodestore.toolbox.call(self._caller, tool, given)
        except LodestoreError as error:
            answer = error.to_dict()
        self._journal.note((self._clock.elapsed() - began) * 1000, answer)

    def _index(self) -> None:
        try:
            self._lodestore.upkeep.index(TENANT)
            self.batches += 1
        except FAILURES:
            # The store is being killed, or another was faster at every try; the markers stay.
            pass

    def _text(self) -> str:
        self._said += 1
        return f"statement {self._said} of writer {self._name}"

    def _remember(self) -> tuple[str, Json]:
        memory_id = f"{self._name}-{len(self._own)}"
        self._own.append(memory_id)
        return "remember", {"id": memory_id, "content": self._text(), "tags": [f"t{self._said % 7}"]}

    def _known(self) -> str:
        return self._chance.choice(self._own or [f"{self._name}-none"])

    def _update(self) -> tuple[str, Json]:
        return "update_memory", {"id": self._known(), "content": self._text()}

    def _forget(self) -> tuple[str, Json]:
        return "forget", {"id": self._known()}

    def _share(self) -> tuple[str, Json]:
        self._said += 1
        source = f"{self._name} {self._said}"
        return "update_memory", {"id": self._chance.choice(SHARED_IDS), "source": source}

    def _get(self) -> tuple[str, Json]:
        return "get_memory", {"id": self._known()}

    def _list(self) -> tuple[str, Json]:
        return "list_memories", {"limit": 20}

    def _recall(self) -> tuple[str, Json]:
        return "recall", {"query": f"statement {self._chance.randrange(1, 50)}"}


def main() -> None:
    name, seed, threads, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    meter, stop = CountingMeter(), threading.Event()
    lodestore, tallied = over_tallied(build(environment()), meter)
    names = [f"{name}-{number}" for number in range(threads)]
    writers = [
        Writer(own, lodestore, Journal(folder / f"{own}.jsonl"), Random(f"{seed} {own}")) for own in names
    ]

    def work(writer: Writer) -> None:
        while not stop.is_set():
            try:
                writer.step()
            except StoreUnavailable:
                # Only reads outside of a tool end so; the tool's own error is an answer.
                continue

    running = [threading.Thread(target=work, args=(writer,)) for writer in writers]
    for thread in running:
        thread.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    ended = threading.Thread(target=sys.stdin.read, daemon=True)
    ended.start()
    while ended.is_alive():
        ended.join(0.5)
        _write_counts(
            folder / f"{name}.counts.json", meter, tallied, sum(writer.batches for writer in writers)
        )
    stop.set()
    for thread in running:
        thread.join()
    _write_counts(folder / f"{name}.counts.json", meter, tallied, sum(writer.batches for writer in writers))


def over_tallied(built: Lodestore, meter: CountingMeter) -> tuple[Lodestore, Counter[str]]:
    """The same over the same stores, with every request counted."""
    tallied: Counter[str] = Counter()
    stores = [TalliedStore(store, tallied) for store in (built.state_store, built.index_store)]
    assembled = assemble(built.settings, *stores, clock=built.clock, entropy=built.entropy, meter=meter)
    return assembled, tallied


def _write_counts(path: Path, meter: CountingMeter, tallied: Counter[str], batches: int) -> None:
    counts = {
        **meter.counts,
        **{f"request {name}": count for name, count in tallied.copy().items()},
        "batches": batches,
    }
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(counts), encoding="utf-8")
    whole.replace(path)


if __name__ == "__main__":
    main()
