"""The maintenance handler: a report of what waits, which says what this version does and does not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.errors import InvalidArgument
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services import dispatch
from lodestore.services.events import key_digest
from lodestore.services.upkeep_steps import STEPS
from maintenance.handler import Maintenance
from maintenance.journal import Journal
from tests.faults.hostile_store import Fault, on
from tests.services.world import World

DISPATCH = {"task": "dispatch"}


def maintenance_of(world: World, log: io.StringIO, metrics: io.StringIO | None = None) -> Maintenance:
    """The handler over a fresh process of this world."""
    return Maintenance(world.instance().lodestore, Journal(clock=world.clock, log=log, metrics=metrics))


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
    return maintenance_of(world, log)


def test_the_report_says_what_was_done_for_each_tenant(world: World, maintenance: Maintenance) -> None:
    acme, corp = world.instance("acme"), world.instance("acme-corp")
    first = acme.stored("Nora leads QA")
    acme.call("forget", id=first)
    corp.stored("The office is in Oslo")
    report = json.loads(json.dumps(maintenance(DISPATCH)))
    assert [(done["tenant"], done["pending"]) for done in report["tenants"]] == [
        ("acme", 2),
        ("acme-corp", 1),
    ]
    assert (report["complete"], report["tenants_left"], report["failed"]) == (True, 0, [])
    assert report["at"] == "2026-03-09T01:30:00.000Z"
    assert corp.call("memory_stats")["pending"] == 0
    assert corp.hits("office") == ["The office is in Oslo"]


def test_the_report_says_which_steps_there_are_and_which_not_yet(maintenance: Maintenance) -> None:
    report = maintenance(DISPATCH)
    assert report["steps_done"] == list(STEPS)
    assert "consolidate" in str(report["steps_done"])


@pytest.mark.promise("P-TRUTH")
def test_a_run_changes_nothing_of_the_truth(world: World, maintenance: Maintenance) -> None:
    world.instance("acme").stored("Nora leads QA")
    world.state.reset()
    maintenance(DISPATCH)
    assert not [request for request in world.state.requests if request.writes]


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER")
def test_more_tenants_than_a_run_looks_at_are_said_to_be_left(
    world: World, maintenance: Maintenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenant in ("acme", "bolt", "cask"):
        world.instance(tenant).stored("a statement")
    monkeypatch.setattr(dispatch, "TENANTS_MOST", 2)
    report = maintenance(DISPATCH)
    assert isinstance(report["tenants"], list)
    assert [done["tenant"] for done in report["tenants"]] == ["acme", "bolt"]
    assert report["complete"] is False


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_tenant_that_fails_is_named_and_stops_no_other(world: World, maintenance: Maintenance) -> None:
    world.instance("acme").stored("Nora leads QA")
    world.instance("bolt").stored("The office is in Oslo")
    world.index.inject(on(Fault.UNAVAILABLE, "get", "index/acme/*", times=None))
    report = maintenance(DISPATCH)
    assert report["failed"] == [{"tenant": "acme", "error": "StoreUnavailable"}]
    assert [done["tenant"] for done in report["tenants"]] == ["bolt"]  # type: ignore[attr-defined]
    assert report["complete"] is False


def test_markers_go_and_an_idle_tenant_is_left_alone(world: World, maintenance: Maintenance) -> None:
    world.instance("acme").stored("Nora leads QA")
    maintenance(DISPATCH)
    world.clock.advance(timedelta(minutes=5))
    (tenant,) = json.loads(json.dumps(maintenance(DISPATCH)))["tenants"]
    assert tenant["markers_deleted"] == 1
    world.state.reset()
    world.index.reset()
    assert maintenance(DISPATCH)["tenants"] == []
    assert world.state.requests == ()
    assert [request.operation for request in world.index.requests] == ["list", "list", "list"]


def test_everyone_is_looked_at_when_the_event_says_so(world: World, maintenance: Maintenance) -> None:
    world.instance("acme").stored("Nora leads QA")
    for _ in range(2):
        maintenance(DISPATCH)
        world.clock.advance(timedelta(minutes=5))
    assert maintenance(DISPATCH)["tenants"] == []
    assert len(json.loads(json.dumps(maintenance(DISPATCH | {"all": True})))["tenants"]) == 1


@pytest.mark.promise("P-UNTRUSTED")
def test_the_log_names_a_tenant_that_failed_by_digest(
    world: World, maintenance: Maintenance, log: io.StringIO
) -> None:
    world.instance("acme").stored("Nora leads QA")
    world.state.inject(on(Fault.UNAVAILABLE, "get", "memories/acme/*"))
    maintenance(DISPATCH)
    line = json.loads(log.getvalue())
    assert (line["level"], line["counts"]["tenants_failed"]) == ("WARNING", 1)
    assert line["failed"] == [{"tenant": key_digest("acme"), "error": "StoreUnavailable"}]
    assert "acme" not in log.getvalue()


@pytest.mark.parametrize("everyone", ["yes", 1, None])
def test_a_form_of_the_event_that_is_not_known_is_refused_by_name(
    maintenance: Maintenance, everyone: object
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        maintenance({"task": "dispatch", "all": everyone})
    assert refused.value.field == "all"


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
    counts = json.loads(log.getvalue())["counts"]
    assert (counts["tenants"], counts["pending"]) == (1, 1)
    assert "acme" not in log.getvalue()
