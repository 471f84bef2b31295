"""One run of the chaos: clients, indexers and maintenance in a storm, and then the reckoning.

Owns: `run_chaos`. Guarantees: the seed decides all of it; a client repeats what the error says is safe to repeat, on
the same process or another. In the end, without faults and with everything landed: the judge finds no broken promise,
the index shows exactly the truth, no marker is left, and every answer is the same from the tail, from the index, and
from an index that was deleted and rebuilt.
Gives up: expiry; the model tests have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

from lodestore.format import keys
from lodestore.ports.object_store import ObjectStore
from lodestore.services.upkeep_steps import FOLD
from tests.faults.hostile_store import Action, Fault, FaultyStore, Request
from tests.proof.case_file import INDEXED, SETTLED
from tests.proof.events import NotifyingStore, batch_of, record_of
from tests.proof.history import Operation, Recorder, walk
from tests.proof.judge import judge
from tests.proof.model import Json, Who
from tests.proof.process import Process, SkewedClock
from tests.proof.storm import Storm
from tests.proof.workload import CONVERSATIONS, TENANTS, Board, Client, inspection
from tests.services.index_truth import markers_of, shown_by_index, truth_of
from tests.services.world import World
from tests.stores.memory_store import Contents, MemoryStore

CALLERS = [Who(tenant, conversation) for tenant, conversation in product(TENANTS, CONVERSATIONS)]
CLOCKS = (0.0, 0.0, 3.0, -3.0, 150.0, -150.0, 600.0, -600.0)
PROCESSES = 4
REPEATS = 5
# How deep another process may come in between the requests of another.
DEPTH = 2
OPERATIONS_MOST = 500
# How much others say, index and let time pass in between, and how far time goes at once.
MIXES = ((2, 2, 1), (4, 1, 0), (1, 4, 1), (0, 1, 0), (0, 2, 1))
JUMPS = ((1,), (2, 20, 61), (61,), (1, 20, 61, 3_700))
OF_ITS_OWN_AGE = ("age",)
# Each read with the rows that it answered.
Inspection = list[tuple[Operation, list[Json]]]


@dataclass(slots=True)
class ChaosResult:
    """What came of a run."""

    seed: int
    operations: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def check(self, promise: str, holds: bool, why: str) -> None:
        """One check of the reckoning."""
        self.checked[promise] += 1
        if not holds:
            self.violations.append(f"{promise}: {why}")


def run_chaos(seed: int, folder: Path, steps: int) -> ChaosResult:
    """One run over `steps` calls of clients. The stores are in memory; of every fourth seed in the folder."""
    world = World(folder)
    state: ObjectStore = world.state.inner
    if seed % 4:
        state = MemoryStore(world.clock, Contents(versioned=True))
        world.index = FaultyStore(MemoryStore(world.clock, Contents(versioned=False)))
    queue: list[str] = []
    world.state = FaultyStore(NotifyingStore(state, queue.append))
    run = _Run(seed, world, queue)
    for _ in range(steps):
        run.step()
    run.reckon()
    world.close()
    return run.result


class _Run:
    def __init__(self, seed: int, world: World, queue: list[str]) -> None:
        self.result = ChaosResult(seed)
        self._queue = queue
        self._lost: list[str] = []
        self._chance = Random(f"chaos {seed}")
        self._world = world
        self._storm = Storm(self._chance, world.clock)
        self._recorder = Recorder()
        self._board = Board()
        self._clients = [Client(who, self._board, self._chance) for who in CALLERS]
        self._everyone: list[Process] = []
        self._processes = [self._start() for _ in range(PROCESSES)]
        self._depth = 0
        self._mix = self._chance.choice(MIXES)
        self._jumps = self._chance.choice(JUMPS)

    # While it lasts.

    def step(self) -> None:
        drawn = self._chance.random()
        if drawn < 0.72:
            self._say()
        elif drawn < 0.9:
            self._keep_up()
        elif drawn < 0.95:
            self._chance.choice(self._everyone).land_late()
            self._storm.land()
        else:
            self._time_passes((1, 20, 61, 1_900, 3_700))

    def _say(self, tenant: str | None = None) -> None:
        client = self._chance.choice([c for c in self._clients if tenant in (None, c.who.tenant)])
        tool, given = client.next()
        for _ in range(REPEATS):
            operation = self._call(client.who, tool, given)
            if operation is None:
                return
            self._board.learn(operation)
            answer = operation.answer
            if answer is None:
                if self._chance.random() < 0.3:
                    return
            elif not answer.get("retryable") or self._chance.random() < 0.1:
                return

    def _call(self, who: Who, tool: str, given: Json) -> Operation | None:
        process = self._idle()
        if process is None:
            return None
        began = self._recorder.tick()
        answer = _walk(process, who, given) if tool == "list_memories" else process.call(who, tool, given)
        self._check_form(answer, tool)
        return self._recorder.note(process.name, who, tool, given, began, answer)

    def _keep_up(self, tenant: str | None = None) -> None:
        process = self._idle()
        if process is None:
            return
        tenant = tenant or self._chance.choice(TENANTS)
        services = process.services
        work: tuple[Callable[[], object], ...] = (
            lambda: self._deliver(process),
            lambda: services.upkeep.index(tenant),
            lambda: services.upkeep.run(tenant),
            lambda: services.rebuilding.run(tenant),
            lambda: services.dispatch.run(everyone=self._chance.random() < 0.5),
        )
        self._check_form(process.keep_up(self._chance.choices(work, (6, 2, 2, 1, 1))[0]), "upkeep")

    def _deliver(self, process: Process) -> None:
        """A batch of events, some of them twice; some are lost. What was not done comes again, in another order."""
        taken = [self._queue.pop(self._chance.randrange(len(self._queue))) for _ in self._queue[:3]]
        kept = [key for key in taken if self._chance.random() < 0.9]
        self._lost += [key for key in taken if key not in kept]
        messages = [[record_of(key)] * self._chance.randint(1, 2) for key in kept]
        failed = [f"m{number}" for number in range(len(kept))]
        try:
            answer = process.handle(batch_of(*messages))
            failed = [one["itemIdentifier"] for one in answer["batchItemFailures"]]
        finally:
            self._queue += [key for number, key in enumerate(kept) if f"m{number}" in failed]

    def _idle(self) -> Process | None:
        for number, process in enumerate(self._processes):
            if process.dead and not process.busy:
                self._processes[number] = self._start()
        idle = [process for process in self._processes if not process.busy]
        return self._chance.choice(idle) if idle else None

    def _start(self) -> Process:
        number = len(self._everyone)
        offset = timedelta(seconds=self._chance.choice(CLOCKS))
        process = Process(
            f"process {number}",
            self._world.state.inner,
            self._world.index.inner,
            SkewedClock(self._world.clock, offset),
            self._decide,
            self.result.seed * 1_000 + number,
        )
        self._everyone.append(process)
        return process

    def _decide(self, _: Process, store: FaultyStore, request: Request) -> Fault | Action | None:
        return self._storm.decide(store, request, self._between)

    def _between(self, request: Request) -> None:
        """What others do while this request is on its way: mostly to the same tenant."""
        if self._depth >= DEPTH or len(self._recorder.operations) > OPERATIONS_MOST:
            return
        self._depth += 1
        tenant = next((part for part in request.key.split("/") if part in TENANTS), None)
        for kind in self._chance.choices("say keep pass".split(), self._mix, k=self._chance.randint(1, 4)):
            if kind == "say":
                self._say(tenant)
            elif kind == "keep":
                self._keep_up(tenant)
            else:
                self._time_passes(self._jumps)
        self._depth -= 1

    def _time_passes(self, seconds: Sequence[int]) -> None:
        self._world.clock.advance(timedelta(seconds=self._chance.choice(seconds)))

    def _check_form(self, answer: Json | None, tool: str) -> None:
        if answer is not None:
            raised = answer.get("error") == "raised"
            self.result.check("P-SILENT-NEVER", not raised, f"{tool} raised {answer.get('message')}")

    # The reckoning.

    def reckon(self) -> None:
        """Without faults: everything that is late lands, and everything is asked for and compared."""
        self._storm.over = True
        for process in self._everyone:
            process.land_late()
        self._storm.land()
        self._milestone(SETTLED)
        self._processes = [self._start()]
        unmarked = {tenant for tenant in TENANTS if self._unmarked(tenant)}
        self._fold()
        from_tail = self._inspected()
        self._converge()
        self._milestone(INDEXED)
        from_index = self._inspected()
        self._compare("P-IDEMPOTENT", from_tail, from_index, "after indexing", but=unmarked)
        # What was counted before it was indexed is shown by the next fold.
        self._fold()
        from_index = self._inspected()
        for tenant in TENANTS:
            self._lose_index(tenant)
            rebuilding = self._processes[0].services.rebuilding
            self._processes[0].keep_up(partial(rebuilding.run, tenant))
        self._compare("P-TRUTH", from_index, self._inspected(), "after the index was lost and rebuilt")
        verdict = judge(self._recorder.operations)
        self.result.checked += verdict.checked
        self.result.violations += map(str, verdict.violations)
        self.result.operations = len(self._recorder.operations)
        self.result.faults = self._storm.met

    def _milestone(self, name: str) -> None:
        self._recorder.note("all", CALLERS[0], name, {}, self._recorder.tick(), {})

    def _inspected(self) -> Inspection:
        self._processes = [self._start()]
        seen = []
        for who in CALLERS:
            for tool, given in inspection(who, self._board):
                operation = self._call(who, tool, given)
                assert operation is not None
                degraded = operation.answered.get("freshness", {}).get("degraded", False)
                self.result.check("P-TRUTH", not degraded, f"{operation} is degraded, and nothing is missing")
                seen.append((operation, _lasting(operation.answered)))
        return seen

    def _compare(
        self, promise: str, before: Inspection, after: Inspection, when: str, but: Collection[str] = ()
    ) -> None:
        for (operation, first), (_, second) in zip(before, after, strict=True):
            if operation.who.tenant in but:
                continue
            lost = [row for row in first if row not in second]
            new = [row for row in second if row not in first]
            what = f"{operation.who} {operation.tool} {operation.given} {when}"
            self.result.check(promise, first == second, f"{what}: {lost} became {new}, of {len(first)} rows")

    def _unmarked(self, tenant: str) -> set[str]:
        """Ids whose last write has no marker and is not indexed: only an event tells of it, and nobody was told."""
        truth, shown = truth_of(self._world, tenant), shown_by_index(self._world, tenant)
        marked = [marker.partition("~") for marker in markers_of(self._world, tenant)]
        found = {
            memory_id
            for memory_id, (revision, *_) in truth.items()
            if shown.get(memory_id, ("",))[0] < revision
            and not any(name == memory_id and seen >= revision for seen, _, name in marked)
        }
        told = {self._board.ids.get((o.who.tenant, o.given.get("content", ""))) for o in self._unanswered()}
        told |= {o.given.get("id") for o in self._unanswered()}
        told |= {older for o in self._unanswered() for older in o.given.get("supersedes", ())}
        for memory_id in found & set(self._board.known(tenant)):
            self.result.check(
                "P-READ-YOUR-WRITES", memory_id in told, f"{memory_id} has no marker, and all was answered"
            )
        return found

    def _unanswered(self) -> list[Operation]:
        return [
            o
            for o in self._recorder.operations
            if o.answer is None or o.answer.get("written") in (True, "unknown")
        ]

    def _converge(self) -> None:
        """The indexer runs until nothing is left to do, hours later."""
        # Until maintenance sweeps, an event that is lost for good needs a rebuild.
        self._queue += self._lost
        while self._queue:
            self._lost = []
            self._processes[0].keep_up(lambda: self._deliver(self._processes[0]))
            self._queue += self._lost
        for minutes in (2, 70, 70, 70, 2):
            for tenant in TENANTS:
                process = self._processes[0]
                done = process.keep_up(partial(process.services.upkeep.run, tenant))
                self.result.check("P-IDEMPOTENT", done == {}, f"upkeep of {tenant} without faults: {done}")
            self._world.clock.advance(timedelta(minutes=minutes))
        for tenant in TENANTS:
            truth, shown = truth_of(self._world, tenant), shown_by_index(self._world, tenant)
            self.result.check("P-TRUTH", truth == shown, f"{tenant}: truth {truth}, index {shown}")
            markers = markers_of(self._world, tenant)
            self.result.check("P-IDEMPOTENT", not markers, f"{tenant}: markers left {sorted(markers)}")

    def _fold(self) -> None:
        """Counts that a fold in the storm began with are shown by the index, as far as there is one."""
        for tenant in TENANTS:
            process = self._processes[0]
            process.keep_up(partial(process.services.sleeping.run, tenant, (FOLD,)))

    def _lose_index(self, tenant: str) -> None:
        for page in self._world.index.inner.list(keys.index_of(tenant)):
            for entry in page.entries:
                self._world.index.inner.delete(entry.key)


def _walk(process: Process, who: Who, given: Json) -> Json | None:
    """A whole list; None where the process died on the way."""
    died: list[bool] = []

    def page(tool: str, arguments: Json) -> Json:
        answer = process.call(who, tool, arguments)
        died.append(answer is None)
        return {"error": "died"} if answer is None else answer

    answer = walk(page, given)
    return None if died[-1] else answer


def _lasting(answer: Json) -> list[Json]:
    """What of an answer must not change by itself: not its age, nor how fresh the index is."""
    rows = [row for name in ("memories", "hits") for row in answer.get(name, [])]
    rows += [answer["memory"]] if "memory" in answer else []
    lasting = [{name: value for name, value in row.items() if name not in OF_ITS_OWN_AGE} for row in rows]
    return [*lasting, {"totals": answer.get("totals"), "error": answer.get("error")}]
