"""`make destroy`, between its two stacks: empties the buckets, for S3 deletes no bucket that holds something.

Owns: deleting every version below a Storage stack. Guarantees: a stack that is protected keeps everything, and that is
said; what S3 refused to delete is an error. Gives up: asking whether it is meant; `make destroy` was asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

OUTPUTS = ("StateBucket", "IndexBucket")
REFUSALS_SHOWN = 3


class NotEmptied(Exception):
    """A bucket still holds something; one line."""


def empty(environment: str) -> list[str]:
    """Delete every version in both buckets of the environment; the lines to print. Raises NotEmptied."""
    stack = f"Lodestore-{environment}-Storage"
    try:
        (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        if found.get("EnableTerminationProtection"):
            return [f"{stack} is protected (retain = true): nothing was deleted"]
        held = {output["OutputKey"]: output["OutputValue"] for output in found.get("Outputs", [])}
        s3 = boto3.client("s3")
        return [f"{held[name]}: {_empty(s3, held[name])} versions deleted" for name in OUTPUTS]
    except (BotoCoreError, ClientError) as error:
        raise NotEmptied(f"{stack}: {error}") from error


def _empty(s3: Any, bucket: str) -> int:
    deleted = 0
    for page in _pages(s3, bucket):
        refused = s3.delete_objects(Bucket=bucket, Delete={"Objects": page, "Quiet": True}).get("Errors", [])
        if refused:
            codes = sorted({error["Code"] for error in refused})[:REFUSALS_SHOWN]
            raise NotEmptied(f"{bucket}: {len(refused)} versions could not be deleted: {', '.join(codes)}")
        deleted += len(page)
    return deleted


def _pages(s3: Any, bucket: str) -> Iterator[list[dict[str, str]]]:
    """Keys and version ids, by at most 1,000: what one DeleteObjects takes."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        held = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        if held:
            yield [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in held]


def main(arguments: list[str]) -> int:
    """Empty the buckets of the environment that is named."""
    try:
        print("\n".join(empty(arguments[0])))
    except NotEmptied as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:2]))
