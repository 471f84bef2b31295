"""The queue of maintenance's tasks: one message for each tenant that has something to do.

Owns: the queue, its dead-letter queue, and how many are worked on at once. Guarantees: a message that keeps failing
is kept for 14 days where an alarm sees it; one that is worked on is not handed out a second time meanwhile; only whom
`grant_send` names may put one in.
Gives up: order. Every task begins from what stands.
"""

from __future__ import annotations

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.findings import accept
from infra.storage_stack import DEAD_LETTER_DAYS

TASKS_TOGETHER = 10
# Lambda asks for six times the function's timeout, so that a batch is not handed out twice while it is worked on.
TIMEOUTS = 6
RETENTION_DAYS = 4


class TaskQueue(Construct):
    """The queue, between the dispatcher, the tool `maintain`, and the workers."""

    def __init__(self, scope: Construct, worker_seconds: int, receives_most: int) -> None:
        super().__init__(scope, "Tasks")
        self.dead = dead_letters(self, "Dead")
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=cdk.Duration.days(RETENTION_DAYS),
            visibility_timeout=cdk.Duration.seconds(TIMEOUTS * worker_seconds),
            dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=receives_most, queue=self.dead),
        )

    @property
    def variables(self) -> Mapping[str, str]:
        """What a function needs to know to put a task on it."""
        return {"MAINTENANCE_QUEUE_URL": self.queue.queue_url}

    def feed(self, worker: lambda_.Function, most_at_once: int) -> None:
        """Have the function work on the tasks."""
        worker.add_event_source(
            sources.SqsEventSource(
                self.queue,
                batch_size=TASKS_TOGETHER,
                max_concurrency=most_at_once,
                report_batch_item_failures=True,
            )
        )


def dead_letters(scope: Construct, name: str) -> sqs.Queue:
    """A queue for what failed, kept for 14 days."""
    queue = sqs.Queue(
        scope,
        name,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=cdk.Duration.days(DEAD_LETTER_DAYS),
    )
    accept(queue, "AwsSolutions-SQS3", "It is a dead-letter queue itself.")
    return queue
