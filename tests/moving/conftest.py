"""Fixtures of the tests of moving."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.moving.foreign_import import Taker
from tests.services.world import World


@pytest.fixture
def taker(tmp_path: Path) -> Iterator[Taker]:
    """An empty tenant that imports files."""
    world = World(tmp_path / "store", "on")
    yield Taker(world.instance("acme"))
    world.close()
