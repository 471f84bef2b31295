"""What a file may take away from what is live in the store that it enters."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lodestore.domain.arrival import Verdict
from lodestore.services.import_runs import Outcome
from lodestore.services.importing import ImportOptions
from tests.services.test_exporting_and_importing import OVERWRITE, exported, imported, verdicts
from tests.services.world import Instance, World


def slept(instance: Instance) -> None:
    instance.lodestore.sleeping.run(instance.caller.tenant, ("sweep", "index", "consolidate", "purge"))


def merged_office(acme: Instance, world: World) -> tuple[str, str, str]:
    """The ids of two memories that say the same, and of the one that they were merged into."""
    members = []
    for content in ("The office is in Oslo.", "the office is in Oslo"):
        members.append(acme.stored(content))
        world.clock.advance(timedelta(days=1))
    slept(acme)
    (merged,) = set(acme.listed()) - set(members)
    return members[0], members[1], merged


def without(export: bytes, memory_id: str) -> bytes:
    """The export without the line of this id."""
    own = f'"id":"{memory_id}"'.encode()
    return b"".join(line for line in export.splitlines(keepends=True) if own not in line[:80])


def changed(outcomes: list[Outcome]) -> set[str]:
    return {name for outcome in outcomes if outcome.taken is not None for name in outcome.taken.changed}


@pytest.mark.promise("P-FORGOTTEN", "P-NO-LOST-UPDATE")
def test_a_stub_of_what_was_never_here_hides_and_forgets_nothing_unless_it_may_overwrite(
    acme: Instance, world: World
) -> None:
    one, other, merged = merged_office(acme, world)
    beta = world.instance("beta")
    imported(beta, without(exported(acme), merged))
    acme.call("forget", id=merged)
    world.clock.advance(timedelta(hours=30))
    export = exported(acme, tombstones=True)
    outcomes = imported(beta, export)
    assert verdicts(outcomes).count(Verdict.KEPT) == 2
    assert changed(outcomes) == {"supersedes"}
    slept(beta)
    assert set(beta.listed()) == {one, other}
    imported(beta, export, OVERWRITE)
    assert beta.hits("office") == []


@pytest.mark.promise("P-FORGOTTEN")
@pytest.mark.parametrize("known", [True, False], ids=["merged memory known", "only its members known"])
def test_what_an_import_forgets_here_can_be_restored_for_a_whole_window(
    acme: Instance, world: World, known: bool
) -> None:
    one, other, merged = merged_office(acme, world)
    beta = world.instance("beta")
    export = exported(acme)
    imported(beta, export if known else without(export, merged))
    acme.call("forget", id=merged)
    world.clock.advance(timedelta(days=40))
    # Only the merged memory's stub comes, so that its members are forgotten by what it says.
    stub = without(without(exported(acme, tombstones=True), one), other)
    imported(beta, stub, OVERWRITE)
    slept(beta)
    assert beta.hits("office") == []
    assert beta.call("restore_memory", id=one)["id"] == one


@pytest.mark.promise("P-NO-LOST-UPDATE", "P-SILENT-NEVER")
def test_an_older_line_does_not_hide_what_was_changed_here_since_and_says_so(
    acme: Instance, world: World
) -> None:
    old = acme.stored("The office is in Oslo")
    beta = world.instance("beta")
    imported(beta, exported(acme))
    acme.stored("The office is in Paris", supersedes=[old])
    export = exported(acme)
    plain = world.instance("plain")
    assert changed(imported(plain, export)) == set()
    assert plain.hits("office") == ["The office is in Paris"]
    world.clock.advance(timedelta(days=1))
    beta.call("update_memory", id=old, content="The office is in Oslo, and the gate is blue")
    assert changed(imported(beta, export)) == {"supersedes"}
    assert "The office is in Oslo, and the gate is blue" in beta.hits("office gate blue")


def test_a_correction_supersedes_here_what_it_supersedes_there(acme: Instance, world: World) -> None:
    old = acme.stored("The office is in Oslo")
    beta = world.instance("beta")
    imported(beta, exported(acme))
    world.clock.advance(timedelta(days=1))
    acme.stored("The office is in Paris", supersedes=[old])
    assert changed(imported(beta, exported(acme))) == set()
    assert beta.hits("office") == ["The office is in Paris"]


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_merged_memory_without_its_members_is_refused_by_name_and_with_them_it_holds(
    acme: Instance, world: World
) -> None:
    one, other, merged = merged_office(acme, world)
    export = exported(acme)
    beta = world.instance("beta")
    alone = without(without(export, one), other)
    for options in (ImportOptions(), ImportOptions(dry_run=True)):
        (said,) = verdicts(imported(beta, alone, options))
        assert said.startswith(f"consolidated_reads: {min(one, other)}")
    assert beta.listed(status="all") == []
    assert set(verdicts(imported(beta, export, ImportOptions(dry_run=True)))) == {Verdict.STORED}
    assert set(verdicts(imported(beta, export))) == {Verdict.STORED}
    slept(beta)
    assert beta.listed() == [merged]


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_what_a_person_took_apart_stays_apart_in_the_store_that_a_plain_export_enters(
    acme: Instance, world: World
) -> None:
    one, other, merged = merged_office(acme, world)
    acme.call("undo", id=merged)
    beta = world.instance("beta")
    imported(beta, exported(acme))
    slept(beta)
    assert set(beta.listed()) == {one, other}
    assert exported(beta) == exported(acme)
