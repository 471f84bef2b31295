"""The indexer's handler: a whole batch by tenant, one run for each, and only failures reported."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from indexer import handler as indexer_module
from indexer.handler import RESERVE_SECONDS, Indexer
from indexer.journal import Journal
from lodestore.adapters.system_clock import SystemClock
from lodestore.domain.limits import OBJECT_BYTES
from lodestore.format import keys
from lodestore.services.events import NotABatch
from lodestore.services.merge_plan import FAN_IN
from tests.faults.hostile_store import Fault, on
from tests.services.index_truth import shown_by_index, truth_of
from tests.services.world import Instance, World


class Run:
    """An indexer over a world, and what it wrote down."""

    def __init__(self, world: World) -> None:
        self.log = io.StringIO()
        self.metrics = io.StringIO()
        # CloudWatch drops metrics of another day than today, and Powertools warns of it.
        journal = Journal(clock=SystemClock(), log=self.log, metrics=self.metrics)
        self.indexer = Indexer(world.instance().lodestore, journal)

    def __call__(self, *bodies: object) -> list[str]:
        """Handle one batch; the ids of the messages to repeat (`m0`, `m1`, …)."""
        messages = [{"messageId": f"m{n}", "body": json.dumps(body)} for n, body in enumerate(bodies)]
        answer = self.indexer({"Records": messages})
        assert list(answer) == ["batchItemFailures"]
        failures = answer["batchItemFailures"]
        assert isinstance(failures, list)
        return [failure["itemIdentifier"] for failure in failures]

    def line(self) -> dict[str, Any]:
        """The last log line."""
        line: dict[str, Any] = json.loads(self.log.getvalue().splitlines()[-1])
        return line

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = self.line()["counts"]
        return counts


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


@pytest.fixture
def run(world: World) -> Run:
    return Run(world)


def notification(*named: tuple[str, str]) -> dict[str, object]:
    keys_named = [keys.memory(tenant, memory_id) for tenant, memory_id in named]
    return {"Records": [{"s3": {"bucket": {"name": "folder"}, "object": {"key": key}}} for key in keys_named]}


def overwrite(world: World, memory_id: str, body: bytes) -> None:
    """Put other bytes at the key, as a hand or a broken tool might."""
    key = keys.memory("acme", memory_id)
    world.state.replace(key, body, expected=getattr(world.state.get(key), "etag", ""))


def test_a_burst_over_two_tenants_is_one_run_for_each(world: World, acme: Instance, run: Run) -> None:
    one, two = acme.stored("Nora leads QA"), acme.stored("The office is in Oslo")
    other = world.instance("zephyr").stored("Nora leads QA")
    named = [("acme", one), ("zephyr", other), ("acme", two), ("acme", one)]
    assert run(*(notification(name) for name in named)) == []
    for tenant in ("acme", "zephyr"):
        assert shown_by_index(world, tenant) == truth_of(world, tenant)
    assert run.counts() == {"messages": 4, "tenants": 2, "read": 3, "rebuilt": 2}
    three = acme.stored("Standup is at nine")
    world.index.reset()
    assert run(*(notification(("acme", name)) for name in (three, one, three))) == []
    assert world.index.count("replace", keys.manifest("acme")) == 1
    assert run.counts() == {"messages": 3, "tenants": 1, "read": 2, "rows": 1}


@pytest.mark.case("B11")
@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.promise("P-IDEMPOTENT")
def test_an_event_held_back_until_after_the_forget_brings_nothing_back(
    world: World, acme: Instance, run: Run
) -> None:
    memory_id = acme.stored("Nora's badge number is 4471")
    held = notification(("acme", memory_id))
    acme.call("forget", id=memory_id)
    for batch in ([held], [held, held]):
        assert run(*batch) == []
        fresh = world.instance("acme")
        assert fresh.hits("badge number") == []
        assert fresh.listed(status="all") == []
    ((_, _, is_stub),) = shown_by_index(world).values()
    assert is_stub


@pytest.mark.promise("P-IDEMPOTENT")
def test_lost_events_are_made_up_for_by_any_later_one_of_the_tenant(
    world: World, acme: Instance, run: Run
) -> None:
    for number in range(3):
        acme.stored(f"statement {number}")
    assert run(notification(("acme", acme.stored("Nora leads QA")))) == []
    assert shown_by_index(world) == truth_of(world)


def test_an_id_that_is_not_there_is_done_and_not_repeated(world: World, run: Run) -> None:
    assert run(notification(("acme", "never-was"))) == []
    assert run.counts() == {"messages": 1, "tenants": 1, "rebuilt": 1}
    assert shown_by_index(world) == {}


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.promise("P-UNTRUSTED")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff not JSON, but a secret text", "not JSON"),
        (b'{"schema": 1, "tenant": "zephyr", "id": "x"}', "disagrees with its key"),
        (b'{"schema": 99, "content": "a secret text"}', "unknown schema"),
        (b" " * (OBJECT_BYTES + 1), "larger than any record"),
    ],
)
def test_an_object_that_is_no_record_is_reported_by_digest_and_left_as_it_is(
    world: World, acme: Instance, run: Run, body: bytes, reason: str
) -> None:
    memory_id = acme.stored("Nora leads QA")
    overwrite(world, memory_id, body)
    assert run(notification(("acme", memory_id))) == []
    line = run.line()
    (invalid,) = line["invalid"]
    key = keys.memory("acme", memory_id)
    assert invalid["key"] == hashlib.sha256(key.encode()).hexdigest()[:16]
    assert invalid["reason"] == reason
    assert (line["level"], line["counts"]["invalid"]) == ("WARNING", 1)
    for shown in (run.log.getvalue(), run.metrics.getvalue()):
        assert memory_id not in shown
        assert "secret" not in shown
        assert "acme" not in shown
    assert getattr(world.state.get(key), "body", b"") == body


@pytest.mark.case("B80")
@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_only_messages_of_a_tenant_that_could_not_be_indexed_are_repeated(
    world: World, acme: Instance, run: Run
) -> None:
    one, two = acme.stored("Nora leads QA"), acme.stored("The office is in Oslo")
    other = world.instance("zephyr").stored("Nora leads QA")
    world.state.inject(on(Fault.UNAVAILABLE, "get", keys.memory("acme", two)))
    both = notification(("zephyr", other), ("acme", two))
    messages = (notification(("acme", one)), notification(("zephyr", other)), both, {"not": "a notification"})
    assert run(*messages) == ["m0", "m2", "m3"]
    assert run.counts() == {
        "messages": 4,
        "tenants": 2,
        "tenants_failed": 1,
        "read": 1,
        "rebuilt": 1,
        "refused_body_no_notification": 1,
        "failures": 3,
    }
    # Meanwhile the tail shows everything.
    assert set(world.instance("acme").listed()) == {one, two}
    assert run(notification(("acme", one)), both) == []
    assert shown_by_index(world) == truth_of(world)


@pytest.mark.promise("P-BOUNDED")
def test_tenants_for_which_there_is_no_time_are_repeated(world: World, acme: Instance, run: Run) -> None:
    one = acme.stored("Nora leads QA")
    other = world.instance("zephyr").stored("Nora leads QA")
    world.index.inject(
        on(lambda _: world.clock.advance(timedelta(minutes=10)), "create", keys.manifest("acme"))
    )
    assert run(notification(("acme", one)), notification(("zephyr", other))) == ["m1"]
    assert run(notification(("zephyr", other))) == []
    assert shown_by_index(world, "zephyr") == truth_of(world, "zephyr")


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_merge_that_fails_is_counted_and_its_messages_are_done(
    world: World, acme: Instance, run: Run
) -> None:
    for number in range(FAN_IN - 1):
        assert run(notification(("acme", acme.stored(f"statement {number}")))) == []
    world.index.inject(on(Fault.UNAVAILABLE, "create", keys.segments_of("acme") + "*", skip=1))
    assert run(notification(("acme", acme.stored("the last statement")))) == []
    assert (run.counts()["merges_failed"], run.line()["level"]) == (1, "WARNING")
    assert run(notification(("acme", "never-was"))) == []
    assert run.counts()["merges"] == 1


@pytest.mark.case("B86")
def test_keys_of_no_memory_are_counted_by_reason_and_shown_as_digests(run: Run) -> None:
    key = "memories/acme/a secret name.json"
    record = {"s3": {"bucket": {"name": "folder"}, "object": {"key": key}}}
    assert run({"Records": [record, record]}) == []
    assert run.counts() == {"messages": 1, "refused_key_of_no_memory": 2}
    assert run.line()["refused_keys"] == [hashlib.sha256(key.encode()).hexdigest()[:16]]
    assert "secret" not in run.log.getvalue()


def test_the_counts_are_metrics_too(acme: Instance, run: Run) -> None:
    run(notification(("acme", acme.stored("Nora leads QA"))))
    metrics = json.loads(run.metrics.getvalue())
    assert metrics["indexer_messages"] == [1.0]
    assert metrics["service"] == "indexer"
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Lodestore"


def test_an_event_that_is_no_sqs_batch_is_an_error_that_its_trigger_shows(run: Run) -> None:
    with pytest.raises(NotABatch):
        run.indexer({"hello": "world"})


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_function_with_wrong_settings_refuses_in_one_line_and_loses_no_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = {"AWS_LAMBDA_FUNCTION_NAME": "indexer", "AUTH": "keys", "STORE": "file://x"}
    monkeypatch.setattr(indexer_module, "environment", lambda: variables)
    indexer_module._indexer.cache_clear()
    try:
        answer = indexer_module.handler({"Records": [{"messageId": "m0"}, {"messageId": "m1"}]})
        with pytest.raises(NotABatch):
            indexer_module.handler({"hello": "world"})
    finally:
        indexer_module._indexer.cache_clear()
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]}
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["reason"].startswith("STORE is missing")
    assert (first["service"], second["misconfigured"]) == ("indexer", 1)


@pytest.mark.promise("P-BOUNDED")
def test_a_batch_near_the_end_of_its_invocation_is_repeated_rather_than_cut(
    world: World, acme: Instance, run: Run
) -> None:
    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return int(RESERVE_SECONDS * 1000)

    body = json.dumps(notification(("acme", acme.stored("Nora leads QA"))))
    answer = run.indexer({"Records": [{"messageId": "m0", "body": body}]}, Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert world.index.count("create", "index/*") == 0


@pytest.mark.parametrize("module", ["indexer.handler", "maintenance.handler"])
def test_neither_the_indexer_nor_maintenance_imports_mcp(module: str) -> None:
    program = f"import sys, {module}; sys.exit(any(name.split('.')[0] == 'mcp' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
