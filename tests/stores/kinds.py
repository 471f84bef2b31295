"""The kinds of stores that keep one contract, each made empty on demand.

Owns: how a test gets a store of each kind. Guarantees: two tests never share a key.
Gives up: threads on in-process moto. It checks a condition and writes without a lock in between, and so loses
updates; `RACING_KINDS` leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import format_datetime
from pathlib import Path
from typing import Any, cast

import pytest
from moto import mock_aws

from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.system_clock import SystemClock
from lodestore.ports.object_store import ObjectStore
from tests.faults.hostile_store import FaultyStore
from tests.stores.fixtures import StoreMaker, buckets_of, fresh_prefix, make_buckets
from tests.stores.memory_store import Contents, MemoryStore

KINDS = ("folder", "faulty", "memory", "moto", "ministack", "seaweedfs")
RACING_KINDS = ("folder", "memory", "ministack", "seaweedfs")


def _folder_maker(folder: Path) -> StoreMaker:
    def make(*, versioned: bool = False) -> ObjectStore:
        return FolderStore(folder / fresh_prefix(), SystemClock(), versioned)

    return make


def _faulty_maker(folder: Path) -> StoreMaker:
    """The wrapper of fault tests must itself be a store like any other, as long as no rule applies."""
    make_inner = _folder_maker(folder)

    def make(*, versioned: bool = False) -> ObjectStore:
        return FaultyStore(make_inner(versioned=versioned))

    return make


def _make_in_memory(*, versioned: bool = False) -> ObjectStore:
    """What tests/interleavings explores must itself be a store like any other."""
    return MemoryStore(SystemClock(), Contents(versioned))


def _date_the_answer(response_dict: dict[str, dict[str, str]], **_: object) -> None:
    """In process no HTTP server stands before moto, which every server's `Date` comes from."""
    response_dict["headers"].setdefault("date", format_datetime(SystemClock().now(), usegmt=True))


@contextmanager
def _moto_maker() -> Iterator[StoreMaker]:
    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
        patch.delenv("AWS_ENDPOINT_URL", raising=False)
        buckets = make_buckets()
        for client in (buckets.reads, buckets.writes):
            cast(Any, client).meta.events.register("before-parse.s3", _date_the_answer)

        def make(*, versioned: bool = False) -> ObjectStore:
            return buckets.store(fresh_prefix(), versioned=versioned)

        yield make


@contextmanager
def making(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[StoreMaker]:
    """A maker of one kind of store; starts the kind's server if no test did."""
    if kind == "moto":
        with _moto_maker() as make:
            yield make
        return
    if kind in ("folder", "faulty"):
        yield _folder_maker(folder) if kind == "folder" else _faulty_maker(folder)
        return
    if kind == "memory":
        yield _make_in_memory
        return
    buckets = buckets_of(request.getfixturevalue(f"{kind}_server"))

    def make_on_server(*, versioned: bool = False) -> ObjectStore:
        return buckets.store(fresh_prefix(), versioned=versioned)

    yield make_on_server
