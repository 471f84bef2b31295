"""What a destroyed deployment leaves: nothing of env=test, and the data where it is retained."""

from __future__ import annotations

from pathlib import Path

import pytest

from lodestore.format import keys
from tests.cloud.assemblies import FIRST, RETAINED, outdir
from tests.cloud.deployment import Deployment
from tests.cloud.processes import CommandFailed
from tests.cloud.stacks import Cdk
from tests.cloud.timeline import Timeline

STORAGE, SERVICE = "Lodestore-test-Storage", "Lodestore-test-Service"


def _buckets(deployment: Deployment) -> set[str]:
    return {held["Name"] for held in deployment.emulator.client("s3").list_buckets()["Buckets"]}


@pytest.mark.usefixtures("remembered")
def test_a_destroyed_test_environment_takes_its_data_along(
    deployment: Deployment, cdk: Cdk, assemblies: Path, timeline: Timeline
) -> None:
    assert {deployment.bucket("State"), deployment.bucket("Index")} <= _buckets(deployment)
    with timeline.step("cdk destroy of the functions, then of the emptied buckets"):
        cdk.destroy(outdir(assemblies, FIRST), SERVICE)
        assert deployment.versions("State")
        deployment.emptied()
        # S3 refuses to delete a bucket that holds something; the emulator does not.
        assert deployment.versions("State") + deployment.versions("Index") == 0
        cdk.destroy(outdir(assemblies, FIRST))
    assert not [name for name in _buckets(deployment) if name.startswith("lodestore-")]
    assert deployment.emulator.client("sqs").list_queues().get("QueueUrls", []) == []
    assert deployment.emulator.client("lambda").list_functions()["Functions"] == []


def test_a_retained_environment_is_protected_and_leaves_its_buckets(
    deployment: Deployment, cdk: Cdk, assemblies: Path, timeline: Timeline
) -> None:
    assembly = outdir(assemblies, RETAINED)
    with timeline.step("cdk deploy of the retained data"):
        kept = Deployment(deployment.emulator, cdk.deploy(assembly, STORAGE))
    s3, name = kept.emulator.client("s3"), keys.memory("acme", "kept")
    s3.put_object(Bucket=kept.bucket("State"), Key=name, Body=b"{}")
    with timeline.step("cdk destroy is refused, and unprotected leaves the buckets"):
        with pytest.raises(CommandFailed, match=r"(?i)protect"):
            cdk.destroy(assembly, STORAGE)
        assert "nothing was deleted" in kept.emptied()
        cloudformation = kept.emulator.client("cloudformation")
        cloudformation.update_termination_protection(StackName=STORAGE, EnableTerminationProtection=False)
        cdk.destroy(assembly, STORAGE)
    assert {kept.bucket("State"), kept.bucket("Index")} <= _buckets(kept)
    assert s3.get_object(Bucket=kept.bucket("State"), Key=name)["Body"].read() == b"{}"
