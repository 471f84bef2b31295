"""The maintenance handler between a schedule, its queue and Lambda: forms of events, time, and wrong settings."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lodestore.adapters.system_clock import SystemClock
from lodestore.errors import InvalidArgument, SettingsError
from lodestore.format.upkeep_tasks import decode_task
from lodestore.services.events import key_digest
from maintenance import handler as maintenance_module
from maintenance.handler import MESSAGES_MOST, RESERVE_SECONDS, Maintenance
from maintenance.journal import Journal
from tests.faults.hostile_store import Fault, on
from tests.services.index_truth import shown_by_index, truth_of
from tests.services.world import ListedQueue, World

DISPATCH = {"task": "dispatch"}


class Context:
    """The part of Lambda's context that is read."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


class Deployed:
    """The handler over a world with a queue, and what it wrote down."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.queue = world.queue = ListedQueue()
        self.log, self.metrics = io.StringIO(), io.StringIO()

    def __call__(self, event: object, seconds: float = 900.0) -> dict[str, object]:
        # Powertools takes no metric of another year.
        journal = Journal(clock=SystemClock(), log=self.log, metrics=self.metrics)
        return Maintenance(self.world.instance().lodestore, journal)(event, Context(seconds))

    def batch(self) -> dict[str, object]:
        """What is on the queue, as Lambda hands it over."""
        records = [{"messageId": f"m{n}", "body": body} for n, body in enumerate(self.queue.take())]
        return {"Records": records}

    def written(self) -> dict[str, float]:
        """The metrics of the last invocation."""
        last = json.loads(self.metrics.getvalue().splitlines()[-1])
        return {name: value[0] for name, value in last.items() if isinstance(value, list)}


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    world = World(tmp_path)
    yield Deployed(world)
    world.close()


def test_a_schedules_event_becomes_a_message_for_each_tenant_and_the_messages_are_worked_on(
    deployed: Deployed,
) -> None:
    for tenant in ("acme", "bolt"):
        deployed.world.instance(tenant).stored("the office is in Oslo")
    answer = deployed(DISPATCH)
    assert (answer["complete"], answer["tenants_queued"], answer["tenants_not_queued"]) == (True, 2, 0)
    # Zeros are no metrics: each would cost by the month.
    assert deployed.written() == {"dispatches_whole": 1.0, "tenants_queued": 2.0}
    assert deployed(deployed.batch()) == {"batchItemFailures": []}
    assert shown_by_index(deployed.world, "bolt") == truth_of(deployed.world, "bolt")
    assert deployed.written()["sleeps_whole"] == 2.0
    assert "sleeps_failed" not in deployed.written()
    assert deployed.written()["requests"] > 0
    assert "acme" not in deployed.log.getvalue() + deployed.metrics.getvalue()


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_message_that_fails_comes_again_and_its_tenant_is_logged_by_digest(deployed: Deployed) -> None:
    deployed.world.instance("acme").stored("the office is in Oslo")
    deployed(DISPATCH)
    deployed.world.state.inject(on(Fault.UNAVAILABLE, "get", "memories/acme/*", times=None))
    assert deployed(deployed.batch()) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    line = json.loads(deployed.log.getvalue().splitlines()[-1])
    assert line["failed"] == [{"tenant": key_digest("acme"), "error": "StoreUnavailable"}]
    assert deployed.written()["sleeps_failed"] == 1.0


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_invocation_near_its_end_hands_its_messages_on_instead_of_being_cut(deployed: Deployed) -> None:
    deployed.world.instance("acme").stored("the office is in Oslo")
    deployed(DISPATCH)
    before = list(deployed.queue.messages)
    assert deployed(deployed.batch(), seconds=RESERVE_SECONDS) == {"batchItemFailures": []}
    assert deployed.queue.messages == before
    assert deployed.written()["handed_on"] == 1.0


def test_everyone_is_compared_once_a_week(deployed: Deployed) -> None:
    deployed.world.instance("acme").stored("the office is in Oslo")
    deployed(DISPATCH)
    deployed(deployed.batch())
    deployed.world.index.inner.delete("pending/acme/none")
    deployed({"task": "dispatch", "all": True})
    assert [decode_task(text).tenant for text in deployed.queue.messages] == ["acme"]


@pytest.mark.parametrize(
    ("records", "field"),
    [
        ("none", "Records"),
        ([{"messageId": "m", "body": ""}] * (MESSAGES_MOST + 1), "Records"),
        ([{"body": "{}"}], "Records.messageId"),
        ([7], "Records.messageId"),
    ],
)
def test_a_batch_that_is_none_is_refused_by_name(deployed: Deployed, records: object, field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        deployed({"Records": records})
    assert refused.value.field == field


def test_a_message_without_a_body_comes_again_and_is_counted(deployed: Deployed) -> None:
    assert deployed({"Records": [{"messageId": "m0"}]}) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert deployed.written()["messages_invalid"] == 1.0


def test_a_message_for_a_process_without_a_queue_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    world = World(tmp_path)
    journal = Journal(clock=world.clock, log=io.StringIO(), metrics=None)
    with pytest.raises(InvalidArgument) as refused:
        Maintenance(world.instance().lodestore, journal)({"Records": []})
    assert "MAINTENANCE_QUEUE_URL" in refused.value.next_step
    world.close()


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_function_with_wrong_settings_refuses_in_one_line_and_loses_no_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = {"AWS_LAMBDA_FUNCTION_NAME": "maintenance", "AUTH": "keys"}
    monkeypatch.setattr(maintenance_module, "environment", lambda: variables)
    maintenance_module._maintenance.cache_clear()
    try:
        batch = {"Records": [{"messageId": "m0", "body": "{}"}, {"messageId": "m1", "body": "{}"}]}
        answer = maintenance_module.handler(batch)
        with pytest.raises(SettingsError, match="STORE is missing"):
            maintenance_module.handler(DISPATCH)
    finally:
        maintenance_module._maintenance.cache_clear()
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2
    assert all(line["reason"].startswith("STORE is missing") for line in lines)
    assert lines[0]["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [{"Name": "misconfigured", "Unit": "Count"}]
