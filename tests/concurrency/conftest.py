"""Stores for races: all kinds that promise something to threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lodestore.ports.object_store import ObjectStore
from tests.stores.kinds import RACING_KINDS, making


@pytest.fixture(params=RACING_KINDS)
def racing_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ObjectStore]:
    """An empty store of each kind in turn."""
    with making(request.param, request, tmp_path_factory.mktemp("stores")) as make:
        yield make()
