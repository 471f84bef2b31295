"""What each function may do: by action and by prefix of a bucket, and nothing else.

Owns: the statements of the three functions. Guarantees: no function writes to `access/`; the indexer writes nothing
in the state bucket, so that it can't trigger itself; only maintenance deletes old versions.
Gives up: telling tenants apart. One function serves all of them, and a key decides (lodestore.services.access).

`s3:ListBucket` is on the whole bucket, because without it S3 answers 403 and not 404 for an object that is missing.
A conditional write needs s3:GetObject on what it replaces beside s3:PutObject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from infra.constructs.findings import accept
from infra.settings import Environment
from infra.storage_stack import StorageStack

_READ, _WRITE, _DELETE = "s3:GetObject", "s3:PutObject", "s3:DeleteObject"
_DERIVED = ("pending/", "index/", "counts/", "proposals/", "undo/", "reports/", "due/")
_Places = Mapping[str, Mapping[str, tuple[str, ...]]]
MCP_SERVER: _Places = {
    "state": {
        "memories/": (_READ, "s3:GetObjectVersion", _WRITE),
        "tombstones/": (_READ, _WRITE),
        "access/": (_READ,),
    },
    "index": {
        "pending/": (_READ, _WRITE, _DELETE),
        "index/": (_READ,),
        "counts/": (_READ, _WRITE),
        "proposals/": (_READ, _WRITE),
        "undo/": (_READ, _WRITE),
        "due/": (_READ, _WRITE),
    },
}
INDEXER: _Places = {
    "state": {"memories/": (_READ,), "tombstones/": (_READ,)},
    "index": {
        "pending/": (_READ, _WRITE, _DELETE),
        "index/": (_READ, _WRITE, _DELETE),
        "due/": (_READ, _WRITE),
        # A rebuild shows the levels of use that were folded.
        "counts/": (_READ,),
    },
}
MAINTENANCE: _Places = {
    "state": {
        "memories/": (_READ, "s3:GetObjectVersion", _WRITE, "s3:DeleteObjectVersion"),
        "tombstones/": (_READ, "s3:GetObjectVersion", _WRITE, "s3:DeleteObjectVersion"),
    },
    "index": dict.fromkeys(_DERIVED, (_READ, _WRITE, _DELETE)),
}
_FILL = (
    "s3vectors:CreateIndex",
    "s3vectors:GetIndex",
    "s3vectors:PutVectors",
    "s3vectors:DeleteVectors",
)
# A query with a filter or with texts needs GetVectors, too.
VECTORS = {
    "mcp_server": ("s3vectors:QueryVectors", "s3vectors:GetVectors"),
    "indexer": _FILL,
    "maintenance": (*_FILL, "s3vectors:ListVectors", "s3vectors:DeleteIndex"),
}
PREFIXES = {"mcp_server": MCP_SERVER, "indexer": INDEXER, "maintenance": MAINTENANCE}
# Whose memories are read version by version: for history, and to delete the versions of forgotten ones.
_READS_VERSIONS = ("mcp_server", "maintenance")
# Who makes vectors; the indexer takes them as they are stored.
_EMBEDS = ("mcp_server", "maintenance")


_WILDCARD = "Objects below one prefix of one bucket; a caller's tenant decides which."


def grant(role: iam.Role, function: str, storage: StorageStack, environment: Environment) -> None:
    """Add the function's statements to its role."""
    for place, shared in (("state", storage.shared_state), ("index", storage.shared_index)):
        listing = ["s3:ListBucket"]
        if place == "state" and function in _READS_VERSIONS:
            listing.append("s3:ListBucketVersions")
        _allow(role, listing, [shared.arn])
        for prefix, actions in PREFIXES[function][place].items():
            _allow(role, actions, [f"{shared.arn}/{prefix}*"])
            accept(role, f"AwsSolutions-IAM5[Resource::{shared.name}/{prefix}*]", _WILDCARD)
    _grant_vectors(role, function, storage, environment)
    if storage.key is not None:
        _allow(role, ["kms:Decrypt", "kms:GenerateDataKey"], [storage.key.key_arn])
    models = []
    if environment.embeddings == "bedrock" and function in _EMBEDS:
        models.append(environment.embed_model)
    if environment.sleep_model_id is not None and function == "maintenance":
        models.append(environment.sleep_model_id)
    for model in models:
        arn = f"arn:{storage.partition}:bedrock:{storage.region}::foundation-model/{model}"
        _allow(role, ["bedrock:InvokeModel"], [arn])


def _grant_vectors(role: iam.Role, function: str, storage: StorageStack, environment: Environment) -> None:
    reason = "Each tenant's index in this one vector bucket."
    if storage.shared_vectors is not None:
        shared = storage.shared_vectors
        _allow(role, VECTORS[function], [shared.arn, f"{shared.arn}/index/*"])
        accept(role, f"AwsSolutions-IAM5[Resource::{shared.name}/index/*]", reason)
    elif environment.vector_bucket is not None:
        account = f"{storage.region}:{storage.account}"
        arn = f"arn:{storage.partition}:s3vectors:{account}:bucket/{environment.vector_bucket}"
        _allow(role, VECTORS[function], [arn, f"{arn}/index/*"])
        shown = f"arn:<AWS::Partition>:s3vectors:<AWS::Region>:<AWS::AccountId>:bucket/{environment.vector_bucket}"
        accept(role, f"AwsSolutions-IAM5[Resource::{shown}/index/*]", reason)


def grant_send(role: iam.Role, queue: sqs.Queue, environment: Environment) -> None:
    """Let the function put tasks on this one queue."""
    actions = ["sqs:SendMessage"]
    if environment.name == "test":
        # On AWS SendMessage allows the batch too; the emulator asks for an action of the request's own name.
        actions.append("sqs:SendMessageBatch")
    _allow(role, actions, [queue.queue_arn])


def _allow(role: iam.Role, actions: Sequence[str], resources: Sequence[str]) -> None:
    role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=list(resources)))
