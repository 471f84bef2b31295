"""The queue of maintenance's tasks on Amazon SQS.

Owns: batches, and the repeats of what a batch left out. Guarantees: at most ten messages and 256 KiB in a request;
an entry that SQS refuses by its own fault is sent again, TRIES times in all; an entry that is our fault is not, and is
named at once; bodies are in no log.
Gives up: knowing whether a request without an answer arrived: its messages are sent again and named if that fails, so a
message may be in the queue twice.

Source: SQS API reference, SendMessageBatch ("Because the batch request can result in a combination of successful and
unsuccessful actions, you should check for batch errors even when the call returns an HTTP status code of 200").
botocore without boto3 on top: the same client, in less of a cold start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from botocore.session import get_session

from lodestore.adapters.sdk_logs import keep_content_out
from lodestore.adapters.store_failures import logged
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.task_queue import MESSAGE_BYTES_MOST

BATCH_MOST: Final = 10
TRIES: Final = 3
CONNECT_SECONDS: Final = 2
READ_SECONDS: Final = 10
_PAUSE_SECONDS: Final = 0.2
_FAILURES = (ClientError, BotoCoreError, ResponseParserError)


class SqsClient(Protocol):
    """The one operation that is used, as botocore's client has it."""

    def send_message_batch(self, **arguments: object) -> Mapping[str, Any]:
        """SendMessageBatch."""
        ...


def connect(url: str, clock: Clock, entropy: Entropy) -> SqsQueue:
    """The queue at its URL. Sends nothing. Raises ValueError where no region is known."""
    keep_content_out()
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        # Whole requests are repeated here, beside the entries that a request left out.
        retries={"total_max_attempts": 1, "mode": "standard"},
    )
    try:
        client = get_session().create_client("sqs", region_name=_region(url), config=config)
    except BotoCoreError as failure:
        raise ValueError(type(failure).__name__) from failure
    return SqsQueue(cast(SqsClient, client), url, clock, entropy)


class SqsQueue:
    """A TaskQueue in SQS. Thread-safe."""

    def __init__(self, client: SqsClient, url: str, clock: Clock, entropy: Entropy) -> None:
        self._client = client
        self._url = url
        self._clock = clock
        self._entropy = entropy

    def send(self, messages: Sequence[str]) -> tuple[int, ...]:
        if any(len(message.encode()) > MESSAGE_BYTES_MOST for message in messages):
            raise ValueError(f"a message is over {MESSAGE_BYTES_MOST} bytes")
        lost: list[int] = []
        for places in _batches(messages):
            lost.extend(self._send(places, messages))
        return tuple(lost)

    def _send(self, places: Sequence[int], messages: Sequence[str]) -> Sequence[int]:
        """One batch until all of it is in, or TRIES are over; the places that are not."""
        refused: list[int] = []
        left = list(places)
        for attempt in range(TRIES):
            if attempt:
                self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
            left, ours = self._request(left, messages)
            refused.extend(ours)
            if not left:
                break
        return sorted([*refused, *left])

    def _request(self, places: Sequence[int], messages: Sequence[str]) -> tuple[list[int], list[int]]:
        """One request: the places to send again, and those that SQS will never take."""
        entries = [{"Id": str(place), "MessageBody": messages[place]} for place in places]
        try:
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        except _FAILURES as failure:
            logged(f"SendMessageBatch {_code_of(failure)}")
            return list(places), []
        taken = {str(entry.get("Id")) for entry in answer.get("Successful", ())}
        ours = {str(entry.get("Id")) for entry in answer.get("Failed", ()) if entry.get("SenderFault")}
        # What an answer names in neither list is not known to be in the queue.
        missing = [place for place in places if str(place) not in taken]
        if missing:
            logged(f"SendMessageBatch left out {len(missing)} of {len(places)}")
        return [place for place in missing if str(place) not in ours], [p for p in missing if str(p) in ours]


def _batches(messages: Sequence[str]) -> Iterator[list[int]]:
    """The places of messages that fit one request together."""
    batch: list[int] = []
    size = 0
    for place, message in enumerate(messages):
        bytes_of_it = len(message.encode())
        if batch and (len(batch) == BATCH_MOST or size + bytes_of_it > MESSAGE_BYTES_MOST):
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += bytes_of_it
    if batch:
        yield batch


def _region(url: str) -> str | None:
    """The region that a queue's URL names, as `https://sqs.eu-west-1.amazonaws.com/…`; None: the environment's."""
    parts = url.partition("://")[2].partition("/")[0].split(".")
    return parts[1] if len(parts) > 3 and parts[0] == "sqs" else None


def _code_of(failure: Exception) -> str:
    if not isinstance(failure, ClientError):
        return type(failure).__name__
    return str(failure.response.get("Error", {}).get("Code", ""))
