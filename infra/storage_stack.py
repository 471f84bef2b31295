"""What holds data: the state bucket, the index bucket, the vector bucket, and the queue between state and indexer.

Owns: their versions, encryption and ends, and the notification that feeds the indexer. Guarantees: the state bucket
is versioned and old versions expire by age alone, never by number; the index bucket can't trigger the indexer, being
another bucket; a message that keeps failing goes to a dead-letter queue and stays there for 14 days.
Gives up: replication to another region, and access logs of the buckets (docs/operations.md says how to add them).

The queue lives here, because bucket and queue in two stacks would depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3vectors as s3vectors
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.findings import accept
from infra.settings import Environment

DEAD_LETTER_DAYS = 14
MEMORIES = "memories/"


@dataclass(frozen=True, slots=True)
class Shared:
    """An ARN that the service stack uses: the name of its export, and the reference to it."""

    name: str
    arn: str


class StorageStack(cdk.Stack):
    """The data of one environment."""

    def __init__(self, scope: Construct, name: str, environment: Environment) -> None:
        super().__init__(scope, name, description=f"Lodestore {environment.name}: data")
        keep = cdk.RemovalPolicy.RETAIN if environment.retain else cdk.RemovalPolicy.DESTROY
        self.termination_protection = environment.retain
        self.key = _key(self, keep) if environment.kms else None
        self.state = self._bucket("State", environment, keep, versioned=True)
        self.index = self._bucket("Index", environment, keep, versioned=False)
        self.changes_dead = self._queue("ChangesDead", keep, cdk.Duration.days(DEAD_LETTER_DAYS))
        self.changes = self._queue(
            "Changes",
            keep,
            cdk.Duration.days(4),
            visibility=cdk.Duration.seconds(environment.visibility_seconds),
            dead=sqs.DeadLetterQueue(max_receive_count=environment.receives_most, queue=self.changes_dead),
        )
        self._notify()
        self.vectors = _vectors(self, keep) if environment.vectors else None
        self.shared_state = self._share("state", self.state.bucket_arn, environment)
        self.shared_index = self._share("index", self.index.bucket_arn, environment)
        vectors = self.vectors
        self.shared_vectors = vectors and self._share("vectors", vectors.attr_vector_bucket_arn, environment)
        cdk.CfnOutput(self, "StateBucket", value=self.state.bucket_name)
        cdk.CfnOutput(self, "IndexBucket", value=self.index.bucket_name)
        _accept(self)

    def _share(self, place: str, arn: str, environment: Environment) -> Shared:
        name = f"{environment.prefix}-{place}-arn"
        return Shared(name, self.export_value(arn, name=name))

    def _bucket(
        self, name: str, environment: Environment, keep: cdk.RemovalPolicy, *, versioned: bool
    ) -> s3.Bucket:
        history = cdk.Duration.days(environment.history_days) if versioned else None
        return s3.Bucket(
            self,
            name,
            versioned=versioned,
            encryption=s3.BucketEncryption.KMS if self.key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=self.key,
            # One data key for many objects: KMS is asked, and paid, far less.
            bucket_key_enabled=True if self.key else None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=keep,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="history" if versioned else "unfinished",
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(1),
                    noncurrent_version_expiration=history,
                    expired_object_delete_marker=True if versioned else None,
                )
            ],
        )

    def _queue(
        self,
        name: str,
        keep: cdk.RemovalPolicy,
        retention: cdk.Duration,
        *,
        visibility: cdk.Duration | None = None,
        dead: sqs.DeadLetterQueue | None = None,
    ) -> sqs.Queue:
        return sqs.Queue(
            self,
            name,
            # S3 can't send to a queue under a key of AWS's own; names of objects are all that messages hold.
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=retention,
            visibility_timeout=visibility,
            removal_policy=keep,
            dead_letter_queue=dead,
        )

    def _notify(self) -> None:
        # On the L1: the L2's way deploys a function of its own that may change any bucket's notifications.
        self.changes.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("s3.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self.changes.queue_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": self.account},
                    "ArnLike": {"aws:SourceArn": f"arn:{self.partition}:s3:::*"},
                },
            )
        )
        low = self.state.node.default_child
        assert isinstance(low, s3.CfnBucket)
        low.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[
                s3.CfnBucket.QueueConfigurationProperty(
                    event=event,
                    queue=self.changes.queue_arn,
                    filter=s3.CfnBucket.NotificationFilterProperty(
                        s3_key=s3.CfnBucket.S3KeyFilterProperty(
                            rules=[s3.CfnBucket.FilterRuleProperty(name="prefix", value=MEMORIES)]
                        )
                    ),
                )
                for event in ("s3:ObjectCreated:*", "s3:ObjectRemoved:*")
            ]
        )
        policy = self.changes.node.find_child("Policy").node.default_child
        assert isinstance(policy, sqs.CfnQueuePolicy)
        low.add_resource_dependency(policy)


def _key(scope: Construct, keep: cdk.RemovalPolicy) -> kms.Key:
    return kms.Key(scope, "Key", enable_key_rotation=True, removal_policy=keep)


def _vectors(scope: Construct, keep: cdk.RemovalPolicy) -> s3vectors.CfnVectorBucket:
    bucket = s3vectors.CfnVectorBucket(scope, "Vectors")
    bucket.apply_removal_policy(keep)
    return bucket


def _accept(stack: StorageStack) -> None:
    for bucket in (stack.state, stack.index):
        accept(
            bucket,
            "AwsSolutions-S1",
            "Access logs cost for every request; CloudTrail data events are the option.",
        )
    accept(stack.changes_dead, "AwsSolutions-SQS3", "It is a dead-letter queue itself.")
