"""The data outlives what should not end it, is private, and feeds the indexer."""

from __future__ import annotations

import json

import pytest

from infra.settings import ENVIRONMENTS
from tests.infra.synthesised import only, properties, resources, template

BUCKET, QUEUE = "AWS::S3::Bucket", "AWS::SQS::Queue"


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_both_buckets_are_private_and_encrypted_and_take_tls_only(environment: str) -> None:
    for _, bucket in resources(environment, "Storage", BUCKET):
        held = bucket["Properties"]
        assert set(held["PublicAccessBlockConfiguration"].values()) == {True}
        assert held["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert held["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
        assert "BucketName" not in held
    policies = json.dumps([body for _, body in resources(environment, "Storage", "AWS::S3::BucketPolicy")])
    assert policies.count('"aws:SecureTransport": "false"') == 2
    assert policies.count('"s3:TlsVersion": 1.2') == 2


def test_old_versions_expire_by_age_alone() -> None:
    state = properties("prod", "Storage", BUCKET, "State")
    assert state["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = state["LifecycleConfiguration"]["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 365}
    assert rule["ExpiredObjectDeleteMarker"] is True
    index = properties("prod", "Storage", BUCKET, "Index")
    assert "VersioningConfiguration" not in index
    assert "NoncurrentVersionExpiration" not in index["LifecycleConfiguration"]["Rules"][0]


def test_only_memories_reach_the_queue_and_only_from_this_account() -> None:
    state = only("prod", "Storage", BUCKET, "State")
    configured = state["Properties"]["NotificationConfiguration"]["QueueConfigurations"]
    assert {entry["Event"] for entry in configured} == {"s3:ObjectCreated:*", "s3:ObjectRemoved:*"}
    prefixes = [entry["Filter"]["S3Key"]["Rules"] for entry in configured]
    assert prefixes == [[{"Name": "prefix", "Value": "memories/"}]] * 2
    assert "NotificationConfiguration" not in properties("prod", "Storage", BUCKET, "Index")
    (name, policy) = next(
        (name, body)
        for name, body in resources("prod", "Storage", "AWS::SQS::QueuePolicy")
        if "Dead" not in name
    )
    assert name in state["DependsOn"]
    allowed = [s for s in policy["Properties"]["PolicyDocument"]["Statement"] if s["Effect"] == "Allow"]
    assert [statement["Condition"]["StringEquals"] for statement in allowed] == [
        {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    ]


def test_a_message_that_keeps_failing_is_set_aside() -> None:
    changes = next(
        body["Properties"]
        for _, body in resources("prod", "Storage", QUEUE)
        if "RedrivePolicy" in body["Properties"]
    )
    assert changes["RedrivePolicy"]["maxReceiveCount"] == 5
    assert changes["VisibilityTimeout"] == 6 * 600


def test_the_emulators_environment_sets_a_message_aside_within_a_test() -> None:
    redrives = [body["Properties"] for _, body in resources("test", "Storage", QUEUE)]
    (changes,) = [held for held in redrives if "RedrivePolicy" in held]
    assert (changes["RedrivePolicy"]["maxReceiveCount"], changes["VisibilityTimeout"]) == (2, 15)


@pytest.mark.parametrize(("environment", "end"), [("prod", "Retain"), ("dev", "Delete")])
def test_data_outlives_prod_and_goes_with_dev(environment: str, end: str) -> None:
    kinds = (BUCKET, QUEUE, "AWS::S3Vectors::VectorBucket")
    ends = {
        (body["DeletionPolicy"], body["UpdateReplacePolicy"])
        for kind in kinds
        for _, body in resources(environment, "Storage", kind)
    }
    assert ends == {(end, end)}


def test_the_emulator_is_given_no_type_that_it_does_not_know() -> None:
    kinds = {
        resource["Type"]
        for stack in ("Storage", "Service")
        for resource in template("test", stack)["Resources"].values()
    }
    assert not [kind for kind in kinds if kind.startswith(("AWS::S3Vectors", "AWS::Budgets", "Custom::"))]
    assert "AWS::S3Vectors::VectorBucket" in {
        resource["Type"] for resource in template("dev", "Storage")["Resources"].values()
    }
