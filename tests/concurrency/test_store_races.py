"""Threads that write at once to one store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from random import Random

import pytest

from lodestore.ports.object_store import Contended, Found, Gone, Lost, Missing, ObjectStore, Unknown, Won

THREADS = 16
STEPS = 50
STAND_BACK_SECONDS = 0.02
KEY = "counts/acme/snapshot.json"


def at_once(task: Callable[[int], object], threads: int = THREADS) -> list[object]:
    """The task's results for 0, 1, … as started at the same moment."""
    barrier = threading.Barrier(threads)

    def started(number: int) -> object:
        barrier.wait()
        return task(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(started, range(threads)))


def count_up(store: ObjectStore, steps: int, key: str = KEY) -> None:
    """Adds 1 to the number in the object, `steps` times, by compare-and-swap; who lost stands back a little."""
    chance, pause = Random(), threading.Event()
    for _ in range(steps):
        for lost in count(1):
            found = store.get(key)
            assert isinstance(found, Found)
            outcome = store.replace(key, b"%d" % (int(found.body) + 1), expected=found.etag)
            if isinstance(outcome, Won):
                break
            assert isinstance(outcome, Lost | Contended)
            pause.wait(chance.random() * STAND_BACK_SECONDS * 2 ** min(lost, 5))


@pytest.mark.case("B12")
@pytest.mark.promise("P-IDEMPOTENT")
def test_of_sixteen_creates_of_one_key_exactly_one_wins(racing_store: ObjectStore) -> None:
    for round_number in range(2):
        key = f"memories/acme/{round_number}"

        def create(number: int, key: str = key) -> object:
            return racing_store.create(key, b"%d" % number)

        outcomes = at_once(create)
        found = racing_store.get(key)
        assert isinstance(found, Found)
        # SeaweedFS makes the losers of such a race wait for seconds; one may run into the time limit.
        winner = outcomes.pop(int(found.body))
        assert isinstance(winner, Won | Unknown)
        assert all(isinstance(outcome, Lost | Contended | Unknown) for outcome in outcomes)


@pytest.mark.case("B12")
def test_of_sixteen_replaces_of_one_etag_exactly_one_wins(racing_store: ObjectStore) -> None:
    created = racing_store.create(KEY, b"before")
    assert isinstance(created, Won)
    outcomes = at_once(
        lambda number: racing_store.replace(KEY, b"writer %02d" % number, expected=created.etag)
    )
    winners = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, Won)]
    found = racing_store.get(KEY)
    assert isinstance(found, Found)
    assert [b"writer %02d" % number for number in winners] == [found.body]


@pytest.mark.case("B16")
@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_sixteen_writers_of_fifty_increments_count_to_eight_hundred(racing_store: ObjectStore) -> None:
    racing_store.create(KEY, b"0")
    at_once(lambda _: count_up(racing_store, STEPS))
    found = racing_store.get(KEY)
    assert isinstance(found, Found)
    assert int(found.body) == THREADS * STEPS


def test_creators_and_deleters_of_one_key_never_see_a_half_of_it(racing_store: ObjectStore) -> None:
    key = "pending/acme/marker"
    wrong: list[object] = []

    def churn(number: int) -> None:
        body = b"%02d" % number * 500
        for _ in range(10):
            racing_store.create(key, body)
            found = racing_store.get(key)
            if (
                isinstance(found, Found)
                and len(set(zip(found.body[::2], found.body[1::2], strict=True))) != 1
            ):
                wrong.append(found.body)
            racing_store.delete(key)

    at_once(churn, 8)
    assert wrong == []
    assert isinstance(racing_store.get(key), Missing)


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_a_listing_never_lacks_an_object_that_is_only_being_replaced(racing_store: ObjectStore) -> None:
    keys = [f"memories/acme/{number:03}" for number in range(40)]
    for key in keys:
        racing_store.create(key, b"0")
    done = threading.Event()
    lacking: list[set[str]] = []

    def look(_: int) -> None:
        while not done.is_set():
            listed = {entry.key for page in racing_store.list("memories/acme/") for entry in page.entries}
            lacking.extend([set(keys) - listed] if listed != set(keys) else [])

    def replace(number: int) -> None:
        for key in keys[number::4]:
            count_up(racing_store, 3, key)

    with ThreadPoolExecutor(2) as lookers:
        looking = [lookers.submit(look, number) for number in range(2)]
        try:
            at_once(replace, 4)
        finally:
            done.set()
        for one in looking:
            one.result()
    assert lacking == []


def test_writers_and_deleters_in_one_folder_never_lose_a_write(racing_store: ObjectStore) -> None:
    """The last delete empties the folder while others create in it."""

    def churn(number: int) -> list[str]:
        missing = []
        for step in range(8):
            key = f"due/2026-11-29T12/t{number}-{step}"
            assert isinstance(racing_store.create(key, b""), Won)
            if not isinstance(racing_store.get(key), Found):
                missing.append(key)
            racing_store.delete(key)
        return missing

    assert at_once(churn, 8) == [[]] * 8
    assert [page.entries for page in racing_store.list("due/2026-11-29T12/")] == [()]


def test_a_replace_and_a_delete_at_once_end_in_one_of_their_orders(racing_store: ObjectStore) -> None:
    for number in range(10):
        key = f"memories/acme/{number}"
        created = racing_store.create(key, b"1")
        assert isinstance(created, Won)
        etag = created.etag

        def act(actor: int, key: str = key, etag: str = etag) -> object:
            if actor == 0:
                return racing_store.replace(key, b"2", expected=etag)
            racing_store.delete(key)
            return None

        replaced, _ = at_once(act, 2)
        assert isinstance(replaced, Won | Gone | Lost | Contended)
        assert isinstance(racing_store.get(key), Missing)
