"""Conditional writes of one writer at a time, to every store. Races are in `tests/concurrency`."""

from __future__ import annotations

import pytest

from lodestore.ports.object_store import Found, Gone, Lost, Missing, ObjectStore, Won
from tests.contracts.test_object_reads import etag_of

KEY = "memories/acme/note-7.json"


def body_of(store: ObjectStore, key: str = KEY) -> bytes:
    found = store.get(key)
    assert isinstance(found, Found)
    return found.body


def test_the_first_create_wins_and_the_second_changes_nothing(store: ObjectStore) -> None:
    assert isinstance(store.create(KEY, b"first"), Won)
    assert store.create(KEY, b"second") == Lost()
    assert store.create(KEY, b"first") == Lost()
    assert body_of(store) == b"first"


def test_a_replace_wins_over_exactly_the_object_it_names(store: ObjectStore) -> None:
    created = store.create(KEY, b"1")
    assert isinstance(created, Won)
    replaced = store.replace(KEY, b"22", expected=created.etag)
    assert isinstance(replaced, Won)
    assert store.replace(KEY, b"333", expected=created.etag) == Lost()
    assert body_of(store) == b"22"
    assert etag_of(store, KEY) == replaced.etag != created.etag


def test_an_etag_that_was_read_is_as_good_as_one_that_was_answered(store: ObjectStore) -> None:
    store.create(KEY, b"1")
    assert isinstance(store.replace(KEY, b"2", expected=etag_of(store, KEY)), Won)
    assert body_of(store) == b"2"


@pytest.mark.case("B19")
def test_a_replace_of_nothing_writes_nothing(store: ObjectStore) -> None:
    # SeaweedFS says 412 where S3 says 404. Both are told apart from a win, and reading says which it was.
    assert store.replace(KEY, b"1", expected='"d41d8cd98f00b204e9800998ecf8427e"') in (Gone(), Lost())
    assert isinstance(store.get(KEY), Missing)


@pytest.mark.case("B19")
def test_a_replace_of_what_was_deleted_meanwhile_writes_nothing(store: ObjectStore) -> None:
    created = store.create(KEY, b"1")
    assert isinstance(created, Won)
    store.delete(KEY)
    assert store.replace(KEY, b"2", expected=created.etag) in (Gone(), Lost())
    assert isinstance(store.get(KEY), Missing)


def test_a_deleted_key_can_be_created_again(store: ObjectStore) -> None:
    store.create(KEY, b"1")
    store.delete(KEY)
    assert isinstance(store.create(KEY, b"2"), Won)
    assert body_of(store) == b"2"


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_writer_that_read_before_others_wrote_never_wins(store: ObjectStore) -> None:
    seen: set[str] = set()
    created = store.create(KEY, b"body 00")
    assert isinstance(created, Won)
    current = created.etag
    for number in range(1, 30):
        seen.add(current)
        replaced = store.replace(KEY, b"body %02d" % number, expected=current)
        assert isinstance(replaced, Won)
        assert replaced.etag not in seen
        current = replaced.etag
    for old in seen:
        assert store.replace(KEY, b"late", expected=old) == Lost()
    assert body_of(store) == b"body 29"


def test_another_content_under_a_deleted_key_has_another_etag(store: ObjectStore) -> None:
    etags = set()
    for number in range(20):
        created = store.create(KEY, b"same size %02d" % number)
        assert isinstance(created, Won)
        etags.add(created.etag)
        store.delete(KEY)
    assert len(etags) == 20


def test_writes_to_different_keys_do_not_touch_each_other(store: ObjectStore) -> None:
    names = ("a", "a.json", "a-b", "a~b", "a_b", "A", "con", "nul.json", "x" * 200, "X" * 200, "aux.", "a.")
    for name in names:
        assert isinstance(store.create(f"pending/acme/{name}", name.encode()), Won)
    assert [body_of(store, f"pending/acme/{name}").decode() for name in names] == list(names)
    store.delete("pending/acme/a")
    assert isinstance(store.get("pending/acme/a"), Missing)
    assert body_of(store, "pending/acme/A") == b"A"
