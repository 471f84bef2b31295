"""`lodestore sleep`, `report` and `erase` as a person calls them, beside a store that others use."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from lodestore.bootstrap import build
from lodestore.domain.memory import Memory
from lodestore.domain.proposal import ProposalKind, propose
from tests.system.processes import LODESTORE, run_lodestore, tool_process, variables

WORD = "XYZZYPLUGH"


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def begun(folder: Path, tenant: str) -> dict[str, str]:
    environment = {**variables(folder), "TENANT": tenant}
    with tool_process(environment) as process:
        process.call("remember", content="The office moved to Bergen")
        word = process.call("remember", content=f"The word is {WORD}", id="word")
        process.call("forget", id=word["id"])
    return environment


@pytest.mark.promise("P-FORGOTTEN", "P-SILENT-NEVER")
def test_a_sleep_prints_its_report_a_dry_run_changes_nothing_and_the_window_is_a_setting(
    tmp_path: Path,
) -> None:
    environment = begun(tmp_path, "acme")
    before = bytes_of(tmp_path)
    dry = run_lodestore({**environment, "DRY_RUN": "1"}, "sleep")
    assert json.loads(dry.stdout)["dry_run"] is True
    assert bytes_of(tmp_path) == before
    slept = run_lodestore(environment, "sleep")
    report = json.loads(slept.stdout)
    assert (slept.returncode, report["complete"], report["tenant"]) == (0, True, "acme")
    assert [step["step"] for step in report["steps"]][:2] == ["sweep", "expire"]
    assert slept.stderr.count("lodestore: ") == len(report["steps"])
    assert WORD.encode() in bytes_of(tmp_path)
    run_lodestore({**environment, "FORGET_WINDOW": "0"}, "sleep", "--steps", "purge")
    assert WORD.encode() not in bytes_of(tmp_path)
    shown = run_lodestore(environment, "report")
    assert shown.stdout.startswith("# Sleep of acme, ")
    assert json.loads(run_lodestore({**environment, "FORMAT": "json"}, "report").stdout)["id"] == report["id"]


@pytest.mark.case("B01", "B21")
@pytest.mark.promise("P-TENANT")
def test_erasing_takes_one_tenant_and_is_verified_by_a_second_command(tmp_path: Path) -> None:
    environment, corp = begun(tmp_path, "acme"), begun(tmp_path, "acme-corp")
    asked = run_lodestore(environment, "erase")
    assert (asked.returncode, "--yes" in asked.stderr) == (1, True)
    early = run_lodestore({**environment, "VERIFY": "1"}, "erase")
    assert (early.returncode, json.loads(early.stdout)["erased"]) == (1, False)
    erased = run_lodestore(environment, "erase", "--yes")
    assert (erased.returncode, json.loads(erased.stdout)["left"]) == (0, 0)
    verified = run_lodestore({**environment, "VERIFY": "1"}, "erase")
    assert (verified.returncode, json.loads(verified.stdout)["left"]) == (0, 0)
    with tool_process(corp) as process:
        assert process.call("list_memories")["total"] == 1


@pytest.mark.promise("P-FORGOTTEN")
def test_one_memory_is_erased_by_its_id_and_no_byte_of_it_is_left(tmp_path: Path) -> None:
    environment = {**variables(tmp_path), "TENANT": "acme"}
    with tool_process(environment) as process:
        process.call("remember", content=f"The word is {WORD}", id="word")
    erased = run_lodestore(environment, "erase", "word", "--yes")
    assert (erased.returncode, json.loads(erased.stdout)["gone"]) == (0, True), erased.stderr
    assert WORD.encode() not in bytes_of(tmp_path)
    assert run_lodestore({**environment, "ID": "word"}, "erase", "--verify").returncode == 0
    mistyped = run_lodestore({**environment, "ID": "wrod"}, "erase", "--yes")
    assert "the tenant 'acme' has no memory 'wrod'" in mistyped.stderr


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"STEPS": "tidy"}, "tidy"),
        ({"TENANT": ""}, "which tenant?"),
        ({"FORGET_WINDOW": "-1"}, "FORGET_WINDOW"),
    ],
)
def test_what_a_sleep_can_not_be_asked_is_refused_by_name(
    tmp_path: Path, given: dict[str, str], named: str
) -> None:
    refused = run_lodestore({**variables(tmp_path), "TENANT": "acme", **given}, "sleep")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert named in refused.stderr


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_proposals_are_listed_decided_and_undone_by_command(tmp_path: Path) -> None:
    environment = {**variables(tmp_path), "TENANT": "acme"}
    with tool_process(environment) as process:
        process.call("remember", content="The office moved to Bergen", id="office")
    lodestore = build({**environment, "TENANT": ""})
    memory = lodestore.rebuilding._truth.read("acme", "office").record
    assert isinstance(memory, Memory)
    proposal = propose(ProposalKind.PRUNE, [memory], at=lodestore.clock.now())
    lodestore.proposals.propose("acme", [proposal])
    listed = json.loads(run_lodestore(environment, "proposals").stdout)
    assert [row["id"] for row in listed["proposals"]] == [proposal.id]
    unsure = run_lodestore(environment, "decide", proposal.id)
    assert (unsure.returncode, "--accept | --decline" in unsure.stderr) == (1, True)
    decided = run_lodestore({**environment, "ID": proposal.id, "ACCEPT": "1", "NOTE": "old"}, "decide")
    assert (decided.returncode, json.loads(decided.stdout)["done"]) == (0, True), decided.stderr
    with tool_process(environment) as process:
        assert process.call("list_memories")["total"] == 0
    assert json.loads(run_lodestore(environment, "undo", proposal.id).stdout)["restored"] == ["office"]
    with tool_process(environment) as process:
        assert process.call("list_memories")["total"] == 1
    unknown = run_lodestore(environment, "undo", "p0")
    assert (unknown.returncode, "can be undone" in unknown.stderr) == (1, True)


def test_a_person_on_a_terminal_sees_the_steps_move_and_standard_output_is_the_report_alone(
    tmp_path: Path,
) -> None:
    environment = {**begun(tmp_path, "acme"), "TERM": "xterm", "COLUMNS": "160"}
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*LODESTORE, "sleep"], env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        seen = _until_closed(ours)
        assert process.stdout is not None
        report = json.loads(process.stdout.read())
    assert (process.returncode, report["complete"]) == (0, True)
    for step in report["steps"]:
        assert f"{step['step']}: " in seen
    assert "lodestore: " not in seen
    assert "\x1b[" in seen


def _until_closed(terminal: int) -> str:
    """All that is written to a terminal until its last writer is gone."""
    read: list[bytes] = []
    with open(terminal, "rb", buffering=0) as stream, suppress(OSError):
        # Linux says so by an error, where a file would come to its end.
        while piece := stream.read(65_536):
            read.append(piece)
    return b"".join(read).decode()
