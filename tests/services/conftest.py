"""Fixtures of the service tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.services.world import Instance, World

# What is tested here is order, not disks: a folder in memory spares thousands of real fsyncs.
IN_MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in memory where the machine has such a place."""
    if not os.access(IN_MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=IN_MEMORY, prefix="lodestore-") as name:
        yield Path(name)


@pytest.fixture(params=["off", "on", "random"])
def world(request: pytest.FixtureRequest, folder: Path) -> Iterator[World]:
    """Stores and a clock of one's own; each test with the indexer off, on, and running at random moments."""
    world = World(folder, request.param)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    """An instance as seen by an admin of the tenant acme, in no conversation."""
    return world.instance("acme")
