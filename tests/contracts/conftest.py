"""Every kind of store, each made empty for a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lodestore.ports.object_store import ObjectStore
from tests.stores.fixtures import StoreMaker
from tests.stores.kinds import KINDS, making


@pytest.fixture(scope="module", params=KINDS)
def make_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StoreMaker]:
    """A maker of every kind of store in turn; each store it makes is empty."""
    with making(request.param, request, tmp_path_factory.mktemp("stores")) as make:
        yield make


@pytest.fixture
def store(make_store: StoreMaker) -> ObjectStore:
    """An empty store without versions."""
    return make_store()


@pytest.fixture
def versioned_store(make_store: StoreMaker) -> ObjectStore:
    """An empty store that keeps versions."""
    return make_store(versioned=True)
