"""The SDK clients of the S3 store: one that repeats nothing, one that repeats reads.

Owns: every setting of the SDK. Guarantees: a conditional write is sent exactly once; a read, a listing or a
delete at most READ_ATTEMPTS times; no connection, credential or socket is made before the first request, so
a process restored from a snapshot shares none. Each attempt takes CONNECT_SECONDS + READ_SECONDS at most
between two bytes.
Gives up: choosing the endpoint, the region and the credentials. They come from the SDK's own environment
(`AWS_ENDPOINT_URL_S3` and so on).

botocore without boto3 on top: the same client, in less of a cold start.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, Protocol, cast

from botocore.config import Config
from botocore.session import get_session
from botocore.utils import parse_timestamp

from lodestore.adapters.sdk_logs import keep_content_out

CONNECT_SECONDS = 2
READ_SECONDS = 10
READ_ATTEMPTS = 3
# Beside the parallel reads: the listing, the manifest and the two writes of a tool call.
SPARE_CONNECTIONS = 8

Response = Mapping[str, Any]


class S3Client(Protocol):
    """The operations that the store uses, as botocore's client has them."""

    def get_object(self, **arguments: object) -> Response:
        """GetObject."""
        ...

    def put_object(self, **arguments: object) -> Response:
        """PutObject."""
        ...

    def delete_object(self, **arguments: object) -> Response:
        """DeleteObject."""
        ...

    def list_objects_v2(self, **arguments: object) -> Response:
        """ListObjectsV2."""
        ...

    def list_object_versions(self, **arguments: object) -> Response:
        """ListObjectVersions."""
        ...


def make_clients(parallel: int) -> tuple[S3Client, S3Client]:
    """A client for reads and one for writes, each with connections for `parallel` requests at once."""
    keep_content_out()
    session = get_session()
    session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_time_of)
    reads = session.create_client("s3", config=_config(parallel, READ_ATTEMPTS))
    writes = session.create_client("s3", config=_config(parallel, 1))
    return cast(S3Client, reads), cast(S3Client, writes)


def _time_of(text: str) -> datetime:
    """As the SDK reads times, but those of a listing fast: its own way takes half of the listing's CPU."""
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return parse_timestamp(text)


def _config(parallel: int, attempts: int) -> Config:
    # S3's newer default checksums are refused by some compatible servers. Where an endpoint is set, the SDK
    # addresses buckets by path of itself.
    required: Literal["when_required"] = "when_required"
    return Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        max_pool_connections=parallel + SPARE_CONNECTIONS,
        tcp_keepalive=True,
        request_checksum_calculation=required,
        response_checksum_validation=required,
    )
