"""Old versions, in every store that keeps them."""

from __future__ import annotations

import pytest

from lodestore.ports.object_store import Found, Missing, ObjectStore, ObjectTooLarge, Version, Won

KEY = "memories/acme/note-7.json"


def write(store: ObjectStore, *bodies: bytes, key: str = KEY) -> None:
    for body in bodies:
        found = store.get(key)
        if isinstance(found, Found):
            assert isinstance(store.replace(key, body, expected=found.etag), Won)
        else:
            assert isinstance(store.create(key, body), Won)


def kept(store: ObjectStore, prefix: str = KEY) -> list[Version]:
    return list(store.versions(prefix))


def bodies_of(store: ObjectStore, versions: list[Version]) -> list[bytes]:
    found = [
        store.get_version(version.key, version.version_id) for version in versions if not version.deleted
    ]
    return [version.body for version in found if isinstance(version, Found)]


def test_every_body_that_was_replaced_can_be_read_newest_first(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"1", b"22", b"333")
    versions = kept(versioned_store)
    assert bodies_of(versioned_store, versions) == [b"333", b"22", b"1"]
    assert [version.latest for version in versions] == [True, False, False]
    assert not any(version.deleted for version in versions)
    assert len({version.version_id for version in versions}) == 3
    assert [version.key for version in versions] == [KEY] * 3
    times = [version.last_modified for version in versions]
    assert times == sorted(times, reverse=True)


def test_a_deleted_object_keeps_its_versions(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"1", b"22")
    versioned_store.delete(KEY)
    versions = kept(versioned_store)
    assert isinstance(versioned_store.get(KEY), Missing)
    assert [version.deleted for version in versions if version.latest] == [True]
    assert sorted(bodies_of(versioned_store, versions)) == [b"1", b"22"]
    marker = next(version for version in versions if version.deleted)
    assert isinstance(versioned_store.get_version(KEY, marker.version_id), Missing)
    assert [page.entries for page in versioned_store.list("memories/acme/")] == [()]


def test_a_key_that_was_deleted_and_created_again_keeps_what_was_before(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"before")
    versioned_store.delete(KEY)
    write(versioned_store, b"after")
    versions = kept(versioned_store)
    assert sorted(bodies_of(versioned_store, versions)) == [b"after", b"before"]
    assert versions[0].latest
    assert bodies_of(versioned_store, versions[:1]) == [b"after"]


@pytest.mark.promise("P-FORGOTTEN")
def test_a_version_that_was_removed_is_gone_for_good_and_the_object_stays(
    versioned_store: ObjectStore,
) -> None:
    write(versioned_store, b"1", b"22", b"333")
    _, second, first = kept(versioned_store)
    versioned_store.delete_version(KEY, second.version_id)
    versioned_store.delete_version(KEY, second.version_id)
    versioned_store.delete_version(KEY, first.version_id)
    assert isinstance(versioned_store.get_version(KEY, second.version_id), Missing)
    assert bodies_of(versioned_store, kept(versioned_store)) == [b"333"]
    assert bodies_of(versioned_store, [first, second]) == []
    found = versioned_store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"333"


def test_without_the_latest_version_the_one_before_is_the_object(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"1", b"22")
    versioned_store.delete_version(KEY, kept(versioned_store)[0].version_id)
    found = versioned_store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"1"
    assert [version.latest for version in kept(versioned_store)] == [True]
    write(versioned_store, b"333")
    assert bodies_of(versioned_store, kept(versioned_store)) == [b"333", b"1"]


def test_without_the_delete_marker_the_object_is_back(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"1")
    versioned_store.delete(KEY)
    marker = next(version for version in kept(versioned_store) if version.deleted)
    versioned_store.delete_version(KEY, marker.version_id)
    found = versioned_store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"1"


def test_when_the_last_version_is_removed_nothing_is_left(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"1", b"22")
    for version in reversed(kept(versioned_store)):
        versioned_store.delete_version(KEY, version.version_id)
    assert kept(versioned_store, "") == []
    assert isinstance(versioned_store.get(KEY), Missing)
    assert isinstance(versioned_store.create(KEY, b"anew"), Won)


def test_versions_are_listed_by_key_below_any_beginning_of_one(versioned_store: ObjectStore) -> None:
    keys = (
        "memories/acme/a",
        "memories/acme/a-b",
        "memories/acme/b",
        "memories/acme-corp/a",
        "pending/acme/a",
    )
    for key in keys:
        write(versioned_store, b"1", b"22", key=key)
    for prefix in ("", "memories/", "memories/acme/", "memories/acme/a", "memories/acme", "none/"):
        listed = [version.key for version in kept(versioned_store, prefix)]
        assert sorted(listed) == sorted(key for key in keys if key.startswith(prefix) for _ in range(2))
    within = [version.key for version in kept(versioned_store, "memories/acme/")]
    assert within == sorted(within)


def test_a_version_that_never_was_is_missing(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"1")
    (only,) = kept(versioned_store)
    unknown = only.version_id[:-1] + ("0" if only.version_id[-1] != "0" else "1")
    assert isinstance(versioned_store.get_version(KEY, unknown), Missing)
    versioned_store.delete_version(KEY, unknown)
    assert isinstance(versioned_store.get_version("memories/acme/other", only.version_id), Missing)
    assert isinstance(versioned_store.get(KEY), Found)


@pytest.mark.promise("P-BOUNDED")
def test_an_old_version_over_the_readers_bound_is_refused(versioned_store: ObjectStore) -> None:
    write(versioned_store, b"x" * 1000, b"1")
    old = kept(versioned_store)[1]
    assert isinstance(versioned_store.get_version(KEY, old.version_id, max_bytes=1000), Found)
    with pytest.raises(ObjectTooLarge):
        versioned_store.get_version(KEY, old.version_id, max_bytes=999)


def test_a_store_without_versions_shows_the_current_objects(store: ObjectStore) -> None:
    write(store, b"1", b"22")
    (only,) = kept(store)
    assert only.latest
    assert bodies_of(store, [only]) == [b"22"]
    store.delete(KEY)
    assert kept(store) == []
