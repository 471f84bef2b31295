"""The stacks of env=test, deployed from nothing, used over MCP, changed, and broken on purpose; in this order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lodestore import __version__
from lodestore.format import keys
from tests.cloud.assemblies import CHANGED, CHANGED_VERSION, outdir
from tests.cloud.conftest import POISON, Remembered, shown
from tests.cloud.deployment import Caller, Deployment, Era, eventually
from tests.cloud.stacks import Cdk
from tests.cloud.timeline import Timeline
from tests.structure.source_tree import ROOT


def test_the_endpoint_answers_everyone_at_its_url(deployment: Deployment, timeline: Timeline) -> None:
    with timeline.step("GET /health"):
        health = deployment.health()
    assert (health["status"], health["version"], health["auth"]) == ("ok", __version__, "keys")


@pytest.mark.case("B95")
def test_the_url_was_given_both_of_its_permissions(deployment: Deployment) -> None:
    asked = deployment.emulator.client("lambda").get_policy(FunctionName=deployment.outputs["McpFunction"])
    allowed = {statement["Action"]: statement for statement in json.loads(asked["Policy"])["Statement"]}
    assert set(allowed) == {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}
    assert {statement["Principal"] for statement in allowed.values()} == {"*"}
    only_by_url = allowed["lambda:InvokeFunction"]["Condition"]
    assert only_by_url == {"Bool": {"lambda:InvokedViaFunctionUrl": "true"}}


@pytest.mark.case("B90")
@pytest.mark.parametrize("key", [None, "lode_0000000000000000000000000000000000000000000"])
def test_a_call_without_a_good_key_is_refused_with_a_reason(deployment: Deployment, key: str | None) -> None:
    status, headers, body = deployment.refusal(key)
    assert status == 401
    assert {"error", "message", "next_step"} <= set(body)
    # A function URL may rename the header.
    assert "Bearer" in list(headers.values())


@pytest.mark.promise("P-READ-YOUR-WRITES")
@pytest.mark.case("B81")
@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_what_was_said_is_found_at_once_and_then_from_the_index(
    deployment: Deployment, writer: Caller, remembered: Remembered, timeline: Timeline, era: Era
) -> None:
    caller = Caller(writer.url, writer.key, writer.emulator, era)
    content = f"The pager of the {era} era rings at 04:10"
    with timeline.step(f"remember and recall, protocol {era}"):
        stored = caller.call("remember", content=content)
        assert stored["status"] == "stored"
        assert stored["id"] in [hit["id"] for hit in caller.recall(content)["hits"]]
    with timeline.step("recall from the index alone, the tail taken away"):
        generation = shown(caller, stored["id"], content, after=remembered.generation)
        _take_the_tail_away(deployment)
        answer = caller.recall(content)
    assert answer["freshness"]["pending"] == 0
    assert answer["freshness"]["generation"] >= generation
    assert answer["hits"][0]["id"] == stored["id"]


@pytest.mark.promise("P-TENANT")
def test_another_tenant_of_the_deployment_sees_nothing_of_it(
    deployment: Deployment, remembered: Remembered
) -> None:
    other = Caller(deployment.url, deployment.new_key("acme-corp", "writer"), deployment.emulator)
    assert other.recall(remembered.content)["hits"] == []
    assert other.call("memory_stats")["total"] == 0


@pytest.mark.case("B89")
@pytest.mark.usefixtures("remembered")
def test_nothing_but_memories_triggers_the_indexer(deployment: Deployment) -> None:
    assert deployment.objects("Index", keys.index_of("acme"))
    listed = deployment.emulator.client("s3").list_object_versions(Bucket=deployment.bucket("State"))
    memories = [held for held in listed["Versions"] if held["Key"].startswith(keys.MEMORIES)]
    assert len(memories) < len(listed["Versions"])
    # Each line is one message to the queue. S3 tests both notifications when they are set up; all others are memories.
    assert deployment.emulator.log.count("S3 notification → SQS") == 2 + len(memories)


@pytest.mark.usefixtures("poisoned")
def test_one_poisoned_event_stops_no_other(
    writer: Caller, remembered: Remembered, timeline: Timeline
) -> None:
    content = "Said after the poison: the build cache lives in Bergen"
    with timeline.step("a poisoned event, and a memory after it"):
        stored = writer.call("remember", content=content)
        shown(writer, stored["id"], content, after=remembered.generation)


def test_the_smoke_test_of_the_project_passes(deployment: Deployment, writer: Caller) -> None:
    variables = {**os.environ, **deployment.emulator.environment, "URL": writer.url, "KEY": writer.key}
    command = [sys.executable, "-m", "infra.smoke"]
    answer = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert "all as they must be" in answer.stdout


@pytest.mark.promise("P-DURABLE")
def test_a_deploy_of_changed_code_runs_it_and_keeps_the_data(
    deployment: Deployment,
    cdk: Cdk,
    assemblies: Path,
    writer: Caller,
    remembered: Remembered,
    timeline: Timeline,
) -> None:
    before = writer.call("memory_stats")["total"]
    with timeline.step("cdk deploy --all of the changed code"):
        outputs = cdk.deploy(outdir(assemblies, CHANGED))
    assert outputs["Url"] == deployment.outputs["Url"]
    with timeline.step("recall what was remembered before it"):
        assert deployment.health()["version"] == CHANGED_VERSION
        assert remembered.id in [hit["id"] for hit in writer.recall(remembered.content)["hits"]]
    assert writer.call("memory_stats")["total"] == before


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_endpoint_without_a_permission_is_denied_and_its_caller_is_told(
    deployment: Deployment, writer: Caller, remembered: Remembered, timeline: Timeline
) -> None:
    with timeline.step("a wrong policy of the endpoint is denied, the right one taken back"):
        with deployment.without("McpServerRole", "s3:PutObject", keys.MEMORIES):
            refused = writer.call("remember", content="This has no permission to be stored")
            assert (refused["error"], refused["written"]) == ("unavailable", False)
            assert remembered.id in [hit["id"] for hit in writer.recall(remembered.content)["hits"]]
            eventually("AccessDenied in its log", lambda: deployment.denials("mcp_server"))
        assert writer.call("remember", content="This is stored again")["status"] == "stored"


@pytest.mark.case("B80")
def test_an_indexer_without_a_permission_hides_nothing_and_makes_up_for_it(
    deployment: Deployment, writer: Caller, remembered: Remembered, timeline: Timeline
) -> None:
    content = "Told while no index could be written: the canary is called Piet"
    with timeline.step("a wrong policy of the indexer is denied, recall goes on"):
        eventually("nothing pending", lambda: writer.call("memory_stats")["pending"] == 0)
        with deployment.without("IndexerRole", "s3:PutObject", keys.INDEX):
            stored = writer.call("remember", content=content)
            eventually("AccessDenied in its log", lambda: deployment.denials("indexer"))
            answer = writer.recall(content)
            assert stored["id"] == answer["hits"][0]["id"]
            assert answer["freshness"]["pending"] == writer.call("memory_stats")["pending"] == 1
        shown(writer, stored["id"], content, after=remembered.generation)


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.case("B67")
def test_what_is_too_large_is_refused_by_name_and_the_largest_comes_back_whole(writer: Caller) -> None:
    tags = [f"{number:02}" + "年" * 60 for number in range(30)]
    stored = writer.call("remember", content="é" * 6_000, tags=tags)
    held = writer.call("get_memory", id=stored["id"])["memory"]
    assert (held["content"], sorted(held["tags"])) == ("é" * 6_000, tags)
    before = writer.call("memory_stats")["total"]
    refused = writer.call("remember", content="é" * 16_001)
    assert (refused["error"], refused["field"]) == ("too_large", "content")
    assert (refused["limit"], refused["got"]) == (32_000, 32_002)
    assert writer.call("memory_stats")["total"] == before


def test_the_schedule_runs_maintenance_which_leaves_a_report(
    deployment: Deployment, writer: Caller, timeline: Timeline
) -> None:
    assert writer.call("remember", content="The schedule has something to do")["status"] == "stored"
    with timeline.step("the schedule fires: a report"):
        (name, *_) = eventually(
            "a report of acme's maintenance",
            lambda: deployment.objects("Index", keys.reports_of("acme")),
            seconds=120,
        )
    got = deployment.emulator.client("s3").get_object(Bucket=deployment.bucket("Index"), Key=name)
    report = json.load(got["Body"])
    assert report["complete"] is True


def test_the_poisoned_event_ends_in_the_dead_letter_queue_alone(
    deployment: Deployment, poisoned: str, timeline: Timeline
) -> None:
    dead = deployment.resource("Storage", "AWS::SQS::Queue", "ChangesDead")
    with timeline.step("the poisoned event is in the dead-letter queue"):
        eventually("a dead letter", lambda: deployment.waiting(dead), seconds=90)
        eventually("an empty queue of changes", lambda: deployment.waiting(poisoned) == 0, seconds=30)
    assert deployment.waiting(dead) == 1
    held = deployment.emulator.client("sqs").receive_message(QueueUrl=dead)
    assert [message["Body"] for message in held["Messages"]] == [POISON]


def _take_the_tail_away(deployment: Deployment) -> None:
    s3, bucket = deployment.emulator.client("s3"), deployment.bucket("Index")
    for name in deployment.objects("Index", keys.pending_of("acme")):
        s3.delete_object(Bucket=bucket, Key=name)
