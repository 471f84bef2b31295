"""A batch of messages from the queue of maintenance: each one's task done, and what to repeat.

Owns: what happens to a message. Guarantees: one that is not reported for repetition is done, or its rest is in the
queue as a new message; one that can't be read, or whose sleep failed, is reported, so that after the queue's own number
of attempts it lies in the dead-letter queue; one message's failure stops no other.
Gives up: order, and working on several at once; the queue starts several workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lodestore.domain.upkeep_task import UpkeepTask
from lodestore.format.upkeep_tasks import InvalidTask, decode_task, encode_task
from lodestore.ports.task_queue import TaskQueue
from lodestore.services.upkeep_steps import EVERYTHING
from lodestore.services.upkeep_worker import UpkeepWorker, Worked


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it was received."""

    id: str
    body: str


@dataclass(slots=True)
class BatchDone:
    """What became of a batch.

    worked      tasks that were begun, with what became of each
    invalid     messages that are no task; the field at fault of each
    handed_on   tasks put on the queue anew: cut, or not reached
    repeat      ids of messages that have to come again
    """

    worked: list[tuple[UpkeepTask, Worked]] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    handed_on: int = 0
    repeat: list[str] = field(default_factory=list)


class UpkeepBatch:
    """Works on batches. `queue`: where the rest of a task goes."""

    def __init__(self, worker: UpkeepWorker, queue: TaskQueue) -> None:
        self._worker = worker
        self._queue = queue

    def work(self, messages: Sequence[Message], going: Callable[[], bool]) -> BatchDone:
        """Do each message's task while there is time. Raises what no step foresees."""
        done = BatchDone()
        for message in messages:
            try:
                task = _task_of(message)
            except InvalidTask as invalid:
                done.invalid.append(str(invalid))
                done.repeat.append(message.id)
                continue
            self._work(message, task, going, done)
        return done

    def _work(self, message: Message, task: UpkeepTask, going: Callable[[], bool], done: BatchDone) -> None:
        if not going():
            # As a message of its own: an attempt of this one would be counted, and none was made.
            self._hand_on(message, task, done)
            return
        worked = self._worker.work(task, going)
        done.worked.append((task, worked))
        if worked.failure is not None:
            done.repeat.append(message.id)
        elif worked.left is not None:
            self._hand_on(message, worked.left, done)

    def _hand_on(self, message: Message, task: UpkeepTask, done: BatchDone) -> None:
        if self._queue.send([encode_task(task)]):
            done.repeat.append(message.id)
        else:
            done.handed_on += 1


def _task_of(message: Message) -> UpkeepTask:
    task = decode_task(message.body)
    if not task.steps <= EVERYTHING:
        raise InvalidTask("steps")
    return task
