"""Fixtures of real stores for any test: servers start once a run, and every test gets a place of its own.

Owns: the servers' lives and the stores on them. Guarantees: two tests never share a key; a package that is not
installed is a skip that says so, and CI fails on it, for the reason is not among the allowed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest
from boto3.session import Session

from lodestore.adapters.s3_store import S3Store
from lodestore.adapters.s3_store_client import S3Client, make_clients
from lodestore.ports.object_store import ObjectStore
from tests.stores.servers import NotInstalled, Server, ministack, seaweedfs

PLAIN_BUCKET = "plain"
VERSIONED_BUCKET = "versioned"
PARALLEL = 16


class StoreMaker(Protocol):
    """Makes an empty store."""

    def __call__(self, *, versioned: bool = False) -> ObjectStore: ...


@dataclass(frozen=True, slots=True)
class Buckets:
    """A server's two buckets, and clients of them."""

    reads: S3Client
    writes: S3Client

    def store(self, prefix: str, *, versioned: bool = False) -> ObjectStore:
        """A store below a prefix of one of them."""
        return S3Store(self.reads, self.writes, VERSIONED_BUCKET if versioned else PLAIN_BUCKET, prefix)


def make_buckets() -> Buckets:
    """The buckets, made on whatever server the SDK's environment names now."""
    admin = Session().client("s3")
    for bucket in (PLAIN_BUCKET, VERSIONED_BUCKET):
        admin.create_bucket(Bucket=bucket)
    admin.put_bucket_versioning(Bucket=VERSIONED_BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return Buckets(*make_clients(PARALLEL))


def _served(start: Callable[[Path], AbstractContextManager[Server]], folder: Path) -> Iterator[Server]:
    try:
        with start(folder) as server:
            yield server
    except NotInstalled as absent:
        pytest.skip(str(absent))


@pytest.fixture(scope="session")
def ministack_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The AWS emulator."""
    yield from _served(ministack, tmp_path_factory.mktemp("ministack"))


@pytest.fixture(scope="session")
def seaweedfs_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """SeaweedFS with its S3 gateway."""
    yield from _served(seaweedfs, tmp_path_factory.mktemp("seaweedfs"))


@cache
def buckets_of(server: Server) -> Buckets:
    """The buckets of a server, made once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        return make_buckets()


_places = count(1)


def fresh_prefix() -> str:
    """A prefix that no other test of this run has."""
    return f"run-{next(_places)}/"
