"""Each function may do what it must and nothing else, decided over the policies as they are synthesised."""

from __future__ import annotations

import pytest

from tests.infra.iam_evaluator import FUNCTIONS, Policy

GET, PUT, DELETE = "s3:GetObject", "s3:PutObject", "s3:DeleteObject"
MEMORY, STUB, KEY = "state/memories/acme/m1.json", "state/tombstones/acme/m1.json", "state/access/ab12.json"
MARKER, MANIFEST = "index/pending/acme/01H~m1", "index/index/acme/manifest.json"
SEGMENT, DELTA = "index/index/acme/segments/01H.safetensors", "index/counts/acme/deltas/i-1.json"
SNAPSHOT, DUE = "index/counts/acme/snapshot.json", "index/due/2026-03-09T01/acme"
PROPOSAL, UNDO, REPORT = "index/proposals/acme/p.json", "index/undo/acme/u.json", "index/reports/acme/r.json"
VECTORS = "vectors/index/m123"

ALLOWED = {
    "mcp_server": [
        (GET, MEMORY),
        (PUT, MEMORY),
        ("s3:GetObjectVersion", MEMORY),
        (PUT, STUB),
        (GET, KEY),
        (PUT, MARKER),
        (DELETE, MARKER),
        (GET, MANIFEST),
        (GET, SEGMENT),
        (PUT, DELTA),
        (GET, SNAPSHOT),
        (PUT, DUE),
        (GET, PROPOSAL),
        (PUT, PROPOSAL),
        (GET, UNDO),
        (PUT, UNDO),
        ("s3:ListBucket", "state"),
        ("s3:ListBucketVersions", "state"),
        ("s3:ListBucket", "index"),
        ("s3vectors:QueryVectors", VECTORS),
        ("s3vectors:GetVectors", VECTORS),
        ("sqs:SendMessage", "tasks"),
    ],
    "indexer": [
        (GET, MEMORY),
        (GET, STUB),
        (GET, MARKER),
        (DELETE, MARKER),
        (PUT, MANIFEST),
        (PUT, SEGMENT),
        (DELETE, SEGMENT),
        (PUT, DUE),
        (GET, DELTA),
        ("s3:ListBucket", "state"),
        ("s3:ListBucket", "index"),
        ("s3vectors:PutVectors", VECTORS),
        ("s3vectors:DeleteVectors", VECTORS),
        ("s3vectors:CreateIndex", VECTORS),
        ("s3vectors:GetIndex", VECTORS),
        ("sqs:ReceiveMessage", "changes"),
        ("sqs:DeleteMessage", "changes"),
    ],
    "maintenance": [
        (GET, MEMORY),
        (PUT, MEMORY),
        ("s3:DeleteObjectVersion", MEMORY),
        ("s3:DeleteObjectVersion", STUB),
        ("s3:ListBucketVersions", "state"),
        (PUT, STUB),
        (PUT, MANIFEST),
        (DELETE, SEGMENT),
        (DELETE, DELTA),
        (PUT, SNAPSHOT),
        (GET, PROPOSAL),
        (PUT, PROPOSAL),
        (DELETE, PROPOSAL),
        (GET, UNDO),
        (PUT, UNDO),
        (DELETE, UNDO),
        (PUT, REPORT),
        (DELETE, DUE),
        ("s3vectors:DeleteVectors", VECTORS),
        ("s3vectors:ListVectors", VECTORS),
        ("s3vectors:PutVectors", VECTORS),
        ("s3vectors:CreateIndex", VECTORS),
        ("s3vectors:GetIndex", VECTORS),
        ("s3vectors:DeleteIndex", VECTORS),
        ("sqs:SendMessage", "tasks"),
        ("sqs:ReceiveMessage", "tasks"),
        ("sqs:DeleteMessage", "tasks"),
    ],
}
DENIED = {
    "mcp_server": [
        (PUT, KEY),
        (DELETE, KEY),
        (DELETE, MEMORY),
        ("s3:DeleteObjectVersion", MEMORY),
        (DELETE, STUB),
        (PUT, MANIFEST),
        (PUT, SEGMENT),
        (DELETE, SEGMENT),
        (PUT, REPORT),
        (DELETE, DELTA),
        (DELETE, PROPOSAL),
        (DELETE, UNDO),
        ("s3:PutBucketPolicy", "state"),
        ("s3:PutLifecycleConfiguration", "state"),
        ("s3vectors:PutVectors", VECTORS),
        ("s3vectors:DeleteVectors", VECTORS),
        ("s3vectors:CreateIndex", VECTORS),
        ("sqs:SendMessage", "changes"),
        ("sqs:ReceiveMessage", "tasks"),
        ("sqs:PurgeQueue", "tasks"),
        ("lambda:InvokeFunction", "anything"),
        ("bedrock:InvokeModel", "anything"),
        ("iam:PassRole", "anything"),
    ],
    "indexer": [
        (PUT, MEMORY),
        (DELETE, MEMORY),
        ("s3:DeleteObjectVersion", MEMORY),
        (PUT, STUB),
        (GET, KEY),
        (PUT, KEY),
        (PUT, "state/anything"),
        (PUT, DELTA),
        (PUT, PROPOSAL),
        ("s3:ListBucketVersions", "state"),
        ("s3:PutBucketNotification", "state"),
        ("sqs:SendMessage", "changes"),
        ("sqs:SendMessage", "tasks"),
        ("sqs:ReceiveMessage", "tasks"),
        ("s3vectors:DeleteIndex", VECTORS),
        ("s3vectors:QueryVectors", VECTORS),
    ],
    "maintenance": [
        (GET, KEY),
        (PUT, KEY),
        (DELETE, KEY),
        (DELETE, MEMORY),
        (PUT, "state/anything"),
        ("s3:DeleteBucket", "state"),
        ("s3:PutBucketVersioning", "state"),
        ("s3:PutLifecycleConfiguration", "state"),
        ("sqs:ReceiveMessage", "changes"),
        ("sqs:DeleteMessage", "changes"),
        ("sqs:SendMessage", "changes"),
        ("sqs:PurgeQueue", "tasks"),
        ("sqs:DeleteQueue", "tasks"),
        ("s3vectors:DeleteVectorBucket", "vectors"),
        ("lambda:InvokeFunction", "anything"),
        ("logs:DeleteLogGroup", "anything"),
    ],
}
# Every wildcard in a policy of ours, with its reason.
OBJECTS = "objects below one prefix: which ones, the caller's tenant decides"
WILDCARDS = {
    **{f"state/{prefix}/*": OBJECTS for prefix in ("memories", "tombstones", "access")},
    **{
        f"index/{prefix}/*": OBJECTS
        for prefix in ("pending", "index", "counts", "proposals", "undo", "reports", "due")
    },
    "vectors/index/*": "each tenant's vector index, made while it grows",
}


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_what_it_has_to(environment: str, function: str) -> None:
    policy = Policy(environment, function)
    assert len(ALLOWED[function]) >= 12
    refused = [call for call in ALLOWED[function] if not policy.allows(*call)]
    assert not refused


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_nothing_else(environment: str, function: str) -> None:
    policy = Policy(environment, function)
    assert len(DENIED[function]) >= 12
    granted = [call for call in DENIED[function] if policy.allows(*call)]
    assert not granted


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_wildcard_stands_without_a_reason(function: str) -> None:
    assert Policy("prod", function).wildcards() <= set(WILDCARDS)


def test_the_indexer_can_write_nothing_that_would_call_it_again() -> None:
    policy = Policy("prod", "indexer")
    writes = (
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:PutObjectAcl",
        "s3:RestoreObject",
        "s3:DeleteObjectVersion",
    )
    assert not [action for action in writes if policy.allows(action, MEMORY)]
