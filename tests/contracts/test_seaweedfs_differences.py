"""Where SeaweedFS differs from S3, and that keys of a fixed depth make it not matter.

Each test first shows the difference on the server itself, so that this list stays true for the pinned version.
"""

from __future__ import annotations

import pytest
from boto3.session import Session

from lodestore.ports.object_store import Lost, Missing, ObjectStore, Won
from tests.contracts.test_object_listings import fill, keys_of
from tests.stores.fixtures import PLAIN_BUCKET, buckets_of, fresh_prefix
from tests.stores.servers import Server


@pytest.fixture
def prefix() -> str:
    return fresh_prefix()


@pytest.fixture
def store(seaweedfs_server: Server, prefix: str) -> ObjectStore:
    return buckets_of(seaweedfs_server).store(prefix)


def listed_by_the_server(server: Server, prefix: str, start_after: str = "") -> list[str]:
    client = Session().client(
        "s3", endpoint_url=server.endpoint, aws_access_key_id="test", aws_secret_access_key="test"
    )
    answer = client.list_objects_v2(Bucket=PLAIN_BUCKET, Prefix=prefix, StartAfter=start_after)
    return [entry["Key"].removeprefix(prefix) for entry in answer.get("Contents", ())]


def test_folders_come_in_another_order_and_each_folder_in_s3s(
    seaweedfs_server: Server, store: ObjectStore, prefix: str
) -> None:
    keys = fill(store, (f"memories/{tenant}/{name}" for tenant in ("acme", "acme-corp") for name in "ab"))
    assert keys[0] == "memories/acme-corp/a"
    assert listed_by_the_server(seaweedfs_server, prefix) == [*keys[2:], *keys[:2]]
    for tenant in ("acme", "acme-corp"):
        assert keys_of(store.list(f"memories/{tenant}/")) == [f"memories/{tenant}/{name}" for name in "ab"]


def test_a_start_at_a_folders_name_skips_it_and_a_start_at_a_key_skips_nothing(
    seaweedfs_server: Server, store: ObjectStore, prefix: str
) -> None:
    fill(store, ("l/a/b", "l/c"))
    assert listed_by_the_server(seaweedfs_server, prefix, f"{prefix}l/a") == ["l/c"]  # S3: l/a/b, l/c
    keys = fill(store, (f"pending/acme/{name}" for name in ("a", "a-b", "a.b", "ab", "b")))
    for place, key in enumerate(keys):
        assert keys_of(store.list("pending/acme/", start_after=key)) == keys[place + 1 :]


@pytest.mark.case("B19")
def test_a_replace_of_nothing_is_lost_and_the_next_read_says_that_nothing_is_there(
    store: ObjectStore,
) -> None:
    assert store.replace("memories/acme/x.json", b"1", expected='"etag"') == Lost()  # S3: 404, so Gone
    assert isinstance(store.get("memories/acme/x.json"), Missing)
    assert isinstance(store.create("memories/acme/x.json", b"1"), Won)
