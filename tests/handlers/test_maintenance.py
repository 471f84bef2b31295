"""The maintenance handler: a report of what waits, which says what this version does and does not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lodestore.errors import InvalidArgument
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services import backlog
from maintenance.handler import Maintenance
from tests.faults.hostile_store import Fault, on
from tests.services.world import World

DISPATCH = {"task": "dispatch"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def maintenance(world: World, log: io.StringIO) -> Maintenance:
    return Maintenance(world.instance().lodestore, log)


def test_the_report_counts_what_waits_for_each_tenant(world: World, maintenance: Maintenance) -> None:
    acme, corp = world.instance("acme"), world.instance("acme-corp")
    first = acme.stored("Nora leads QA")
    acme.call("forget", id=first)
    corp.stored("The office is in Oslo")
    report = json.loads(json.dumps(maintenance(DISPATCH)))
    assert report["tenants"] == [
        {"tenant": "acme", "pending": 2, "complete": True},
        {"tenant": "acme-corp", "pending": 1, "complete": True},
    ]
    assert (report["pending"], report["complete"]) == (3, True)
    assert report["at"] == "2026-03-09T01:30:00.000Z"


def test_the_report_says_which_steps_there_are_and_which_not_yet(maintenance: Maintenance) -> None:
    report = maintenance(DISPATCH)
    assert report["steps_done"] == ["report"]
    assert "consolidate" in str(report["steps_not_in_this_version"])


def test_a_run_changes_nothing(world: World, maintenance: Maintenance) -> None:
    world.instance("acme").stored("Nora leads QA")
    world.state.reset()
    world.index.reset()
    maintenance(DISPATCH)
    assert world.state.requests == ()
    assert not [request for request in world.index.requests if request.writes]


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.promise("P-SILENT-NEVER")
def test_counts_beyond_the_limits_are_cut_and_said_to_be(
    world: World, maintenance: Maintenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenant in ("acme", "bolt", "cask"):
        for number in range(3):
            world.instance(tenant).stored(f"statement {number}")
    monkeypatch.setattr(backlog, "MARKERS_MOST", 2)
    monkeypatch.setattr(backlog, "TENANTS_MOST", 2)
    report = maintenance(DISPATCH)
    assert report["tenants"] == [
        {"tenant": "acme", "pending": 2, "complete": False},
        {"tenant": "bolt", "pending": 2, "complete": False},
    ]
    assert report["complete"] is False


@pytest.mark.parametrize("event", [None, {}, {"task": "destroy"}, {"task": 7}, [], "dispatch"])
def test_an_unknown_task_is_refused_by_name(maintenance: Maintenance, event: object) -> None:
    with pytest.raises(InvalidArgument) as refused:
        maintenance(event)
    assert refused.value.field == "task"


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_store_that_does_not_answer_fails_the_run(world: World, maintenance: Maintenance) -> None:
    world.index.inject(on(Fault.UNAVAILABLE, "list"))
    with pytest.raises(StoreUnavailable):
        maintenance(DISPATCH)


@pytest.mark.promise("P-UNTRUSTED")
def test_the_log_holds_counts_and_no_tenant(world: World, maintenance: Maintenance, log: io.StringIO) -> None:
    world.instance("acme").stored("Nora leads QA")
    maintenance(DISPATCH)
    assert json.loads(log.getvalue())["counts"] == {"tenants": 1, "pending": 1, "complete": True}
    assert "acme" not in log.getvalue()
