"""Tasks reach the queue or are named, whatever SQS answers, and a real queue takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from boto3.session import Session
from botocore.exceptions import ClientError, ReadTimeoutError

from lodestore.adapters.sqs_queue import BATCH_MOST, TRIES, SqsQueue, connect
from lodestore.adapters.system_clock import SystemClock
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.ports.task_queue import MESSAGE_BYTES_MOST
from tests.handlers.stand_ins import CountingEntropy, HandClock
from tests.stores.servers import Server

THROTTLED = ClientError({"Error": {"Code": "ThrottlingException"}}, "SendMessageBatch")


class ScriptedSqs:
    """Takes what comes, but for the answers that a test scripted."""

    def __init__(self, *answers: Exception | Mapping[str, bool]) -> None:
        self.answers = list(answers)
        self.sent: list[list[str]] = []

    def send_message_batch(self, **arguments: object) -> Mapping[str, Any]:
        entries = arguments["Entries"]
        assert isinstance(entries, list)
        self.sent.append([entry["MessageBody"] for entry in entries])
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, Exception):
            raise answer
        # The body of an entry that is left out, to whether that is our fault.
        failed = [
            {"Id": entry["Id"], "SenderFault": answer[entry["MessageBody"]]}
            for entry in entries
            if entry["MessageBody"] in answer
        ]
        out = {entry["Id"] for entry in failed}
        return {"Successful": [{"Id": e["Id"]} for e in entries if e["Id"] not in out], "Failed": failed}


def queue_on(client: ScriptedSqs) -> SqsQueue:
    return SqsQueue(client, "https://sqs.eu-west-1.amazonaws.com/1/tasks", HandClock(), CountingEntropy())


def test_messages_go_ten_at_a_time() -> None:
    sqs = ScriptedSqs()
    assert queue_on(sqs).send([str(number) for number in range(25)]) == ()
    assert [len(batch) for batch in sqs.sent] == [BATCH_MOST, BATCH_MOST, 5]


def test_large_messages_share_no_request_that_sqs_would_refuse() -> None:
    sqs = ScriptedSqs()
    large = "x" * (MESSAGE_BYTES_MOST // 2 + 1)
    assert queue_on(sqs).send([large, large, "small"]) == ()
    assert [len(batch) for batch in sqs.sent] == [1, 2]


def test_no_message_is_no_request() -> None:
    sqs = ScriptedSqs()
    assert queue_on(sqs).send([]) == ()
    assert sqs.sent == []


@pytest.mark.promise("P-SILENT-NEVER")
def test_only_the_entries_that_sqs_left_out_are_sent_again() -> None:
    sqs = ScriptedSqs({"b": False, "c": False}, {"c": False})
    assert queue_on(sqs).send(["a", "b", "c"]) == ()
    assert sqs.sent == [["a", "b", "c"], ["b", "c"], ["c"]]


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_entry_that_is_our_own_fault_is_named_and_not_repeated() -> None:
    sqs = ScriptedSqs({"b": True, "c": False})
    assert queue_on(sqs).send(["a", "b", "c"]) == (1,)
    assert sqs.sent == [["a", "b", "c"], ["c"]]


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("failure", [THROTTLED, ReadTimeoutError(endpoint_url="https://x")])
def test_a_queue_that_does_not_answer_is_asked_three_times_and_then_named(failure: Exception) -> None:
    sqs = ScriptedSqs(*[failure] * TRIES)
    assert queue_on(sqs).send(["a", *"bcdefghijk"]) == tuple(range(BATCH_MOST))
    assert len(sqs.sent) == TRIES + 1


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_entry_that_an_answer_names_nowhere_is_not_taken_for_sent() -> None:
    class Forgetful(ScriptedSqs):
        def send_message_batch(self, **arguments: object) -> Mapping[str, Any]:
            super().send_message_batch(**arguments)
            return {}

    assert queue_on(Forgetful()).send(["a"]) == (0,)


@pytest.mark.promise("P-BOUNDED")
def test_a_message_that_sqs_could_never_take_is_refused_before_any_is_sent() -> None:
    sqs = ScriptedSqs()
    with pytest.raises(ValueError, match="bytes"):
        queue_on(sqs).send(["a", "é" * (MESSAGE_BYTES_MOST // 2 + 1)])
    assert sqs.sent == []


def test_a_real_queue_holds_what_was_sent(ministack_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ministack_server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", ministack_server.endpoint)
    admin = Session().client("sqs")
    url = admin.create_queue(QueueName="tasks")["QueueUrl"]
    messages = [json.dumps({"number": number}) for number in range(12)]
    assert connect(url, SystemClock(), SystemEntropy()).send(messages) == ()
    held: set[str] = set()
    while received := admin.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        held |= {message["Body"] for message in received}
    assert held == set(messages)
