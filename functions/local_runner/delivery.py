"""The queue between changes and the indexer, as SQS would be: batched, repeated, then set aside.

Owns: what waits, how often each was tried, and what was given up. Guarantees: a failing handler never stops
the server; a name is tried 5 times, ever later, then set aside, logged by digest and counted
(P-SILENT-NEVER); a batch reports only its failures, and only those are repeated; what waits is bounded, and
what did not fit is said.
Gives up: survival. Waiting names are lost with the process; the scan at the next start finds them again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count, islice

from local_runner.function_table import Function
from local_runner.s3_events import sqs_batch
from lodestore.format import keys
from lodestore.format.keys import MemoryName
from lodestore.ports.clock import Clock
from lodestore.services.events import EventSource, key_digest

BATCH_MOST = 1_000
WAITING_MOST = 100_000
RECEIVES_MOST = 5
RETRY_SECONDS = 1.0

log = logging.getLogger("lodestore.delivery")


@dataclass(slots=True)
class _Waiting:
    receives: int = 0
    due: float = 0.0


class ChangeQueue:
    """Names that wait for the function. Used by one thread."""

    def __init__(self, function: Function, source: EventSource, *, clock: Clock) -> None:
        self._function = function
        self._source = source
        self._clock = clock
        self._waiting: dict[MemoryName, _Waiting] = {}
        self._numbers = count(1)
        self.dead_letters = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, names: Iterable[MemoryName]) -> bool:
        """Let names wait, each once. False: the queue is full and some did not fit."""
        for name in names:
            if name in self._waiting:
                continue
            if len(self._waiting) >= WAITING_MOST:
                return False
            self._waiting[name] = _Waiting()
        return True

    def deliver(self) -> None:
        """Invoke the function with what is due, 1,000 names at a time, each name once at most."""
        now = self._clock.elapsed()
        due = iter([name for name, waiting in self._waiting.items() if waiting.due <= now])
        while together := list(islice(due, BATCH_MOST)):
            self._invoke(together)

    def _invoke(self, names: list[MemoryName]) -> None:
        messages = {f"local-{next(self._numbers):012d}": name for name in names}
        for name in names:
            self._waiting[name].receives += 1
        receives = {message_id: self._waiting[name].receives for message_id, name in messages.items()}
        failed = self._failed(messages, receives)
        for message_id, name in messages.items():
            if message_id in failed:
                self._repeat_or_give_up(name)
            else:
                del self._waiting[name]

    def _failed(self, messages: Mapping[str, MemoryName], receives: Mapping[str, int]) -> frozenset[str]:
        try:
            answer = self._function.invoke(sqs_batch(messages, receives, self._source, self._clock.now()))
        except Exception as error:  # noqa: BLE001 - whatever the function raises, the server goes on
            log.warning("%s raised %s", self._function.name, type(error).__name__)
            return frozenset(messages)
        return _failures(answer, frozenset(messages))

    def _repeat_or_give_up(self, name: MemoryName) -> None:
        waiting = self._waiting[name]
        if waiting.receives < RECEIVES_MOST:
            waiting.due = self._clock.elapsed() + RETRY_SECONDS * 2**waiting.receives
            return
        del self._waiting[name]
        self.dead_letters += 1
        digest = key_digest(keys.memory(name.tenant, name.id))
        log.error(
            "dead letter: key %s after %d tries; %d so far", digest, waiting.receives, self.dead_letters
        )


def _failures(answer: object, all_of: frozenset[str]) -> frozenset[str]:
    """The message ids that failed. An answer that Lambda could not read fails the whole batch, as there.

    Source: "Reporting batch item failures" in the AWS Lambda developer guide.
    """
    if answer is None:
        return frozenset()
    failures = answer.get("batchItemFailures") if isinstance(answer, Mapping) else None
    if failures is None and isinstance(answer, Mapping):
        return frozenset()
    if not isinstance(failures, list):
        return all_of
    failed = {item.get("itemIdentifier") if isinstance(item, Mapping) else None for item in failures}
    return (
        frozenset(message_id for message_id in failed if isinstance(message_id, str))
        if failed <= all_of
        else all_of
    )
