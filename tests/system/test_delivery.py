"""Changes wait for the indexer as SQS messages would: batched, repeated, set aside, never in the server's way."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from local_runner import delivery
from local_runner.delivery import BATCH_MOST, RECEIVES_MOST, ChangeQueue
from local_runner.function_table import Function, InvocationContext
from lodestore.format.keys import MemoryName
from lodestore.services.events import EventSource, parse_batch

SOURCE = EventSource("folder")
ONE, TWO = MemoryName("acme", "one"), MemoryName("zephyr", "two")


class ManualClock:
    """A clock that moves when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 3, 9, tzinfo=UTC)

    def elapsed(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.seconds += seconds


class Indexer:
    """Remembers the names of each batch, and answers as it is told to."""

    def __init__(self, answer: Callable[[dict[str, Any]], object] = lambda _event: None) -> None:
        self.answer = answer
        self.batches: list[tuple[MemoryName, ...]] = []
        self.receives: list[list[str]] = []

    def __call__(self, event: dict[str, object], _context: InvocationContext) -> object:
        notices = parse_batch(event, SOURCE)
        assert not any(notice.failed or notice.refused for notice in notices)
        self.batches.append(tuple(name for notice in notices for name in notice.names))
        records = cast("dict[str, Any]", event)["Records"]
        self.receives.append([record["attributes"]["ApproximateReceiveCount"] for record in records])
        return self.answer(cast("dict[str, Any]", event))


def queue_to(indexer: Indexer) -> tuple[ChangeQueue, ManualClock]:
    clock = ManualClock()
    return ChangeQueue(Function("changes", indexer), SOURCE, clock=clock), clock


def failing(name: MemoryName) -> Callable[[dict[str, Any]], object]:
    """Reports only the messages of this name as failed."""

    def answer(event: dict[str, Any]) -> object:
        bodies = {record["messageId"]: json.loads(record["body"]) for record in event["Records"]}
        failed = [
            message_id
            for message_id, body in bodies.items()
            if body["Records"][0]["s3"]["object"]["key"] == f"memories/{name.tenant}/{name.id}.json"
        ]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

    return answer


def raising(_event: dict[str, Any]) -> object:
    raise RuntimeError("the text of a memory")


def test_a_burst_is_one_batch_in_which_each_name_stands_once() -> None:
    indexer = Indexer()
    queue, _ = queue_to(indexer)
    assert queue.put([ONE, TWO, ONE])
    assert queue.put([TWO])
    queue.deliver()
    queue.deliver()
    assert indexer.batches == [(ONE, TWO)]
    assert len(queue) == 0


def test_more_names_than_a_batch_holds_come_in_several() -> None:
    indexer = Indexer()
    queue, _ = queue_to(indexer)
    names = [MemoryName("acme", f"n{number}") for number in range(BATCH_MOST + 1)]
    queue.put(names)
    queue.deliver()
    assert [len(batch) for batch in indexer.batches] == [BATCH_MOST, 1]


@pytest.mark.promise("P-IDEMPOTENT")
def test_only_the_failures_of_a_batch_are_repeated_and_later_each_time() -> None:
    indexer = Indexer(failing(ONE))
    queue, clock = queue_to(indexer)
    queue.put([ONE, TWO])
    queue.deliver()
    queue.deliver()
    assert indexer.batches == [(ONE, TWO)]
    clock.pause(2.0)
    queue.deliver()
    clock.pause(2.0)
    queue.deliver()
    assert indexer.batches == [(ONE, TWO), (ONE,)]
    assert indexer.receives == [["1", "1"], ["2"]]
    indexer.answer = lambda _event: {"batchItemFailures": []}
    clock.pause(2.0)
    queue.deliver()
    assert len(queue) == 0
    assert queue.dead_letters == 0


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize(
    "answer",
    [
        raising,
        lambda _event: {"batchItemFailures": [{"itemIdentifier": ""}]},
        lambda _event: {"batchItemFailures": [{"itemIdentifier": "of another batch"}]},
        lambda _event: {"batchItemFailures": [{}]},
        lambda _event: {"batchItemFailures": "all"},
        lambda _event: "done",
    ],
)
def test_an_indexer_that_always_fails_is_tried_five_times_then_the_name_is_set_aside_and_counted(
    answer: Callable[[dict[str, Any]], object], caplog: pytest.LogCaptureFixture
) -> None:
    indexer = Indexer(answer)
    queue, clock = queue_to(indexer)
    queue.put([ONE])
    for _ in range(RECEIVES_MOST + 2):
        queue.deliver()
        clock.pause(1000.0)
    assert len(indexer.batches) == RECEIVES_MOST == 5
    assert (len(queue), queue.dead_letters) == (0, 1)
    assert "dead letter" in caplog.text
    assert ONE.id not in caplog.text
    assert "text of a memory" not in caplog.text


@pytest.mark.promise("P-BOUNDED")
def test_a_full_queue_says_that_names_did_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "WAITING_MOST", 1)
    queue, _ = queue_to(Indexer())
    assert queue.put([ONE, ONE])
    assert not queue.put([TWO])
    assert len(queue) == 1
