"""What one call of each kind asks of S3, keeps there, answers and logs: measured, by running it.

Owns: the runs. Guarantees: requests and bytes are counted at the stores while the real handlers run on the events that
AWS would send, in key mode, with a call after more than a minute each, so that keys and use counts are paid for too;
the same numbers in every run. Gives up: time; the clock stands still while a call runs.
"""

from __future__ import annotations

import io
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.performance.synthetic import TENANT, SyntheticEmbedder, queries, statements
from benchmarks.performance.tenants import SETTLED, Cost, Site, synthetic_segment
from indexer.handler import Indexer
from indexer.journal import Journal as IndexerJournal
from lodestore.adapters.system_clock import SystemClock
from lodestore.bootstrap import Lodestore, assemble
from lodestore.domain.caller import Role
from lodestore.domain.sleep_report import PRICES
from lodestore.format import keys
from lodestore.retrieval.segment_format import encode_segment
from lodestore.settings import parse_settings
from maintenance.handler import Maintenance
from maintenance.journal import Journal as MaintenanceJournal
from mcp_server.endpoint import Endpoint
from mcp_server.observability import Counters, Observer
from tests.handlers.wire import call, post
from tests.services.world import ListedQueue, SeededEntropy

MEMORIES = 1_000
CALLS = 50
APART = timedelta(seconds=61)
_DEAR = max(PRICES.values())


@dataclass(frozen=True, slots=True)
class Measured:
    """One call, the mean of several.

    writes, reads   requests that S3 charges as a PUT, and as a GET
    kept            bytes of the bodies written, of which what replaces something takes its place
    answer, log     bytes that leave the function
    cpu_ms          milliseconds of processor time here, as it happened; no cost is reckoned from it
    """

    name: str
    writes: float
    reads: float
    kept: float
    answer: float
    log: float
    cpu_ms: float

    @property
    def requests(self) -> float:
        """All that are charged."""
        return self.writes + self.reads


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was measured. Bytes of a memory are of its object, and of its share of the index.

    metrics   how many custom metrics all of these calls sent; `metrics_at_rest`: the schedule alone, in every hour
    """

    remember: Measured
    index: Measured
    recall: Measured
    cold: Measured
    hourly: Measured
    weekly: Measured
    idle: Measured
    object_bytes: float
    index_bytes: float
    metrics: int
    metrics_at_rest: int

    @property
    def calls(self) -> Sequence[Measured]:
        """Every kind of call."""
        return (
            self.remember,
            self.index,
            self.recall,
            self.cold,
            self.hourly,
            self.weekly,
            self.idle,
        )


class _StandingClock(SystemClock):
    """Today, for Powertools refuses metrics of another day; no time passes, so that lines are of one length."""

    def elapsed(self) -> float:
        return 0.0


class _Functions:
    """The three functions in one process over a site, and what they wrote to their logs."""

    def __init__(self, site: Site, key: str | None = None) -> None:
        self.site = site
        counters = Counters()
        self._queue = ListedQueue()
        self.core: Lodestore = assemble(
            parse_settings({"AUTH": "keys"}),
            site.state,
            site.index,
            clock=site.clock,
            entropy=SeededEntropy(7),
            meter=counters,
            embedder=SyntheticEmbedder(),
            queue=self._queue,
        )
        self.key = key or self.core.access.issue_key([TENANT], Role.WRITER)
        self.logs: dict[str, io.StringIO] = {
            name: io.StringIO() for name in ("mcp_server", "indexer", "maintenance")
        }
        clock = _StandingClock()
        mcp, indexer, maintenance = self.logs.values()
        observer = Observer(clock=clock, counters=counters, log=mcp, metrics=mcp)
        self._endpoint = Endpoint(self.core, observer)
        self._indexer = Indexer(self.core, IndexerJournal(clock=clock, log=indexer, metrics=indexer))
        self._maintenance = Maintenance(
            self.core, MaintenanceJournal(clock=clock, log=maintenance, metrics=maintenance)
        )

    def tool(self, name: str, **arguments: object) -> str:
        """Call a tool by HTTP; the body of its answer."""
        headers = {"Authorization": f"Bearer {self.key}", "Accept": "application/json"}
        answer = post(self._endpoint, call(name, arguments), **headers)
        assert answer.status == 200
        assert not answer.result.get("isError"), answer.text
        return answer.text

    def index(self, memory_id: str) -> str:
        """The event of one write, as SQS brings it."""
        record = {"s3": {"bucket": {"name": "folder"}, "object": {"key": keys.memory(TENANT, memory_id)}}}
        answer = self._indexer({"Records": [{"messageId": "m", "body": json.dumps({"Records": [record]})}]})
        assert answer == {"batchItemFailures": []}
        return ""

    def dispatch(self, *, everyone: bool = False) -> str:
        """The schedule; a tenant that has something to do gets a message."""
        answer = self._maintenance({"task": "dispatch", "all": everyone})
        assert answer["complete"], answer
        return ""

    def sleep(self) -> str:
        """The one message, as SQS brings it."""
        (body,) = self._queue.take()
        assert self._maintenance({"Records": [{"messageId": "m", "body": body}]}) == {"batchItemFailures": []}
        return ""

    def clear(self) -> None:
        """Forget what was logged."""
        for log in self.logs.values():
            log.truncate(0)
            log.seek(0)

    def metrics(self) -> set[str]:
        """Every custom metric that was sent: its name and dimensions."""
        lines = [line for log in self.logs.values() for line in log.getvalue().splitlines()]
        found = set()
        for sent in (json.loads(line) for line in lines):
            for group in sent.get("_aws", {}).get("CloudWatchMetrics", ()):
                sides = [f"{name}={sent[name]}" for names in group["Dimensions"] for name in names]
                found |= {" ".join([held["Name"], *sorted(sides)]) for held in group["Metrics"]}
        return found


def measure() -> Findings:
    """Run every kind of call in a tenant of 1,000 memories."""
    with TemporaryDirectory() as folder:
        site = Site(Path(folder))
        site.indexed([MEMORIES])
        site.stored(0, MEMORIES)
        functions = _Functions(site)
        asked = queries(MEMORIES, CALLS)
        functions.tool("recall", query=asked[0])
        recall = _measured("recall", functions, [_recalling(functions, query) for query in asked])
        said: list[str] = []
        remember, index = _writes(functions, said)
        cold = _cold(functions, asked[: CALLS // 10])
        hourly, weekly = _sleeps(functions, said)
        before = functions.metrics()
        functions.clear()
        idle = _measured("a run of the schedule with nothing to do", functions, [functions.dispatch])
        found = _sizes(functions, said)
        at_rest = functions.metrics()
        functions.core.workers.shutdown()
        site.close()
    return Findings(
        remember,
        index,
        recall,
        cold,
        hourly,
        weekly,
        idle,
        *found,
        metrics=len(before | at_rest),
        metrics_at_rest=len(at_rest),
    )


def _recalling(functions: _Functions, query: str) -> Callable[[], str]:
    return partial(functions.tool, "recall", query=query, min_score=0)


def _writes(functions: _Functions, said: list[str]) -> tuple[Measured, Measured]:
    """Each write and then its indexing, so that no two share a run of the indexer."""
    writes, runs = [], []
    for text in statements(CALLS):
        writes.append(_once(functions, partial(functions.tool, "remember", content=text)))
        said.append(json.loads(writes[-1].answer)["result"]["structuredContent"]["id"])
        runs.append(_once(functions, lambda: functions.index(said[-1])))
    return _mean("remember", writes), _mean("its share of the indexer, alone in a batch", runs)


def _cold(functions: _Functions, asked: Sequence[str]) -> Measured:
    """The first recall of a process that holds nothing."""
    runs = []
    for query in asked:
        fresh = _Functions(functions.site, functions.key)
        runs.append(_once(fresh, _recalling(fresh, query)))
        fresh.core.workers.shutdown()
    return _mean("recall, by a new instance", runs)


def _sleeps(functions: _Functions, said: Sequence[str]) -> tuple[Measured, Measured]:
    """A tenant's sleep after a write, and the weekly one in which all of it is compared."""

    def write() -> None:
        functions.tool("remember", content=f"One more: {said[-1]} {functions.site.clock.now()}")

    def slept(*, everyone: bool = False) -> _Once:
        functions.site.clock.advance(SETTLED)
        functions.dispatch(everyone=everyone)
        return _once(functions, functions.sleep)

    slept(everyone=True)
    hourly = []
    for _ in range(CALLS // 10):
        write()
        hourly.append(slept())
    write()
    weekly = slept(everyone=True)
    # The markers of the last write are due now.
    slept()
    return _mean("a tenant's sleep after a change", hourly), _mean("its weekly sleep", [weekly])


def _sizes(functions: _Functions, said: Sequence[str]) -> tuple[float, float]:
    bodies = [functions.site.state.get(keys.memory(TENANT, memory_id)) for memory_id in said]
    sizes = [len(found.body) for found in bodies if hasattr(found, "body")]
    assert len(sizes) == len(said)
    return sum(sizes) / len(sizes), len(encode_segment(synthetic_segment(0, MEMORIES))) / MEMORIES


@dataclass(frozen=True, slots=True)
class _Once:
    cost: Cost
    answer: str
    log: int
    cpu: float


def _once(functions: _Functions, run: Callable[[], str]) -> _Once:
    functions.site.clock.advance(APART)
    functions.site.begin()
    before = sum(len(log.getvalue()) for log in functions.logs.values())
    begun = time.process_time()
    answer = run()
    cpu = time.process_time() - begun
    log = sum(len(log.getvalue()) for log in functions.logs.values()) - before
    return _Once(functions.site.cost(), answer, log, cpu)


def _measured(name: str, functions: _Functions, runs: Sequence[Callable[[], str]]) -> Measured:
    return _mean(name, [_once(functions, run) for run in runs])


def _mean(name: str, runs: Sequence[_Once]) -> Measured:
    asked = Counter(request.operation for run in runs for request in run.cost.requests)
    dear = sum(count for kind, count in asked.items() if PRICES[kind] == _DEAR)
    cheap = sum(count for kind, count in asked.items() if 0 < PRICES[kind] < _DEAR)
    count = len(runs)
    return Measured(
        name,
        dear / count,
        cheap / count,
        sum(run.cost.sent for run in runs) / count,
        sum(len(run.answer) for run in runs) / count,
        sum(run.log for run in runs) / count,
        sum(run.cpu for run in runs) / count * 1000,
    )
