"""The store of fault tests does what its rules say, and no more."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest

from lodestore.adapters.folder_store import FolderStore
from lodestore.ports.object_store import (
    Contended,
    Found,
    Gone,
    Lost,
    Missing,
    ObjectStore,
    StoreUnavailable,
    Unknown,
    Won,
)
from tests.faults.hostile_store import Crash, Fault, FaultyStore, Operation, Request, at, meet, on, seeded
from tests.faults.rules import possible_faults
from tests.stores.still_clock import StillClock

KEY = "memories/acme/x.json"
OTHER = "pending/acme/x"


@pytest.fixture
def inner(tmp_path: Path) -> ObjectStore:
    return FolderStore(tmp_path, StillClock(), versioned=True)


@pytest.fixture
def store(inner: ObjectStore) -> FaultyStore:
    return FaultyStore(inner)


def is_there(inner: ObjectStore, key: str = KEY) -> bool:
    return isinstance(inner.get(key), Found)


@pytest.mark.parametrize(
    ("fault", "answer", "written"),
    [
        (Fault.LOST, Lost, False),
        (Fault.CONTENDED, Contended, False),
        (Fault.UNKNOWN_BEFORE, Unknown, False),
        (Fault.UNKNOWN_AFTER, Unknown, True),
        (Fault.UNKNOWN_LATE, Unknown, False),
    ],
)
def test_a_write_is_met_with_the_answer_of_the_rule(
    store: FaultyStore, inner: ObjectStore, fault: Fault, answer: type, written: bool
) -> None:
    store.inject(on(fault, "create", "memories/*"))
    assert isinstance(store.create(OTHER, b""), Won)
    assert isinstance(store.create(KEY, b"1"), answer)
    assert is_there(inner) == written
    assert isinstance(store.create(KEY, b"1"), Lost if written else Won)
    assert [request.answer for request in store.requests][1] == answer.__name__


def test_a_late_write_lands_when_the_test_says(store: FaultyStore, inner: ObjectStore) -> None:
    store.inject(on(Fault.UNKNOWN_LATE, "create"))
    store.create(KEY, b"1")
    assert not is_there(inner)
    assert store.land_late() == 1
    assert is_there(inner)
    assert store.land_late() == 0


def test_a_replace_can_find_nothing(store: FaultyStore) -> None:
    created = store.create(KEY, b"1")
    assert isinstance(created, Won)
    store.inject(on(Fault.GONE, "replace"))
    assert store.replace(KEY, b"2", expected=created.etag) == Gone()
    assert isinstance(store.replace(KEY, b"2", expected=created.etag), Won)


def test_reads_listings_and_deletes_can_fail(store: FaultyStore, inner: ObjectStore) -> None:
    store.create(KEY, b"1")
    store.inject(
        on(Fault.UNAVAILABLE, "get"), on(Fault.UNAVAILABLE, "list"), on(Fault.UNAVAILABLE_AFTER, "delete")
    )
    with pytest.raises(StoreUnavailable):
        store.get(KEY)
    with pytest.raises(StoreUnavailable):
        list(store.list("memories/"))
    with pytest.raises(StoreUnavailable):
        store.delete(KEY)
    assert not is_there(inner)
    assert isinstance(store.get(KEY), Missing)


@pytest.mark.parametrize(("fault", "written"), [(Fault.CRASH_BEFORE, False), (Fault.CRASH_AFTER, True)])
def test_after_a_crash_nothing_is_sent_until_a_new_process(
    store: FaultyStore, inner: ObjectStore, fault: Fault, written: bool
) -> None:
    store.inject(at(1, fault))
    with pytest.raises(Crash):
        store.create(KEY, b"1")
    for _ in range(2):
        with pytest.raises(Crash):
            store.create(OTHER, b"1")
    assert (is_there(inner), is_there(inner, OTHER)) == (written, False)
    store.revive()
    assert isinstance(store.create(OTHER, b"1"), Won)
    assert not issubclass(Crash, Exception)


def test_a_fault_that_s3_cannot_show_is_an_error_of_the_test(store: FaultyStore) -> None:
    for fault, operation in ((Fault.GONE, "create"), (Fault.LOST, "get"), (Fault.UNKNOWN_AFTER, "list")):
        store.inject(on(fault, operation))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="GONE"):
        store.create(KEY, b"")
    with pytest.raises(ValueError, match="LOST"):
        store.get(KEY)
    with pytest.raises(ValueError, match="UNKNOWN_AFTER"):
        list(store.list(""))


def test_a_rule_counts_what_it_matches(store: FaultyStore) -> None:
    store.inject(on(Fault.LOST, "create", "pending/*", skip=1, times=2))
    outcomes = [type(store.create(f"pending/acme/{number}", b"")) for number in range(5)]
    assert outcomes == [Won, Lost, Lost, Won, Won]
    assert isinstance(store.create(KEY, b""), Won)
    store.inject(on(Fault.CONTENDED, times=None))
    assert [type(store.create(f"pending/acme/{number}", b"")) for number in "ab"] == [Contended] * 2
    store.heal()
    assert isinstance(store.create("pending/acme/c", b""), Won)


def test_an_action_runs_before_the_request_is_sent(store: FaultyStore, inner: ObjectStore) -> None:
    def another_writer(request: Request) -> None:
        inner.create(request.key, b"theirs")

    store.inject(on(another_writer, "create"))
    assert store.create(KEY, b"ours") == Lost()


def test_every_request_is_written_down_with_its_bytes(store: FaultyStore) -> None:
    store.create(KEY, b"123")
    store.get(KEY)
    list(store.list("memories/", page_size=1))
    list(store.versions("memories/"))
    store.delete(KEY)
    shown = [(r.number, r.operation, r.key, r.sent, r.received, r.answer) for r in store.requests]
    assert shown == [
        (1, "create", KEY, 3, 0, "Won"),
        (2, "get", KEY, 0, 3, "Found"),
        (3, "list", "memories/", 0, 0, "Page"),
        (4, "versions", "memories/", 0, 0, "Version"),
        (5, "delete", KEY, 0, 0, "NoneType"),
    ]
    assert (store.count(), store.count("get"), store.count("create", "pending/*")) == (5, 1, 0)
    store.reset()
    assert store.requests == ()


def test_each_page_of_a_listing_is_a_request(store: FaultyStore) -> None:
    for number in range(5):
        store.create(f"pending/acme/{number}", b"")
    store.reset()
    assert len(list(store.list("pending/acme/", page_size=2))) == 3
    assert store.count("list", "pending/acme/") == 3


def test_requests_that_are_sent_side_by_side_meet(store: FaultyStore) -> None:
    store.inject(on(meet(2), "create", times=2))
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda key: store.create(key, b""), (KEY, OTHER)))
    assert [type(outcome) for outcome in outcomes] == [Won, Won]


def test_requests_that_are_sent_one_after_the_other_do_not_meet(
    store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.faults.rules.MEETING_SECONDS", 0.05)
    store.inject(on(meet(2), "create", times=2))
    with pytest.raises(threading.BrokenBarrierError):
        store.create(KEY, b"")


def test_a_seed_always_brings_the_same_faults_and_only_possible_ones(tmp_path: Path) -> None:
    def run(seed: int, folder: Path) -> list[str]:
        store = FaultyStore(FolderStore(folder, StillClock(), versioned=False), seeded(seed, 0.5))
        for number in range(40):
            store.create(f"pending/acme/{number}", b"")
            store.get(f"pending/acme/{number}")
            store.delete(f"pending/acme/{number}")
        return [request.answer for request in store.requests]

    first = run(7, tmp_path / "a")
    assert first == run(7, tmp_path / "b")
    assert first != run(8, tmp_path / "c")
    assert {"Won", "Unknown", "Lost", "Contended"} <= set(first)


def test_every_operation_can_crash_and_only_writes_are_ever_in_doubt() -> None:
    for operation in get_args(Operation):
        faults = possible_faults(operation)
        assert {Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.UNAVAILABLE} <= faults
        assert (Fault.UNKNOWN_AFTER in faults) == (operation in ("create", "replace"))
