"""Out of one store and into another: byte for byte the same, and nothing comes back that was forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.arrival import OnConflict, Verdict
from lodestore.format import keys
from lodestore.format.records import encode_record
from lodestore.format.transfer_lines import TransferLine, decode_line, encode_line
from lodestore.services.exporting import Unreadable
from lodestore.services.import_runs import Entry, Outcome
from lodestore.services.importing import ImportOptions
from tests.services.stand_in_embedder import StandInEmbedder
from tests.services.world import Instance, World, rows

OVERWRITE = ImportOptions(OnConflict.OVERWRITE)


def exported(of: Instance, *, versions: bool = False, tombstones: bool = False) -> bytes:
    lines = of.lodestore.moving.exporting.run(of.caller.tenant, versions=versions, tombstones=tombstones)
    return b"".join(encode_line(line) for line in lines if not isinstance(line, Unreadable))


def imported(
    into: Instance,
    export: bytes,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - a frozen value
) -> list[Outcome]:
    tenant = into.caller.tenant
    entries = [
        Entry(f"line {number}", decode_line(json.loads(line), tenant))
        for number, line in enumerate(export.splitlines(), 1)
    ]
    return list(into.lodestore.moving.imports.run(tenant, entries, options))


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def verdicts(outcomes: Iterable[Outcome]) -> list[str]:
    return [outcome.error if outcome.taken is None else str(outcome.taken.verdict) for outcome in outcomes]


def stocked(acme: Instance, world: World) -> dict[str, str]:
    """A tenant with something of every kind."""
    ids = {"old": acme.stored("The office is in Oslo", tags=["office", "Å\u2028b"], source="Ann")}
    ids["new"] = acme.stored("The office is in Bergen", supersedes=[ids["old"]], valid_from="2026-01-02")
    ids["dies"] = acme.stored("Guest code of the week", ttl_days=3, pinned=True, type="instruction")
    ids["own"] = acme.stored(
        "Build with make", id="own", metadata={"a": {"b": [1, 2.5, None]}}, importance=0.9
    )
    world.clock.advance(timedelta(minutes=1))
    acme.call("update_memory", id="own", content="Build with make test", expected_version=1)
    world.clock.advance(timedelta(minutes=1))
    acme.call("update_memory", id="own", tags=["build"])
    ids["gone"] = acme.stored("A thing that was forgotten")
    acme.call("forget", id=ids["gone"], reason="asked to")
    return ids


@pytest.mark.case("B48")
@pytest.mark.promise("P-TRUTH", "P-IDEMPOTENT")
@pytest.mark.parametrize("whole", [False, True], ids=["memories", "versions and tombstones"])
def test_an_export_that_is_imported_elsewhere_is_exported_there_byte_for_byte(
    world: World, folder: Path, whole: bool
) -> None:
    world.embedder = StandInEmbedder()
    acme = world.instance("acme")
    stocked(acme, world)
    export = exported(acme, versions=whole, tombstones=whole)
    assert b'"f16"' in export
    there = World(folder / "there", "on")
    there.embedder = world.embedder
    there.clock.advance(timedelta(days=1))
    other = there.instance("other")
    assert set(verdicts(imported(other, export))) == {Verdict.STORED}
    before = files_of(folder / "there")
    assert set(verdicts(imported(there.instance("other"), export))) == {Verdict.ALREADY_KNOWN}
    assert files_of(folder / "there") == before
    assert exported(other, versions=whole, tombstones=whole) == export
    assert "The office is in Bergen" in other.hits("Where is the office?")
    history, ours = (one.call("get_memory", id="own", history=True) for one in (other, acme))
    assert not whole or history["history"] == ours["history"]
    there.close()


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_what_is_imported_is_found_at_once_from_any_process(acme: Instance, world: World) -> None:
    ids = stocked(acme, world)
    other = world.instance("corp")
    imported(other, exported(acme))
    again = world.instance("corp")
    assert again.hits("Where is the office?") == ["The office is in Bergen"]
    assert set(again.listed()) == {ids["new"], ids["dies"], ids["own"]}
    assert again.call("memory_stats")["superseded"] == 1


@pytest.mark.promise("P-FORGOTTEN")
def test_an_import_brings_back_nothing_that_was_forgotten_unless_it_is_asked_to(
    acme: Instance, world: World
) -> None:
    memory_id = acme.stored("The word is XYZZYPLUGH")
    export = exported(acme)
    acme.call("forget", id=memory_id)
    assert exported(acme) == b""
    for options in (ImportOptions(), OVERWRITE, ImportOptions(dry_run=True)):
        assert verdicts(imported(acme, export, options)) == [Verdict.FORGOTTEN]
    assert acme.hits("What is the word?") == []
    asked = ImportOptions(resurrect=True)
    assert verdicts(imported(acme, export, ImportOptions(resurrect=True, dry_run=True))) == [
        Verdict.RESURRECTED
    ]
    assert acme.hits("What is the word?") == []
    assert verdicts(imported(acme, export, asked)) == [Verdict.RESURRECTED]
    assert verdicts(imported(acme, export, asked)) == [Verdict.NEWER]
    acme.lodestore.sleeping.run("acme", ("sweep", "index"))
    assert world.instance("acme").hits("What is the word?") == ["The word is XYZZYPLUGH"]


@pytest.mark.promise("P-FORGOTTEN")
def test_a_tombstone_alone_keeps_an_import_out_and_hides_a_hand_restored_object(
    acme: Instance, world: World
) -> None:
    memory_id = acme.stored("The word is XYZZYPLUGH", id="word")
    export = exported(acme)
    place = next((world.folder / "state").rglob("word.json"))
    before = place.read_bytes()
    acme.call("forget", id=memory_id)
    place.write_bytes(before)
    assert exported(acme) == b""
    place.unlink()
    assert verdicts(imported(acme, export)) == [Verdict.FORGOTTEN]
    assert verdicts(imported(acme, export, ImportOptions(resurrect=True))) == [Verdict.RESURRECTED]
    acme.lodestore.sleeping.run("acme", ("sweep",))
    assert acme.get("word")["content"] == "The word is XYZZYPLUGH"


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_a_newer_state_is_never_replaced_and_an_older_one_only_when_asked(
    acme: Instance, world: World
) -> None:
    acme.stored("Build with make", id="own")
    first = exported(acme)
    corp = world.instance("corp")
    imported(corp, first)
    world.clock.advance(timedelta(minutes=1))
    acme.call("update_memory", id="own", content="Build with make test")
    second = exported(acme)
    assert verdicts(imported(corp, second)) == [Verdict.KEPT]
    assert corp.get("own")["content"] == "Build with make"
    assert verdicts(imported(corp, second, OVERWRITE)) == [Verdict.OVERWRITTEN]
    assert corp.get("own")["content"] == "Build with make test"
    assert exported(corp) == second
    for options in (ImportOptions(), OVERWRITE):
        assert verdicts(imported(corp, first, options)) == [Verdict.NEWER]
    assert exported(corp) == second


def test_an_import_that_was_cut_between_two_versions_is_simply_run_again(
    acme: Instance, world: World
) -> None:
    acme.stored("Build with make", id="own")
    first = exported(acme)
    world.clock.advance(timedelta(minutes=1))
    acme.call("update_memory", id="own", content="Build with make test")
    both = exported(acme, versions=True)
    corp = world.instance("corp")
    imported(corp, first)
    assert verdicts(imported(corp, both)) == [Verdict.STORED]
    assert exported(corp, versions=True) == both


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER")
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("content", "x" * 32_001, "content"),
        ("tags", [str(number) for number in range(33)], "tags"),
        ("source", "x" * 257, "source"),
        ("metadata", {"a": "x" * 4_096}, "metadata"),
        ("supersedes", ["own"], "supersedes"),
        ("supersedes", [f"m{number}" for number in range(4_097)], "supersedes"),
        ("revision", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "revision"),
        ("recent", [], None),
        ("origin", "no digest", "origin"),
        ("conversation", "a b", "conversation"),
        ("version", 2 * 10**9, "version"),
    ],
)
def test_every_line_is_held_to_the_limits_and_the_others_are_stored(
    acme: Instance, world: World, field: str, value: object, said: str | None
) -> None:
    acme.stored("Build with make", id="own")
    acme.stored("Another one", id="z")
    good, other = exported(acme).splitlines()
    line = json.loads(good)
    line[field] = value
    if field == "revision":
        line["recent"] = [value]
    corp = world.instance("corp")
    first, second = verdicts(imported(corp, json.dumps(line).encode() + b"\n" + other))
    assert second == Verdict.STORED
    assert first.startswith(said) if said else first == Verdict.STORED
    assert corp.listed() == (["z"] if said else ["z", "own"])


def test_two_lines_that_supersede_each_other_do_not_hide_each_other(acme: Instance, world: World) -> None:
    acme.stored("One", id="one")
    acme.stored("Two", id="two")
    lines = [json.loads(line) for line in exported(acme).splitlines()]
    lines[0]["supersedes"], lines[1]["supersedes"] = ["two"], ["one"]
    corp = world.instance("corp")
    first, second = verdicts(imported(corp, b"\n".join(json.dumps(line).encode() for line in lines)))
    assert first == Verdict.STORED
    assert "cycle" in second
    assert corp.listed() == ["one"]


@pytest.mark.case("B27")
def test_secrets_and_vectors_that_are_not_ours_do_not_come_along(acme: Instance, world: World) -> None:
    world.embedder = StandInEmbedder()
    acme = world.instance("acme")
    acme.stored("The key is in the vault", id="own")
    line = json.loads(exported(acme))
    line["content"] = "The key is ghp_0123456789abcdefghijABCDEFGHIJ456789"
    corp = world.instance("corp")
    (outcome,) = imported(corp, json.dumps(line).encode())
    assert outcome.taken is not None
    assert outcome.taken.changed == ("content", "embedding")
    assert "ghp_" not in str(corp.get("own"))
    line["id"], line["content"], line["embedding"]["model"] = "two", "The key is in the vault", "another"
    (outcome,) = imported(corp, json.dumps(line).encode())
    assert outcome.taken is not None
    assert outcome.taken.changed == ("embedding",)


@pytest.mark.case("B21")
@pytest.mark.promise("P-TENANT", "P-SILENT-NEVER")
def test_an_export_is_of_one_tenant_whole_and_names_what_is_no_memory(acme: Instance, world: World) -> None:
    world.instance("acme-corp").stored("Not for acme", id="theirs")
    for name in ("a", "a-b", "a.b", "a0", "B"):
        acme.stored(f"Memory {name}", id=name)
    place = next((world.folder / "state").rglob("a0.json"))
    place.write_bytes(b"{broken")
    lines = list(acme.lodestore.moving.exporting.run("acme"))
    assert [line.record.id for line in lines if not isinstance(line, Unreadable)] == ["B", "a", "a-b", "a.b"]
    (unreadable,) = [line for line in lines if isinstance(line, Unreadable)]
    assert (unreadable.key, unreadable.why) == ("memories/acme/a0.json", "not JSON")


@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_two_imports_beside_a_writer_lose_nothing(acme: Instance, world: World) -> None:
    for number in range(40):
        acme.stored(f"Fact number {number}", id=f"m{number:02}")
    export = exported(acme)
    corp = [world.instance("corp") for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        imports = [threads.submit(imported, instance, export) for instance in corp[:2]]
        written = [
            corp[2].remember(f"Fact number {number}", id=f"m{number:02}", tags=["here"])
            for number in range(40)
        ]
        outcomes = [verdict for one in imports for verdict in verdicts(one.result())]
    assert set(outcomes) <= {Verdict.STORED, Verdict.ALREADY_KNOWN, Verdict.KEPT, Verdict.NEWER}
    assert {answer["status"] for answer in written} <= {"stored", "updated"}
    listed = rows(world.instance("corp").call("list_memories", limit=100), "memories")
    assert {row["id"]: row["tags"] for row in listed} == {f"m{number:02}": ["here"] for number in range(40)}


def test_what_a_hand_removed_and_an_import_brings_back_is_found_though_the_index_shows_something_newer(
    acme: Instance, world: World
) -> None:
    acme.stored("The office is in Oslo", id="office")
    export = exported(acme)
    world.clock.advance(timedelta(minutes=1))
    acme.call("update_memory", id="office", content="Quarterly figures are due in March")
    acme.lodestore.upkeep.index("acme")
    for folder in ("memories/acme/office.json", "../index/pending/acme"):
        place = world.folder / "state" / folder
        for file in [place] if place.is_file() else place.glob("*"):
            file.unlink()
    assert verdicts(imported(world.instance("acme"), export)) == [Verdict.STORED]
    assert world.instance("acme").hits("Where is the office?") == ["The office is in Oslo"]


@pytest.mark.promise("P-IDEMPOTENT")
def test_an_import_is_indexed_like_any_write_and_leaves_no_marker_behind(
    acme: Instance, world: World
) -> None:
    stocked(acme, world)
    export = exported(acme, tombstones=True)
    corp = world.instance("corp")
    imported(corp, export)
    for _ in range(3):
        corp.lodestore.upkeep.index("corp")
        world.clock.advance(timedelta(minutes=5))
    assert list((world.folder / "index" / "pending" / "corp").glob("*")) == []
    before = files_of(world.folder / "index")
    assert set(verdicts(imported(world.instance("corp"), export))) == {Verdict.ALREADY_KNOWN}
    assert files_of(world.folder / "index") == before
    assert world.instance("corp").hits("Where is the office?") == ["The office is in Bergen"]


@pytest.mark.case("B41")
def test_an_export_holds_every_memory_however_many_pages_the_listing_has(folder: Path) -> None:
    world = World(folder)
    acme = world.instance("acme")
    acme.stored("The first of many", id="first")
    record = next(iter(acme.lodestore.moving.exporting.run("acme")))
    assert isinstance(record, TransferLine)
    ids = sorted(f"m{number}" for number in range(2_344))
    for memory_id in ids:
        copy = replace(record.record, id=memory_id)
        world.state.inner.create(keys.memory("acme", memory_id), encode_record(copy))
    lines = list(acme.lodestore.moving.exporting.run("acme"))
    assert [line.record.id for line in lines if isinstance(line, TransferLine)] == ["first", *ids]
    world.close()
