"""Proposals: made once, shown with their memories, decided once, lapsed with a reason, undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.memory import Memory
from lodestore.domain.proposal import PER_SLEEP, WITH_TEXT, ProposalKind, propose
from lodestore.format import keys
from lodestore.services.upkeep_steps import PURGE
from tests.faults.hostile_store import Crash, Fault, at, on
from tests.services.index_truth import in_memory
from tests.services.world import Answer, Instance, World, rows
from tests.stores.memory_store import Contents

WINDOW = timedelta(hours=24)
OSLO, BERGEN = "the office is in Oslo", "the office is in Bergen"


@pytest.fixture(params=["off", "on"])
def world(folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(folder, request.param)
    yield world
    world.close()


@pytest.fixture
def acme(world: World) -> Instance:
    return world.instance("acme")


def memory(acme: Instance, memory_id: str) -> Memory:
    found = acme.lodestore.rebuilding._truth.read(acme.caller.tenant, memory_id).record
    assert isinstance(found, Memory)
    return found


def superseding(acme: Instance, old: str, new: str) -> str:
    """A proposal, made, that `new` takes the place of `old`."""
    members = [memory(acme, old), memory(acme, new)]
    return made(acme, ProposalKind.SUPERSEDE, members, keeps=new)


SAME = {"rule": "same attribute"}


def made(acme: Instance, kind: ProposalKind, members: Sequence[Memory], *, keeps: str | None = None) -> str:
    one = acme.lodestore
    text = BERGEN if kind in WITH_TEXT else None
    wanted = propose(kind, members, at=one.clock.now(), keeps=keeps, text=text, evidence=SAME)
    proposed = one.proposals.propose(acme.caller.tenant, [wanted])
    assert len(proposed.made) == 1
    return wanted.id


def listed(acme: Instance, status: str = "pending") -> list[Answer]:
    return rows(acme.call("list_proposals", status=status), "proposals")


def proposal_bytes(world: World) -> bytes:
    folder = world.folder / "index"
    return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file() and "proposals" in str(p))


def test_a_proposal_is_listed_with_its_memories_and_why(acme: Instance) -> None:
    old, new = acme.stored(OSLO), acme.stored(BERGEN)
    proposal = superseding(acme, old, new)
    answer = acme.call("list_proposals")
    (shown,) = rows(answer, "proposals")
    assert (answer["untrusted"], answer["total"]) == (True, 1)
    assert (shown["id"], shown["kind"], shown["keeps"]) == (proposal, "supersede", new)
    assert {str(m["content"]): m["standing"] for m in rows(shown, "members")} == {
        OSLO: "as read",
        BERGEN: "as read",
    }
    assert shown["evidence"] == {"rule": "same attribute"}
    assert set(acme.hits("office")) == {OSLO, BERGEN}


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_what_is_accepted_is_done_and_undo_shows_the_original_again(world: World, acme: Instance) -> None:
    old, new = acme.stored(OSLO), acme.stored(BERGEN)
    proposal = superseding(acme, old, new)
    answer = acme.call("decide_proposal", id=proposal, accept=True, note="moved in May")
    assert (answer["status"], answer["done"], answer["undo"]) == ("accepted", True, proposal)
    assert world.instance().hits("office") == [BERGEN]
    assert acme.get(old)["superseded_by"] == [new]
    assert acme.call("decide_proposal", id=proposal, accept=True)["done"] is True
    before = acme.get(old)
    for _ in range(2):
        undone = acme.call("undo", id=proposal)
        assert (undone["undone"], undone["restored"]) == (True, [old])
    assert set(world.instance().hits("office")) == {OSLO, BERGEN}
    after = acme.get(old)
    own = {"revision", "recent", "superseded_by", "status", "age"}
    assert {k: v for k, v in after.items() if k not in own} == {
        k: v for k, v in before.items() if k not in own
    }
    world.instance().lodestore.rebuilding.run("acme")
    world.instance().lodestore.sleeping.run("acme")
    assert set(world.instance().hits("office")) == {OSLO, BERGEN}
    assert acme.call("decide_proposal", id=proposal, accept=True)["done"] is True
    assert set(world.instance().hits("office")) == {OSLO, BERGEN}


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_what_is_pruned_by_a_decision_comes_back_by_undo_within_the_window(
    world: World, acme: Instance
) -> None:
    old = acme.stored(OSLO)
    proposal = made(acme, ProposalKind.PRUNE, [memory(acme, old)])
    assert acme.call("decide_proposal", id=proposal, accept=1)["done"] is True
    assert world.instance().hits("office") == []
    assert acme.call("undo", id=proposal)["restored"] == [old]
    assert world.instance().hits("office") == [OSLO]
    late = made(acme, ProposalKind.PRUNE, [memory(acme, acme.stored(BERGEN))])
    acme.call("decide_proposal", id=late, accept=True)
    world.clock.advance(WINDOW)
    assert acme.error("undo", id=late)["error"] == "not_found"


@pytest.mark.case("B76")
@pytest.mark.promise("P-REVERSIBLE-SLEEP")
@pytest.mark.parametrize("accept", [True, False])
def test_what_was_decided_is_never_proposed_again(world: World, acme: Instance, accept: bool) -> None:
    old, new = acme.stored(OSLO), acme.stored(BERGEN)
    proposal = superseding(acme, old, new)
    acme.call("decide_proposal", id=proposal, accept=accept)
    if accept:
        acme.call("undo", id=proposal)
    acme.call("update_memory", id=new, tags=["move"])
    other = world.instance().lodestore
    again = propose(
        ProposalKind.SUPERSEDE, [memory(acme, new), memory(acme, old)], at=other.clock.now(), keeps=new
    )
    proposed = other.proposals.propose("acme", [again])
    assert (again.id, proposed.made, proposed.known) == (proposal, (), 1)
    assert listed(acme) == []
    error = acme.error("decide_proposal", id=proposal, accept=not accept)
    assert (error["error"], error["field"]) == ("conflict", "accept")


@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.parametrize("what", ["changed", "forgotten", "superseded", "expired", "forgotten and said anew"])
def test_a_proposal_lapses_with_the_reason_when_a_memory_of_it_does_not_stand(
    world: World, acme: Instance, what: str
) -> None:
    old, new = acme.stored(OSLO, id="office", ttl_days=1), acme.stored(BERGEN)
    proposal = superseding(acme, old, new)
    if what == "changed":
        acme.call("update_memory", id=old, content="the office is in Oslo until May")
    elif what.startswith("forgotten"):
        acme.call("forget", id=old)
        world.clock.advance(timedelta(seconds=1))
        if "anew" in what:
            acme.stored(OSLO, id="office", ttl_days=1)
    elif what == "superseded":
        acme.stored("the office is in Turku", supersedes=[old])
    else:
        world.clock.advance(timedelta(days=2))
    assert listed(acme) == []
    assert acme.error("decide_proposal", id=proposal, accept=True)["error"] == "conflict"
    world.instance().lodestore.sleeping.run("acme", {PURGE})
    (lapsed,) = listed(acme, "lapsed")
    expected = "changed" if "anew" in what else what
    assert (lapsed["reason"], lapsed["evidence"]) == (expected, {})
    assert set(acme.hits("office")) >= {BERGEN}


@pytest.mark.promise("P-FORGOTTEN")
def test_no_word_about_a_forgotten_memory_stays_in_a_proposal(world: World, acme: Instance) -> None:
    word = "XYZZYPLUGH"
    old, new = acme.stored(f"the word is {word}"), acme.stored("the word is another")
    proposal = superseding(acme, old, new)
    acme.call("decide_proposal", id=proposal, accept=False, note=f"{word} is right")
    assert word.encode() in proposal_bytes(world)
    acme.call("forget", id=old)
    dry = world.instance().lodestore.sleeping.run("acme", {PURGE}, dry_run=True).report
    assert word.encode() in proposal_bytes(world)
    report = world.instance().lodestore.sleeping.run("acme", {PURGE}).report
    assert dry.steps[0].counts == report.steps[0].counts
    assert report.steps[0].counts["proposals_cleared"] == 1
    assert word.encode() not in proposal_bytes(world)
    (shown,) = listed(acme, "declined")
    assert [m["standing"] for m in rows(shown, "members") if m["id"] == old] == ["forgotten"]
    assert word not in str(shown)


@pytest.mark.promise("P-BOUNDED")
def test_a_sleep_makes_at_most_so_many_of_a_kind_and_the_list_is_paged(acme: Instance) -> None:
    one = acme.lodestore
    ids = [acme.stored(f"statement {number} about the office") for number in range(PER_SLEEP + 3)]
    wanted = [propose(ProposalKind.PRUNE, [memory(acme, m)], at=one.clock.now()) for m in ids]
    dry = one.proposals.propose("acme", wanted, dry_run=True)
    assert listed(acme) == []
    first = one.proposals.propose("acme", wanted)
    assert (len(dry.made), len(first.made), first.left) == (PER_SLEEP, PER_SLEEP, 3)
    second = one.proposals.propose("acme", wanted)
    assert (len(second.made), second.known, second.left) == (3, PER_SLEEP, 0)
    seen: list[object] = []
    cursor: object = None
    while True:
        page = acme.call("list_proposals", limit=20, cursor=cursor)
        seen += [row["id"] for row in rows(page, "proposals")]
        assert page["total"] == len(ids)
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == len(ids)
    some = acme.call("list_proposals", limit=1)["next_cursor"]
    assert acme.error("list_proposals", status="all", cursor=some)["field"] == "cursor"
    assert acme.error("list_proposals", limit=0)["field"] == "limit"


@pytest.mark.promise("P-TENANT")
def test_a_proposal_about_a_conversations_notes_is_that_conversations_alone(world: World) -> None:
    chat = world.instance("acme", conversation="one")
    note = chat.stored(OSLO, scope="conversation")
    proposal = made(chat, ProposalKind.PRUNE, [memory(chat, note)])
    assert [row["id"] for row in listed(chat)] == [proposal]
    for other in (world.instance("acme"), world.instance("acme", conversation="two"), world.instance("corp")):
        assert other.call("list_proposals")["total"] == 0
        assert other.error("decide_proposal", id=proposal, accept=True)["error"] == "not_found"
        assert other.error("undo", id=proposal)["error"] == "not_found"
    assert chat.call("decide_proposal", id=proposal, accept=True)["done"] is True
    assert world.instance("acme").error("undo", id=proposal)["error"] == "not_found"


@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.parametrize("fault", [Fault.CRASH_BEFORE, Fault.CRASH_AFTER])
@pytest.mark.parametrize("store", ["state", "index"])
@pytest.mark.parametrize("kind", list(ProposalKind))
def test_a_decision_that_was_killed_anywhere_is_finished_by_its_repeat(
    folder: Path, kind: ProposalKind, store: str, fault: Fault
) -> None:
    killed = True
    number = 0
    while killed:
        number += 1
        world = in_memory(World(folder), Contents(versioned=True), Contents(versioned=False))
        acme = world.instance()
        old, new = acme.stored(OSLO), acme.stored(BERGEN)
        keeps = new if kind is ProposalKind.SUPERSEDE else None
        members = [memory(acme, m) for m in ((old,) if kind is ProposalKind.PRUNE else (old, new))]
        proposal = made(acme, kind, members, keeps=keeps)
        stores = (world.state, world.index)
        for one in stores:
            one.reset()
        getattr(world, store).inject(at(number, fault))
        try:
            acme.call("decide_proposal", id=proposal, accept=True)
            killed = False
        except Crash:
            killed = True
        for one in stores:
            one.revive()
            one.heal()
        assert BERGEN in world.instance().hits("office")
        assert world.instance().call("decide_proposal", id=proposal, accept=True)["done"] is True
        assert world.instance().hits("office") == [BERGEN]
        world.instance().call("undo", id=proposal)
        assert set(world.instance().hits("office")) == {OSLO, BERGEN}
        world.close()
    assert number > 3


@pytest.mark.promise("P-SILENT-NEVER")
def test_without_an_undo_record_nothing_is_done(world: World, acme: Instance) -> None:
    old, new = acme.stored(OSLO), acme.stored(BERGEN)
    proposal = superseding(acme, old, new)
    world.index.inject(on(Fault.UNAVAILABLE, "create", keys.undo("acme", proposal), times=None))
    assert acme.error("decide_proposal", id=proposal, accept=True)["error"] == "unavailable"
    assert set(world.instance().hits("office")) == {OSLO, BERGEN}
    world.index.heal()
    assert acme.call("decide_proposal", id=proposal, accept=True)["done"] is True


def test_an_object_that_is_no_proposal_is_counted_and_hides_no_other(world: World, acme: Instance) -> None:
    old, new = acme.stored(OSLO), acme.stored(BERGEN)
    superseding(acme, old, new)
    world.index.inner.create(keys.proposal("acme", "p-broken"), b"{}")
    assert len(listed(acme)) == 1
    assert world.meter.counts["proposal_quarantined"] >= 1
    assert acme.error("decide_proposal", id="p-broken", accept=True)["error"] == "not_found"


@pytest.mark.parametrize(
    ("given", "field"),
    [({"id": "p1"}, "accept"), ({"accept": True}, "id"), ({"id": "p1", "accept": "perhaps"}, "accept")],
)
def test_a_decision_without_an_id_or_an_answer_is_refused_by_name(
    world: World, acme: Instance, given: dict[str, object], field: str
) -> None:
    assert acme.error("decide_proposal", **given)["field"] == field
    assert world.index.count("replace") == 0
