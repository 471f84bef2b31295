"""Clients of S3 Vectors for tests: in-process under `mock_aws`, or of the server on loopback.

Owns: making them, and their dummy credentials. Guarantees: each starts with one empty bucket, `BUCKET`, and nothing is
sent anywhere else. Gives up: two in-process clients with different data at once; moto's state is the process's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from botocore.config import Config
from botocore.session import get_session
from moto import mock_aws

from tests.s3vectors.server import HOST, empty, serve
from tests.s3vectors.service import install

BUCKET = "lodestore-vectors"
Kind = Literal["in_process", "server"]
KINDS: tuple[Kind, ...] = ("in_process", "server")


@contextmanager
def vectors_client(kind: Kind) -> Iterator[Any]:
    """A client that checks nothing of what it sends by itself; the service has to."""
    if kind == "server":
        with running() as endpoint:
            yield make_client(endpoint)
        return
    install()
    with mock_aws():
        client = make_client(None)
        client.create_vector_bucket(vectorBucketName=BUCKET)
        yield client


@contextmanager
def running() -> Iterator[str]:
    """A server in this process, in a thread of its own, with `BUCKET` in it and nothing else; its address."""
    empty()
    server = serve(0, BUCKET)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        empty()


def make_client(endpoint: str | None) -> Any:
    """A client with a dummy key."""
    return get_session().create_client(
        "s3vectors",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(parameter_validation=False, retries={"total_max_attempts": 1}),
    )
