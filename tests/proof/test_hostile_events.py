"""Events as S3 and others send them at their worst, and objects that a hand put there: the index shows the truth.

Late, repeated, reordered, lost and forged; batches of good and bad; objects made, replaced and deleted by hand, also
between an event and the read that it leads to.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from indexer.handler import Indexer
from indexer.journal import Journal
from lodestore.format import keys
from lodestore.ports.object_store import Found
from lodestore.services.events import Refusal
from tests.faults.hostile_store import Request, on
from tests.proof.events import batch_of, message_of, record_of
from tests.services.index_truth import shown_by_index, truth_of
from tests.services.world import World

TENANTS = ("acme", "zephyr")
FORGED: list[tuple[dict[str, object], Refusal]] = [
    (record_of("memories/acme/own-1.json", bucket="of-another"), Refusal.OTHER_BUCKET),
    (record_of("index/acme/manifest.json"), Refusal.NOT_A_MEMORY),
    (record_of("memories/acme/../zephyr/own-1.json"), Refusal.NOT_A_MEMORY),
    (record_of("", encoded="memories/acme/own%252D1.json"), Refusal.NOT_A_MEMORY),
    (record_of("", encoded="memories/acme/%ff%fe.json"), Refusal.NOT_A_MEMORY),
    (record_of("", encoded="memories%2Facme%2F%2E%2E%2Fzephyr%2Fown-1.json"), Refusal.NOT_A_MEMORY),
    ({"s3": {"bucket": {"name": "folder"}, "object": {"key": 7}}}, Refusal.MALFORMED_RECORD),
]


class Queue:
    """An indexer, and what it wrote down of each batch."""

    def __init__(self, world: World) -> None:
        self._log = io.StringIO()
        lodestore = world.instance().lodestore
        self._indexer = Indexer(lodestore, Journal(clock=world.clock, log=self._log, metrics=None))

    def deliver(self, event: object) -> list[str]:
        """The messages that have to come again."""
        failed: Any = self._indexer(event)["batchItemFailures"]
        return [one["itemIdentifier"] for one in failed]

    def counts(self) -> Counter[str]:
        """Of all batches."""
        lines = [json.loads(line)["counts"] for line in self._log.getvalue().splitlines()]
        return sum((Counter(line) for line in lines), Counter())


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    world = World(folder)
    yield world
    world.close()


def written(world: World, chance: Random) -> list[str]:
    """Writes of every kind in both tenants; the key of each, in order, as an event would name it."""
    named = []
    for number in range(30):
        tenant, memory_id = chance.choice(TENANTS), f"own-{chance.randrange(5)}"
        one = world.instance(tenant)
        if chance.random() < 0.2:
            one.call("forget", id=memory_id)
        elif memory_id in one.listed(limit=100):
            one.call("update_memory", id=memory_id, content=f"statement {number} about the office")
        else:
            one.remember(f"statement {number} about the office", id=memory_id)
        named.append(keys.memory(tenant, memory_id))
    return named


@pytest.mark.case("B11", "B86")
@pytest.mark.promise("P-TRUTH", "P-IDEMPOTENT", "P-TENANT", "P-SILENT-NEVER", "P-UNTRUSTED")
@pytest.mark.parametrize("seed", range(6))
def test_events_late_repeated_reordered_lost_and_forged_lead_to_the_truth_and_each_forged_one_is_counted(
    world: World, seed: int
) -> None:
    chance, queue = Random(seed), Queue(world)
    named = written(world, chance)
    true = [record_of(key) for key in named if chance.random() < 0.7] * 2
    false = [chance.choice(FORGED) for _ in range(10)]
    records = [*true, *(record for record, _ in false)]
    chance.shuffle(records)
    messages = [records[at : at + 3] for at in range(0, len(records), 3)]
    for at in range(0, len(messages), 5):
        event: dict[str, Any] = batch_of(*messages[at : at + 5])
        event["Records"].append({"messageId": "broken", "body": "{"})
        assert queue.deliver(event) == ["broken"]
    counts = queue.counts()
    for reason, number in Counter(reason for _, reason in false).items():
        assert counts[f"refused_{reason}"] == number
    # What was lost is made up for by any later event of the tenant.
    last = [keys.memory(tenant, world.instance(tenant).stored("the last one")) for tenant in TENANTS]
    assert queue.deliver(batch_of([record_of(key) for key in last])) == []
    for tenant in TENANTS:
        assert shown_by_index(world, tenant) == truth_of(world, tenant)


@pytest.mark.case("B86")
@pytest.mark.promise("P-UNTRUSTED", "P-TENANT")
def test_an_object_of_another_tenant_below_our_key_is_counted_and_shown_to_nobody(world: World) -> None:
    queue = Queue(world)
    world.instance("zephyr").stored("the vault code is 4471", id="own-1")
    found = world.state.get(keys.memory("zephyr", "own-1"))
    assert isinstance(found, Found)
    world.state.create(keys.memory("acme", "own-1"), found.body)
    assert queue.deliver(batch_of([record_of(keys.memory("acme", "own-1"))])) == []
    assert queue.counts()["invalid"] == 1
    assert shown_by_index(world, "acme") == {}
    assert world.instance("acme").hits("vault code") == []
    assert world.instance("zephyr").hits("vault code") == ["the vault code is 4471"]


@pytest.mark.promise("P-TRUTH")
def test_a_valid_object_that_a_hand_made_is_indexed_by_its_event_and_found(
    world: World, folder: Path
) -> None:
    queue, elsewhere = Queue(world), World(folder / "elsewhere")
    elsewhere.instance("acme").stored("The office is in Oslo", id="hand-made")
    made = elsewhere.state.get(keys.memory("acme", "hand-made"))
    elsewhere.close()
    assert isinstance(made, Found)
    world.state.create(keys.memory("acme", "hand-made"), made.body)
    assert queue.deliver(batch_of([record_of(keys.memory("acme", "hand-made"))])) == []
    assert world.instance("acme").hits("office") == ["The office is in Oslo"]
    assert queue.counts()["invalid"] == 0


@pytest.mark.case("B11")
@pytest.mark.promise("P-TRUTH", "P-FORGOTTEN")
@pytest.mark.parametrize("end", ["deleted", "replaced", "forgotten"])
def test_an_object_that_changes_between_its_event_and_the_read_is_shown_as_it_ends(
    world: World, end: str
) -> None:
    queue, acme = Queue(world), world.instance("acme")
    acme.stored("the badge number is 4471", id="own-1")
    key = keys.memory("acme", "own-1")

    def meanwhile(_: Request) -> None:
        if end == "deleted":
            world.state.inner.delete(key)
        elif end == "forgotten":
            acme.call("forget", id="own-1")
        else:
            acme.call("update_memory", id="own-1", content="the badge number is 9")

    event = batch_of([record_of(key)], [record_of(key)])
    world.state.inject(on(meanwhile, "get", key))
    assert queue.deliver(event) == []
    assert queue.deliver(event) == []
    assert shown_by_index(world) == truth_of(world)
    shown = ["the badge number is 9"] if end == "replaced" else []
    assert world.instance("acme").hits("badge number") == shown


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_batch_of_good_and_bad_messages_repeats_the_bad_ones_alone(world: World) -> None:
    queue = Queue(world)
    good = keys.memory("acme", world.instance("acme").stored("The office is in Oslo"))
    messages = [message_of(0, [record_of(good)]), {"messageId": "m1", "body": "[]"}, message_of(2, [])]
    messages.append({"messageId": "m3", "body": json.dumps({"Records": "none"})})
    assert queue.deliver({"Records": messages}) == ["m1", "m3"]
    assert shown_by_index(world) == truth_of(world)
