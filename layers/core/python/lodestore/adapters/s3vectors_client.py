"""The SDK clients of S3 Vectors: one for queries, one for all else.

Owns: every setting of the SDK. Guarantees: the SDK repeats nothing (`s3vectors_index` does, within a deadline), and no
connection or credential is made before the first request.
Gives up: choosing endpoint, region and credentials, which come from the SDK's own environment
(`AWS_ENDPOINT_URL_S3VECTORS` and so on).

botocore without boto3 on top: the same client, in less of a cold start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from botocore.config import Config
from botocore.exceptions import NoRegionError
from botocore.session import get_session

from lodestore.adapters.sdk_logs import keep_content_out
from lodestore.errors import SettingsError

CONNECT_SECONDS = 1
# A query that takes longer is of less use to a caller who waits than the shards.
QUERY_READ_SECONDS = 2
WRITE_READ_SECONDS = 20
CONNECTIONS = 16

Response = Mapping[str, Any]


class S3VectorsClient(Protocol):
    """The operations that are used, as botocore's client has them."""

    def create_index(self, **arguments: object) -> Response:
        """CreateIndex."""
        ...

    def get_index(self, **arguments: object) -> Response:
        """GetIndex."""
        ...

    def delete_index(self, **arguments: object) -> Response:
        """DeleteIndex."""
        ...

    def put_vectors(self, **arguments: object) -> Response:
        """PutVectors."""
        ...

    def delete_vectors(self, **arguments: object) -> Response:
        """DeleteVectors."""
        ...

    def list_vectors(self, **arguments: object) -> Response:
        """ListVectors."""
        ...

    def query_vectors(self, **arguments: object) -> Response:
        """QueryVectors."""
        ...


def make_clients() -> tuple[S3VectorsClient, S3VectorsClient]:
    """A client for queries and one for the rest. Sends nothing. Raises SettingsError where no region is known."""
    keep_content_out()
    return _client(QUERY_READ_SECONDS), _client(WRITE_READ_SECONDS)


def _client(read_seconds: int) -> S3VectorsClient:
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        retries={"total_max_attempts": 1, "mode": "standard"},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
    )
    try:
        return cast(S3VectorsClient, get_session().create_client("s3vectors", config=config))
    except NoRegionError as failure:
        raise SettingsError("VECTOR_BUCKET: no region is known; is AWS_REGION set?") from failure
