"""A deployment as an operator and as a client see it.

Owns: finding what the stacks made, calling the endpoint with the official MCP client, and waiting for what happens by
itself. Guarantees: a wait that is over its time says what it waited for and what was there instead; a client gets a
key and the URL, and nothing else of the deployment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.cloud.emulator import Emulator
from tests.structure.source_tree import ROOT

Era = Literal["auto", "legacy"]
Answer = dict[str, Any]
T = TypeVar("T")
CALL_SECONDS = 60.0
POLL_SECONDS = 0.2


def eventually(what: str, look: Callable[[], T | None], *, seconds: float = 60.0) -> T:
    """The first answer of `look` that is neither None nor empty. AssertionError once the time is over."""
    until, pause = time.monotonic() + seconds, threading.Event()
    while not (seen := look()):
        assert time.monotonic() < until, f"not within {seconds:.0f} s: {what} (last seen: {seen!r})"
        pause.wait(POLL_SECONDS)
    return seen


@dataclass(frozen=True, slots=True)
class Caller:
    """One MCP client with its key, in one of both eras of the protocol."""

    url: str
    key: str
    emulator: Emulator = field(repr=False)
    era: Era = "auto"

    def call(self, tool: str, **arguments: object) -> Answer:
        """A tool's structured answer, also where it is an error."""
        return anyio.run(self._call, tool, arguments)

    def recall(self, query: str) -> Answer:
        """The answer of `recall`, each hit with the parts of its score."""
        return self.call("recall", query=query, explain=True)

    async def _call(self, tool: str, arguments: Mapping[str, object]) -> Answer:
        headers = {"Authorization": f"Bearer {self.key}"}
        async with (
            httpx2.AsyncClient(verify=self.emulator.trust, headers=headers, timeout=CALL_SECONDS) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=self.era) as client,
        ):
            result = await client.call_tool(tool, dict(arguments))
        assert isinstance(result.structured_content, dict)
        return result.structured_content


@dataclass(frozen=True, slots=True)
class Deployment:
    """Both stacks of env=test on the emulator. `outputs` are theirs by name."""

    emulator: Emulator
    outputs: Mapping[str, str]

    @property
    def base(self) -> str:
        """The function URL, by the emulator's address for it."""
        host = self.outputs["Url"].removeprefix("https://").partition(".")[0]
        return f"{self.emulator.endpoint}/_aws/lambda-url/{host}"

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"{self.base}/mcp"

    def health(self) -> Answer:
        """GET /health."""
        got = httpx2.get(f"{self.base}/health", verify=self.emulator.trust, timeout=CALL_SECONDS)
        held: Answer = got.raise_for_status().json()
        return held

    def refusal(self, key: str | None) -> tuple[int, Mapping[str, str], Answer]:
        """Status, headers and body of a tools/list that has to be refused."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"accept": "application/json"} | ({} if key is None else {"authorization": f"Bearer {key}"})
        got = httpx2.post(
            self.url, json=message, headers=headers, verify=self.emulator.trust, timeout=CALL_SECONDS
        )
        return got.status_code, got.headers, got.json()

    def new_key(self, tenant: str, role: str) -> str:
        """As `make key ENV=test` prints one."""
        stores = {"STORE": f"s3://{self.bucket('State')}", "INDEX_STORE": f"s3://{self.bucket('Index')}"}
        variables = {**os.environ, **self.emulator.environment, **stores, "TENANT": tenant, "ROLE": role}
        command = [sys.executable, "-m", "local_runner.cli", "key"]
        made = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=True)
        return made.stdout.strip()

    def emptied(self) -> str:
        """As `make destroy` empties the buckets before it destroys them; what it said."""
        variables = {**os.environ, **self.emulator.environment}
        command = [sys.executable, "-m", "infra.emptying", "test"]
        said = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=True)
        return said.stdout

    def versions(self, place: str) -> int:
        """How many versions and delete markers a bucket holds, at most 1,000."""
        listed = self.emulator.client("s3").list_object_versions(Bucket=self.bucket(place))
        return len(listed.get("Versions", [])) + len(listed.get("DeleteMarkers", []))

    def bucket(self, place: str) -> str:
        """The name of the State or the Index bucket."""
        return self.outputs[f"{place}Bucket"]

    def objects(self, place: str, prefix: str) -> list[str]:
        """The keys below a prefix, at most 1,000."""
        listed = self.emulator.client("s3").list_objects_v2(Bucket=self.bucket(place), Prefix=prefix)
        return [held["Key"] for held in listed.get("Contents", [])]

    def resource(self, stack: str, kind: str, start: str) -> str:
        """The physical id of the one resource of a type whose logical id begins so."""
        asked = self.emulator.client("cloudformation").describe_stack_resources(
            StackName=f"Lodestore-test-{stack}"
        )
        (found,) = [
            held["PhysicalResourceId"]
            for held in asked["StackResources"]
            if held["ResourceType"] == kind and held["LogicalResourceId"].startswith(start)
        ]
        return str(found)

    def logged(self, function: str) -> list[str]:
        """Every line in a function's log group; `function` is its folder's name."""
        logs, group = self.emulator.client("logs"), f"/lodestore/test/{function}"
        groups = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
        if group not in [held["logGroupName"] for held in groups]:
            return []
        pages = logs.get_paginator("describe_log_streams").paginate(logGroupName=group)
        streams = [stream for page in pages for stream in page["logStreams"]]
        return [
            event["message"]
            for stream in streams
            for event in logs.get_log_events(
                logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
            )["events"]
        ]

    def denials(self, function: str) -> list[str]:
        """The lines of a function's log that say that it was denied something."""
        return [line for line in self.logged(function) if "AccessDenied" in line]

    @contextmanager
    def without(self, role: str, action: str, prefix: str) -> Iterator[None]:
        """While the block runs, the role whose logical id begins so lacks the action below the prefix."""
        iam, name = self.emulator.client("iam"), self.resource("Service", "AWS::IAM::Role", role)
        (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
        right = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
        wrong = json.loads(json.dumps(right))
        (statement,) = [
            held
            for held in wrong["Statement"]
            if action in held["Action"] and f"/{prefix}*" in json.dumps(held["Resource"])
        ]
        statement["Action"].remove(action)
        iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(wrong))
        try:
            yield
        finally:
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(right))

    def waiting(self, queue: str) -> int:
        """How many messages a queue holds, those that are being worked on included."""
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        asked = self.emulator.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=list(names))
        return sum(int(asked["Attributes"][name]) for name in names)
