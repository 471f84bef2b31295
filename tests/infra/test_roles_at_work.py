"""Each function does its whole work with what its synthesised role allows: no tool, step or event meets a denial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.caller import Role
from lodestore.errors import LodestoreError
from lodestore.format import keys
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.tool_schemas import SCHEMAS
from lodestore.services.upkeep_batch import Message
from tests.faults.hostile_store import FaultyStore
from tests.infra.authorised_store import AuthorisedStore
from tests.infra.iam_evaluator import FUNCTIONS, Policy
from tests.services.index_truth import shown_by_index, truth_of
from tests.services.world import Instance, ListedQueue, World
from tests.services.world import rows as rows_of

ENVIRONMENT = "prod"
TOUCHED: Mapping[str, Mapping[str, object]] = {
    "remember": {"content": "the printer is on floor 3", "ttl_days": 2},
    "recall": {"query": "where is the office"},
    "memory_context": {"query": "office"},
    "list_memories": {},
    "memory_stats": {},
    "list_proposals": {},
}


class Deployment:
    """One world as its three functions see it, each through its own role."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self.queue = self.world.queue = ListedQueue()
        self.denied: list[str] = []
        self._whole = (self.world.state, self.world.index)

    def as_function(self, name: str) -> Instance:
        """A fresh process of the function, called by an admin of acme."""
        policy = Policy(ENVIRONMENT, name)
        state, index = self._whole
        self.world.state = FaultyStore(AuthorisedStore(state, policy, "state", self.denied))
        self.world.index = FaultyStore(AuthorisedStore(index, policy, "index", self.denied))
        try:
            return self.world.instance("acme")
        finally:
            self.world.state, self.world.index = self._whole

    def index(self) -> None:
        """An event's run of the indexer."""
        self.as_function("indexer").lodestore.upkeep.index("acme")

    def sleep(self) -> None:
        """A weekly run: the dispatcher, and then the worker on what it queued."""
        self.as_function("maintenance").lodestore.dispatch.queue(self.queue, everyone=True)
        batch = self.as_function("maintenance").lodestore.upkeep_batch
        assert batch is not None
        messages = [Message(f"m{n}", body) for n, body in enumerate(self.queue.take())]
        done = batch.work(messages, lambda: True)
        assert not done.repeat


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployment]:
    deployment = Deployment(tmp_path)
    yield deployment
    deployment.world.close()


def test_every_tool_has_the_rights_that_it_needs(deployed: Deployment) -> None:
    served = deployed.as_function("mcp_server")
    first = served.stored("the office is in Oslo")
    other = served.stored("the office is in Bergen", supersedes=[first])
    deployed.index()
    called: set[str] = set()
    for tool, arguments in TOUCHED.items():
        if tool in SCHEMAS:
            served.call(tool, **arguments)
            called.add(tool)
    served.call("get_memory", id=other, history=True)
    served.call("update_memory", id=other, content="the office is in Bergen now")
    served.call("memory_feedback", id=other, useful=True)
    served.call("forget", id=other)
    served.call("restore_memory", id=other)
    served.call("maintain", dry_run=True)
    served.call("maintain")
    called |= {"get_memory", "update_memory", "memory_feedback", "forget", "restore_memory", "maintain"}
    assert deployed.denied == []
    # A tool that comes later has to be called here, or its rights are guessed; these need a proposal or an undo record.
    assert set(SCHEMAS) - called <= {"decide_proposal", "undo"}


def test_a_dry_run_of_maintenance_reads_all_that_it_needs(deployed: Deployment) -> None:
    served = deployed.as_function("mcp_server")
    gone = served.stored("the badge is 4471", ttl_days=1)
    served.stored("the office is in Oslo")
    served.call("forget", id=gone)
    deployed.index()
    deployed.sleep()
    deployed.world.clock.advance(timedelta(days=2))
    report = served.call("maintain", dry_run=True)
    assert {str(step["status"]) for step in rows_of(report, "steps")} <= {"done", "skipped"}
    assert deployed.denied == []


def test_the_indexer_and_maintenance_have_the_rights_for_a_whole_life(deployed: Deployment) -> None:
    served = deployed.as_function("mcp_server")
    gone = served.stored("the badge is 4471")
    passing = served.stored("the meeting is at noon", ttl_days=1)
    for number in range(12):
        served.stored(f"statement {number} about the office")
        deployed.index()
    served.call("memory_feedback", id=gone, useful=True)
    served.call("forget", id=gone)
    for _ in range(4):
        deployed.index()
        deployed.sleep()
        deployed.world.clock.advance(timedelta(hours=26))
    assert deployed.denied == []
    assert shown_by_index(deployed.world) == truth_of(deployed.world)
    assert len(list(deployed.world.state.inner.versions(keys.memory("acme", gone)))) == 1
    assert passing not in served.listed()


@pytest.mark.promise("P-FORGOTTEN")
def test_an_indexer_that_has_to_rebuild_writes_no_memory_and_maintenance_settles_what_a_hand_restored(
    deployed: Deployment,
) -> None:
    served = deployed.as_function("mcp_server")
    gone = served.stored("the badge is 4471")
    served.stored("the office is in Oslo")
    state = deployed.world.state.inner
    before = state.get(keys.memory("acme", gone))
    served.call("forget", id=gone)
    deployed.index()
    stub = state.get(keys.memory("acme", gone))
    state.replace(keys.memory("acme", gone), before.body, expected=stub.etag)  # type: ignore[union-attr]
    deployed.world.index.inner.delete(keys.manifest("acme"))
    deployed.index()
    assert deployed.denied == []
    assert served.hits("badge") == []
    deployed.sleep()
    assert deployed.denied == []
    assert b"forgotten" in state.get(keys.memory("acme", gone)).body  # type: ignore[union-attr]


@pytest.mark.promise("P-TENANT")
def test_the_gate_may_read_keys_and_no_function_may_write_one(deployed: Deployment) -> None:
    for function in FUNCTIONS:
        lodestore = deployed.as_function(function).lodestore
        with pytest.raises((LodestoreError, StoreUnavailable)):
            lodestore.access.issue_key(["acme"], Role.ADMIN)
    assert len(deployed.denied) == len(FUNCTIONS)
    assert all(line.startswith("PutObject state/access/") for line in deployed.denied)
