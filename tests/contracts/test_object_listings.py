"""Listings of every store: complete, in order, within the prefix."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from lodestore.ports.object_store import Entry, Found, ObjectStore, Page
from tests.stores.fixtures import StoreMaker

NAMES = "a a-b a.b a~b a_b ab A Ab AB 0 9 Z z ~ - a. con con.x".split()
TENANTS = ("acme", "acme-corp", "acme.corp", "Acme", "acm", "acme0")


def entries_of(pages: Iterable[Page]) -> list[Entry]:
    return [entry for page in pages for entry in page.entries]


def keys_of(pages: Iterable[Page]) -> list[str]:
    return [entry.key for entry in entries_of(pages)]


def fill(store: ObjectStore, keys: Iterable[str]) -> list[str]:
    made = list(keys)
    for key in made:
        store.create(key, key.encode())
    return sorted(made)


def test_an_empty_listing_is_one_empty_page(store: ObjectStore) -> None:
    for prefix in ("", "memories/", "memories/acme/"):
        pages = list(store.list(prefix))
        assert [(page.entries, page.prefixes) for page in pages] == [((), ())]
        assert [(page.entries, page.prefixes) for page in store.list(prefix, delimiter="/")] == [((), ())]


def test_the_keys_of_a_folder_come_in_the_order_of_their_bytes(store: ObjectStore) -> None:
    keys = fill(store, (f"pending/acme/{name}" for name in NAMES))
    assert keys_of(store.list("pending/acme/")) == keys


def test_an_entry_says_what_reading_the_object_says(store: ObjectStore) -> None:
    fill(store, ["memories/acme/x.json"])
    (entry,) = entries_of(store.list("memories/acme/"))
    found = store.get("memories/acme/x.json")
    assert isinstance(found, Found)
    assert (entry.etag, entry.size) == (found.etag, len(found.body))
    assert abs((entry.last_modified - found.last_modified).total_seconds()) < 1
    assert entry.last_modified.utcoffset() == found.at.utcoffset()


@pytest.mark.case("B21")
@pytest.mark.promise("P-TENANT")
def test_a_tenants_prefix_lists_no_other_tenant(store: ObjectStore) -> None:
    fill(store, (f"memories/{tenant}/{name}" for tenant in TENANTS for name in ("a", "b")))
    for tenant in TENANTS:
        assert keys_of(store.list(f"memories/{tenant}/")) == [f"memories/{tenant}/a", f"memories/{tenant}/b"]


def test_a_prefix_that_ends_inside_a_name_is_refused(store: ObjectStore) -> None:
    for prefix in ("memories/acme", "/", "memories//", "../", "memories/a b/"):
        with pytest.raises(ValueError, match=r"prefix|not an object key"):
            list(store.list(prefix))


@pytest.mark.parametrize("size", [1, 2, 5, 17, 18, 1000])
def test_pages_of_any_size_show_every_key_once_and_in_order(make_store: StoreMaker, size: int) -> None:
    store = make_store()
    keys = fill(store, (f"pending/acme/{name}" for name in NAMES))
    pages = list(store.list("pending/acme/", page_size=size))
    assert keys_of(pages) == keys
    assert max(len(page.entries) for page in pages) == min(size, len(keys))
    assert all(page.entries for page in pages)


def test_a_listing_goes_on_after_any_key_there_or_not(store: ObjectStore) -> None:
    keys = fill(store, (f"pending/acme/{name}" for name in NAMES))
    for after in (*keys, "pending/acme/B", "pending/acme/a-", "pending/acme/zz", "pending/acme/~~"):
        expected = [key for key in keys if key > after]
        assert keys_of(store.list("pending/acme/", start_after=after)) == expected
        assert keys_of(store.list("pending/acme/", start_after=after, page_size=3)) == expected


def test_a_delimiter_shows_folders_that_hold_something_as_groups(store: ObjectStore) -> None:
    fill(store, ["memories/acme/x", "memories/acme/y", "memories/zephyr/x", "memories/top", "pending/acme/x"])
    store.create("memories/gone/x", b"")
    store.delete("memories/gone/x")
    pages = list(store.list("memories/", delimiter="/"))
    assert keys_of(pages) == ["memories/top"]
    groups = [prefix for page in pages for prefix in page.prefixes]
    # SeaweedFS may show a folder for a while after its last object went; it lists nothing.
    assert [group for group in groups if keys_of(store.list(group))] == ["memories/acme/", "memories/zephyr/"]
    top = list(store.list("", delimiter="/"))
    assert sorted(prefix for page in top for prefix in page.prefixes) == ["memories/", "pending/"]


def test_groups_fill_pages_as_keys_do(store: ObjectStore) -> None:
    tenants = [f"t{number:02}" for number in range(11)]
    fill(store, (f"memories/{tenant}/{name}" for tenant in tenants for name in ("a", "b")))
    pages = list(store.list("memories/", delimiter="/", page_size=4))
    assert [prefix for page in pages for prefix in page.prefixes] == [f"memories/{t}/" for t in tenants]
    assert max(len(page.prefixes) for page in pages) <= 4


def test_a_listing_of_several_folders_shows_every_key_once(store: ObjectStore) -> None:
    # Not in one order everywhere: SeaweedFS takes `acme-corp/` after `acme/`. Within a folder the order holds.
    keys = fill(store, (f"memories/{tenant}/{name}" for tenant in TENANTS for name in NAMES))
    for size in (4, 1000):
        listed = keys_of(store.list("memories/", page_size=size))
        assert sorted(listed) == keys
        for tenant in TENANTS:
            prefix = f"memories/{tenant}/"
            assert [k for k in listed if k.startswith(prefix)] == [k for k in keys if k.startswith(prefix)]


def test_a_listing_sees_every_change_that_was_answered_before_it(store: ObjectStore) -> None:
    for number in range(10):
        store.create(f"pending/acme/{number}", b"")
        assert len(keys_of(store.list("pending/acme/"))) == 1
        store.delete(f"pending/acme/{number}")
        assert keys_of(store.list("pending/acme/")) == []


def test_a_page_without_room_or_with_another_delimiter_is_refused(store: ObjectStore) -> None:
    with pytest.raises(ValueError, match="page"):
        store.list("", page_size=0)
    with pytest.raises(ValueError, match="delimiter"):
        store.list("", delimiter="-")
