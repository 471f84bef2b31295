"""What was said in a store that is not ours: whose words they are is kept, and nothing is stored twice."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lodestore.domain.arrival import Verdict
from lodestore.services.import_runs import Entry
from lodestore.services.importing import ImportOptions
from tests.services.test_exporting_and_importing import verdicts
from tests.services.world import Instance, World, rows

PIZZA = "Likes pizza with olives"


def taken(into: Instance, *said: tuple[str, str | None], resurrect: bool = False) -> list[str]:
    """What becomes of each text of each source."""
    entries = [
        Entry(str(at), {"content": content} | ({"source": source} if source else {}))
        for at, (content, source) in enumerate(said)
    ]
    tenant = into.caller.tenant
    return verdicts(into.lodestore.moving.imports.run(tenant, entries, ImportOptions(resurrect=resurrect)))


def sources(of: Instance) -> list[str]:
    return sorted(str(row["source"]) for row in rows(of.call("list_memories", limit=100), "memories"))


@pytest.mark.promise("P-SILENT-NEVER", "P-IDEMPOTENT")
def test_what_ten_people_say_in_the_same_words_is_kept_for_each_of_them_once(acme: Instance) -> None:
    said = [(PIZZA, f"user{number}") for number in range(10)]
    assert set(taken(acme, *said)) == {Verdict.STORED}
    assert sources(acme) == [f"user{number}" for number in range(10)]
    assert set(taken(acme, *said)) == {Verdict.ALREADY_KNOWN}
    assert taken(acme, (PIZZA, None)) == [Verdict.ALREADY_KNOWN]
    assert len(acme.listed(limit=100)) == 10


@pytest.mark.promise("P-FORGOTTEN")
def test_what_one_of_two_people_said_stays_forgotten_and_the_other_s_words_stay(acme: Instance) -> None:
    taken(acme, (PIZZA, "alice"), (PIZZA, "bob"))
    (bob,) = (r["id"] for r in rows(acme.call("list_memories"), "memories") if r["source"] == "bob")
    acme.call("forget", id=bob)
    assert taken(acme, (PIZZA, "alice"), (PIZZA, "bob")) == [Verdict.ALREADY_KNOWN, Verdict.FORGOTTEN]
    assert sources(acme) == ["alice"]
    assert taken(acme, (PIZZA, "bob"), resurrect=True) == [Verdict.RESURRECTED]
    assert sources(acme) == ["alice", "bob"]


def test_what_was_changed_here_since_is_not_stored_again_for_its_source(acme: Instance) -> None:
    taken(acme, (PIZZA, "alice"), (PIZZA, "bob"))
    for memory_id in acme.listed():
        acme.call("update_memory", id=memory_id, content=f"Likes pasta, {memory_id}")
    assert taken(acme, (PIZZA, "alice"), (PIZZA, "bob")) == [Verdict.ALREADY_KNOWN] * 2
    assert len(acme.listed()) == 2


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_sleep_does_not_make_one_statement_of_what_two_people_said(acme: Instance, world: World) -> None:
    for source, content in (
        ("alice", "My favourite colour is blue."),
        ("bob", "my favourite colour is blue"),
    ):
        acme.stored(content, source=source)
        world.clock.advance(timedelta(days=1))
    acme.lodestore.sleeping.run("acme", ("sweep", "index", "consolidate"))
    assert sources(acme) == ["alice", "bob"]
    hits = rows(acme.call("recall", query="what is the favourite colour of bob"), "hits")
    assert hits[0]["source"] == "bob"
