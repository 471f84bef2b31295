"""Clients of both kinds of the emulated service."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.s3vectors.clients import KINDS, vectors_client
from tests.s3vectors.index_calls import Index


@pytest.fixture(scope="module", params=KINDS)
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A client with one bucket, `BUCKET`; indexes are a test's own."""
    with vectors_client(request.param) as made:
        yield made


@pytest.fixture
def index(client: Any, request: pytest.FixtureRequest) -> Index:
    """An empty cosine index of three dimensions, with the non-filterable keys `text` and `note`."""
    return Index(client, f"i{zlib.crc32(request.node.nodeid.encode()):08x}")
