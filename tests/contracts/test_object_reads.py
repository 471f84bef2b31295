"""Reading one object, from every store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta

import pytest

from lodestore.ports.object_store import Found, Missing, NotModified, ObjectStore, ObjectTooLarge, Won

KEY = "memories/acme/note-7.json"
BODIES = (b"", b"{}\n", b'{"content": "J\xc3\xb6rg"}', bytes(range(256)) * 4, b"x" * (1 << 20))
NO_KEYS = (
    "",
    "/memories/acme/x",
    "memories//x",
    "memories/acme/",
    "memories/../secrets",
    "memories/./x",
    "memories/acme/a b",
    "memories/acme/a%2fb",
    "memories/acme/nul\0",
    "memories/acme/é",
    "memories\\acme",
    "memories/acme/" + "x" * 201,
    "m/" * 600 + "x",
)


def etag_of(store: ObjectStore, key: str) -> str:
    found = store.get(key)
    assert isinstance(found, Found)
    return found.etag


def test_an_object_that_never_was_is_missing(store: ObjectStore) -> None:
    assert isinstance(store.get(KEY), Missing)
    assert isinstance(store.get("nothing/at/all/here"), Missing)


@pytest.mark.parametrize("body", BODIES, ids=len)
def test_a_body_comes_back_as_it_was_written(store: ObjectStore, body: bytes) -> None:
    won = store.create(KEY, body)
    found = store.get(KEY)
    assert isinstance(won, Won)
    assert isinstance(found, Found)
    assert (found.body, found.etag) == (body, won.etag)


def test_times_are_utc_and_the_store_knows_when_it_answered(store: ObjectStore) -> None:
    won = store.create(KEY, b"1")
    found = store.get(KEY)
    missing = store.get(KEY + "x")
    assert isinstance(won, Won)
    assert isinstance(found, Found)
    assert isinstance(missing, Missing)
    for moment in (won.at, found.at, missing.at, found.last_modified):
        assert moment.utcoffset() == timedelta(0)
    assert won.at <= found.at <= missing.at
    # S3's times are whole seconds.
    assert abs(found.last_modified - won.at) <= timedelta(seconds=2)
    assert found.last_modified.astimezone(UTC) == found.last_modified


def test_what_the_reader_holds_already_is_not_sent_again(store: ObjectStore) -> None:
    store.create(KEY, b"1")
    held = etag_of(store, KEY)
    assert isinstance(store.get(KEY, known_etag=held), NotModified)
    store.replace(KEY, b"2", expected=held)
    newer = store.get(KEY, known_etag=held)
    assert isinstance(newer, Found)
    assert newer.body == b"2"


def test_an_etag_held_of_an_object_since_deleted_says_missing(store: ObjectStore) -> None:
    store.create(KEY, b"1")
    held = etag_of(store, KEY)
    store.delete(KEY)
    assert isinstance(store.get(KEY, known_etag=held), Missing)


@pytest.mark.promise("P-BOUNDED")
def test_a_body_over_the_readers_bound_is_refused_and_one_at_it_is_read(store: ObjectStore) -> None:
    store.create(KEY, b"x" * 1000)
    found = store.get(KEY, max_bytes=1000)
    assert isinstance(found, Found)
    assert len(found.body) == 1000
    with pytest.raises(ObjectTooLarge):
        store.get(KEY, max_bytes=999)
    # The connection that was given up takes none of the following answers with it.
    assert isinstance(store.get(KEY, max_bytes=1000), Found)


def test_a_deleted_object_is_missing_and_deleting_it_again_is_no_error(store: ObjectStore) -> None:
    store.create(KEY, b"1")
    store.delete(KEY)
    store.delete(KEY)
    store.delete("never/was/there")
    assert isinstance(store.get(KEY), Missing)


@pytest.mark.case("B26")
def test_a_string_that_is_no_key_never_reaches_the_store(store: ObjectStore) -> None:
    calls: tuple[Callable[[str], object], ...] = (
        store.get,
        lambda key: store.create(key, b""),
        lambda key: store.replace(key, b"", expected="x"),
        store.delete,
        lambda key: store.get_version(key, "x"),
        lambda key: store.delete_version(key, "x"),
    )
    for key in NO_KEYS:
        for call in calls:
            with pytest.raises(ValueError, match="not an object key"):
                call(key)
    assert [page.entries for page in store.list("")] == [()]


@pytest.mark.promise("P-TENANT")
def test_keys_that_differ_in_case_only_are_different_objects(store: ObjectStore) -> None:
    keys = ("memories/Acme/x", "memories/acme/X", "memories/acme/x", "memories/aCME/x", "memories/ACME/X")
    for number, key in enumerate(keys):
        assert isinstance(store.create(key, b"%d" % number), Won)
    for number, key in enumerate(keys):
        found = store.get(key)
        assert isinstance(found, Found)
        assert found.body == b"%d" % number
