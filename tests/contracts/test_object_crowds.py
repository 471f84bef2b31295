"""More objects in one folder than one answer of S3 holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from lodestore.ports.object_store import ObjectStore, Won
from tests.contracts.test_object_listings import keys_of
from tests.stores.fixtures import PARALLEL, StoreMaker

CROWD = 2345
PREFIX = "memories/acme/"


@pytest.fixture(scope="module")
def crowd(make_store: StoreMaker) -> tuple[ObjectStore, list[str]]:
    """A store with 2,345 objects in one folder, and one on either side of it."""
    store = make_store()
    keys = sorted(f"{PREFIX}{number * 7919 % CROWD:04}.json" for number in range(CROWD))
    with ThreadPoolExecutor(PARALLEL) as pool:
        outcomes = list(
            pool.map(lambda key: store.create(key, b"{}"), [*keys, "memories/acmd/x", "memories/acmf/x"])
        )
    assert all(isinstance(outcome, Won) for outcome in outcomes)
    return store, keys


@pytest.mark.case("B41")
def test_everything_past_the_first_thousand_is_listed_too(crowd: tuple[ObjectStore, list[str]]) -> None:
    store, keys = crowd
    pages = list(store.list(PREFIX))
    assert [len(page.entries) for page in pages] == [1000, 1000, 345]
    assert keys_of(pages) == keys
    assert all(earlier.at <= later.at for earlier, later in pairwise(pages))


@pytest.mark.case("B41")
def test_a_listing_from_the_middle_goes_on_to_the_end(crowd: tuple[ObjectStore, list[str]]) -> None:
    store, keys = crowd
    for start in (999, 1000, 2344):
        assert keys_of(store.list(PREFIX, start_after=keys[start])) == keys[start + 1 :]


@pytest.mark.case("B41")
def test_the_versions_of_every_object_are_listed(crowd: tuple[ObjectStore, list[str]]) -> None:
    store, keys = crowd
    assert [version.key for version in store.versions(PREFIX)] == keys


def test_a_page_is_never_larger_than_s3s(crowd: tuple[ObjectStore, list[str]]) -> None:
    store, _ = crowd
    assert len(next(store.list(PREFIX, page_size=5000)).entries) == 1000
