"""No alarm and no graph waits for a metric that nobody writes: the functions run, and what they write is compared."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.handler import Indexer
from indexer.journal import Journal as IndexerJournal
from infra.constructs.alarms import COUNTED, NAMESPACE
from infra.constructs.dashboard import INDEX_AGE, WRITTEN
from lodestore.adapters.system_clock import SystemClock
from lodestore.bootstrap import NO_EMBEDDER, Lodestore, assemble
from lodestore.services.counters import Counters
from lodestore.services.misconfigured import misconfigured_line
from lodestore.settings import parse_settings
from maintenance.handler import Maintenance
from maintenance.journal import Journal as MaintenanceJournal
from mcp_server.endpoint import Endpoint
from mcp_server.observability import Observer
from tests.faults.hostile_store import Fault, on
from tests.handlers.wire import LOCAL, call, event
from tests.infra.synthesised import resources
from tests.services.world import ListedQueue, SeededEntropy, World

BY_TOOL = ("Latency", "Requests", "StorageRequests", "RequestCostMicroUsd")


class Deployed:
    """The three handlers over one world, with the metrics that each wrote."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.lines: dict[str, io.StringIO] = {}
        self.log = io.StringIO()
        self._endpoint: Endpoint | None = None

    def process(self, counters: Counters) -> Lodestore:
        made = assemble(
            parse_settings({"TENANT": "acme"}),
            self.world.state,
            self.world.index,
            clock=self.world.clock,
            entropy=SeededEntropy(len(self.lines)),
            meter=counters,
            embedder=NO_EMBEDDER,
            queue=self.world.queue,
        )
        self.world._instances.append(made)
        return made

    def serve(self, tool: str, **arguments: object) -> None:
        if self._endpoint is None:
            counters, out = Counters(), self.lines.setdefault("mcp_server", io.StringIO())
            observer = Observer(clock=SystemClock(), counters=counters, log=io.StringIO(), metrics=out)
            self._endpoint = Endpoint(self.process(counters), observer)
        self._endpoint(event(headers=LOCAL, body=json.dumps(call(tool, arguments))))

    def index(self, memory_id: str) -> None:
        counters, out = Counters(), self.lines.setdefault("indexer", io.StringIO())
        key = {"s3": {"bucket": {"name": "folder"}, "object": {"key": f"memories/acme/{memory_id}.json"}}}
        journal = IndexerJournal(clock=SystemClock(), log=io.StringIO(), metrics=out, counters=counters)
        message = {
            "messageId": "m",
            "body": json.dumps({"Records": [key]}),
            "attributes": {"SentTimestamp": str(int(self.world.clock.now().timestamp() * 1000) - 1500)},
        }
        Indexer(self.process(counters), journal)({"Records": [message]})

    def maintain(self, sent: object) -> None:
        counters, out = Counters(), self.lines.setdefault("maintenance", io.StringIO())
        journal = MaintenanceJournal(clock=SystemClock(), log=self.log, metrics=out, counters=counters)
        Maintenance(self.process(counters), journal)(sent)

    def written(self) -> dict[str, set[str]]:
        """The names of the metrics of each service, with the dimensions that alarms and graphs name."""
        names: dict[str, set[str]] = {}
        for service, out in self.lines.items():
            for line in map(json.loads, out.getvalue().splitlines()):
                (described,) = line["_aws"]["CloudWatchMetrics"]
                assert (described["Namespace"], line["service"]) == (NAMESPACE, service)
                alone = described["Dimensions"] == [["service"]]
                found = {metric["Name"] for metric in described["Metrics"]}
                names.setdefault(service if alone else f"{service} by tool", set()).update(found)
        # A count of nothing is logged and no metric; it is written under the same name once it is more.
        for line in map(json.loads, self.log.getvalue().splitlines()):
            names["maintenance"].update(line["counts"])
        return names


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    world = World(tmp_path)
    world.queue = ListedQueue()
    yield Deployed(world)
    world.close()


@pytest.mark.promise("P-SILENT-NEVER")
def test_every_metric_of_an_alarm_or_a_graph_is_written_by_its_function(deployed: Deployed) -> None:
    world = deployed.world
    world.state.inject(on(Fault.CONTENDED, "create", "memories/acme/*"))
    deployed.serve("remember", content="the office is in Oslo", id="office")
    world.state.inject(on(Fault.UNKNOWN_AFTER, "replace", "memories/acme/*"))
    deployed.serve("update_memory", id="office", content="the office is in Bergen")
    deployed.serve("remember", content="the office is in Oslo", id="office")
    world.index.inject(on(Fault.CONTENDED, "create", "index/acme/manifest.json"))
    world.index.inject(on(Fault.LOST, "create", "index/acme/manifest.json"))
    deployed.index("office")
    world.index.inject(on(Fault.UNAVAILABLE, "list", "pending/*"))
    deployed.index("office")
    for _ in range(2):
        deployed.serve("recall", query="office")
    deployed.maintain({"task": "dispatch", "all": True})
    queue = world.queue
    assert queue is not None
    messages = [{"messageId": "m", "body": body} for body in queue.take()]
    deployed.maintain({"Records": [*messages, {"messageId": "none", "body": ""}]})
    written = deployed.written()
    for _, service, names in WRITTEN:
        assert set(names) <= written[service]
    assert INDEX_AGE in written["indexer"]
    assert set(BY_TOOL) <= written["mcp_server by tool"]
    alarmed = {(service, name) for name, services in COUNTED.values() for service in services}
    alarmed.add(("maintenance", "dispatches_whole"))
    for service, name in alarmed - {(s, "misconfigured") for s in written}:
        assert name in written[service]
    line = json.loads(misconfigured_line("indexer", "STORE is missing", SystemClock().now()))
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert (described["Namespace"], described["Dimensions"]) == (NAMESPACE, [["service"]])


def test_how_old_a_change_was_when_the_index_showed_it_is_measured(deployed: Deployed) -> None:
    deployed.index("never-was")
    (line,) = map(json.loads, deployed.lines["indexer"].getvalue().splitlines())
    assert line[INDEX_AGE] == [1.5]


def test_what_a_tool_asks_of_storage_is_counted_for_it(deployed: Deployed) -> None:
    deployed.serve("remember", content="the office is in Oslo")
    (line,) = [
        line
        for line in map(json.loads, deployed.lines["mcp_server"].getvalue().splitlines())
        if "StorageRequests" in line
    ]
    assert (line["operation"], line["StorageRequests"]) == ("remember", [2.0])
    assert line["RequestCostMicroUsd"] == [10.0]


def test_the_dashboard_is_a_setting_that_prod_has_on() -> None:
    assert len(list(resources("prod", "Service", "AWS::CloudWatch::Dashboard"))) == 1
    assert not list(resources("dev", "Service", "AWS::CloudWatch::Dashboard"))
