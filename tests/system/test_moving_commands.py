"""`lodestore export` and `lodestore import` as a person calls them, beside a store that others use."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from local_runner.moving.commands import add_to
from local_runner.upkeep_commands import Refused
from lodestore.bootstrap import build
from lodestore.domain.caller import Caller, Role
from tests.system.processes import run_lodestore, tool_process, variables

Called = CompletedProcess[str]


class Console:
    """Commands in this process, as a person sees them; `begun` fills a folder first."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, environment: dict[str, str], *arguments: str) -> Called:
        parser = argparse.ArgumentParser()
        add_to(parser.add_subparsers())
        chosen = parser.parse_args(arguments)
        refused = ""
        try:
            chosen.run(chosen, environment)
        except Refused as error:
            refused = f"lodestore: {error}\n"
        said = self._capsys.readouterr()
        return CompletedProcess(arguments, int(bool(refused)), said.out, said.err + refused)


def begun(folder: Path, **given: str) -> dict[str, str]:
    environment = {**variables(folder), "TENANT": "acme", "EMBEDDINGS": "none", **given}
    lodestore = build(environment)
    for tool, arguments in (
        ("remember", {"content": "The office moved to Bergen", "id": "office", "tags": ["office"]}),
        ("update_memory", {"id": "office", "importance": 0.9}),
        ("remember", {"content": "# Not a heading\n~~~~\nof the export", "id": "fence"}),
        ("remember", {"content": "A word that is forgotten", "id": "word"}),
        ("forget", {"id": "word"}),
    ):
        lodestore.toolbox.call(Caller("acme", None, Role.ADMIN), tool, arguments)
    lodestore.workers.shutdown()
    return environment


@pytest.fixture
def console(capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(capsys)


def summary(output: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(output.splitlines()[-1])
    return told


@pytest.mark.case("B48")
@pytest.mark.promise("P-IDEMPOTENT")
def test_a_tenant_moves_into_another_folder_while_both_are_in_use(tmp_path: Path) -> None:
    here = begun(tmp_path / "here")
    there = {**variables(tmp_path / "there"), "TENANT": "other"}
    export = run_lodestore({**here, "VERSIONS": "1", "TOMBSTONES": "1"}, "export")
    assert (export.returncode, export.stderr) == (0, "lodestore: 2 memories, 1 forgotten, 1 versions\n")
    assert [json.loads(line)["id"] for line in export.stdout.splitlines()] == ["fence", "office", "word"]
    file = tmp_path / "acme.jsonl"
    to_file = run_lodestore({**here, "VERSIONS": "1", "TOMBSTONES": "1", "TO": str(file)}, "export")
    assert (to_file.stdout, file.read_text(encoding="utf-8")) == ("", export.stdout)
    assert file.stat().st_mode & 0o077 == 0
    with tool_process(there) as process:
        assert process.call("list_memories")["total"] == 0
        dry = run_lodestore({**there, "FROM": str(file), "DRY_RUN": "1"}, "import")
        assert (dry.returncode, summary(dry.stdout)["stored"], len(dry.stdout.splitlines())) == (0, 3, 4)
        assert process.call("list_memories")["total"] == 0
        taken = run_lodestore({**there, "FROM": str(file)}, "import")
        assert (taken.returncode, summary(taken.stdout)["stored"]) == (0, 3), taken.stderr
        assert process.call("list_memories")["total"] == 2
        assert process.call("get_memory", id="office")["memory"]["importance"] == 0.9
    again = run_lodestore(there, "import", str(file))
    assert summary(again.stdout)["already_known"] == 3
    back = run_lodestore({**there, "VERSIONS": "1", "TOMBSTONES": "1"}, "export")
    assert back.stdout == export.stdout


@pytest.mark.promise("P-SILENT-NEVER", "P-BOUNDED")
def test_each_bad_line_is_said_with_its_number_and_the_good_ones_are_kept(
    tmp_path: Path, console: Console
) -> None:
    here = begun(tmp_path / "here")
    good = console.run(here, "export").stdout.encode().splitlines()
    newer = json.dumps({**json.loads(good[0]), "schema": 2}).encode()
    unknown = json.dumps({**json.loads(good[0]), "mood": "good"}).encode()
    foreign = json.dumps({**json.loads(good[0]), "tenant": "corp"}).encode()
    lines = [
        b"\xef\xbb\xbf" + good[0],
        b"{broken",
        b"\xff\xfe",
        b"[" * 100_000,
        b"",
        newer,
        unknown,
        foreign,
        b'{"schema": 1, "id": "../x"}',
        b'{"schema": NaN}',
        b"7",
        b'"' + b"x" * 9_000_000 + b'"',
        good[1] + b"\r",
    ]
    file = tmp_path / "mixed.jsonl"
    file.write_bytes(b"\n".join(lines))
    there = {**variables(tmp_path / "there"), "TENANT": "other"}
    taken = console.run({**there, "FROM": str(file), "FORMAT": "lodestore"}, "import")
    told = summary(taken.stdout)
    assert (taken.returncode, told["stored"], told["refused"], told["entries"]) == (1, 2, 10, 12)
    for said in (
        "line 2: not JSON",
        "line 3: not UTF-8",
        "line 4: nested too deep",
        "line 6: schema: 1 is the newest that this version reads, not 2",
        "line 7: 'mood': no such field is known",
        "line 8: tenant: the line is of another tenant",
        "line 9: id: ",
        "line 10: not JSON",
        "line 11: not a JSON object",
        "line 12: longer than 8,388,608 bytes",
        "10 of 12 entries were refused",
    ):
        assert f"lodestore: {said}" in taken.stderr
    assert "Traceback" not in taken.stderr


@pytest.mark.promise("P-SILENT-NEVER")
def test_an_object_that_is_no_memory_is_named_and_the_export_fails(tmp_path: Path, console: Console) -> None:
    here = begun(tmp_path)
    (tmp_path / "state/memories/acme/office.json").write_bytes(b"{")
    export = console.run(here, "export")
    assert (export.returncode, len(export.stdout.splitlines())) == (1, 1)
    assert "lodestore: memories/acme/office.json: not JSON" in export.stderr
    assert export.stderr.endswith("1 objects are no memories and are not in the export\n")


@pytest.mark.promise("P-UNTRUSTED")
def test_an_export_for_people_keeps_each_content_in_its_fence(tmp_path: Path, console: Console) -> None:
    export = console.run({**begun(tmp_path), "FORMAT": "markdown"}, "export")
    assert export.stdout.startswith("# Memories of acme\n\n## fence\n")
    assert "\n~~~~~\n# Not a heading\n~~~~\nof the export\n~~~~~\n" in export.stdout
    assert "- tags: `office`\n" in export.stdout


@pytest.mark.parametrize(
    ("command", "given", "named"),
    [
        ("export", {"FORMAT": "xml"}, "FORMAT must be one of jsonl | markdown"),
        ("export", {"VERSIONS": "yes"}, "VERSIONS must be one of 0 | 1"),
        ("export", {"TO": "/nowhere/file"}, "TO can't be written"),
        ("import", {}, "what to import?"),
        ("import", {"FROM": "/nowhere/file"}, "there is no file or folder"),
        (
            "import",
            {"FROM": "/dev/null", "ON_CONFLICT": "merge"},
            "ON_CONFLICT must be one of skip | overwrite",
        ),
        ("import", {"FROM": "/dev/null", "FORMAT": "csv"}, "FORMAT must be one of lodestore"),
        ("import", {"FROM": "/dev/null", "TENANT": "a/b"}, "which tenant?"),
    ],
)
def test_what_can_not_be_done_is_refused_by_name(
    tmp_path: Path, console: Console, command: str, given: dict[str, str], named: str
) -> None:
    refused = console.run({**variables(tmp_path), "TENANT": "acme", **given}, command)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert named in refused.stderr


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_dry_run_of_another_stores_file_lists_each_piece_and_how_it_begins(
    tmp_path: Path, console: Console
) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": [{"memory": "Ann likes tea"}, {"memory": 7}]}), encoding="utf-8")
    environment = variables(tmp_path / "data", EMBEDDINGS="none")
    dry = console.run(environment, "import", str(file), "--dry-run", "--tenant", "acme")
    first, last = map(json.loads, dry.stdout.splitlines())
    assert (first["place"], first["verdict"], first["content"]) == ("memory 1", "stored", "Ann likes tea")
    assert (last["format"], last["stored"], last["refused"], last["dry_run"]) == ("mem0", 1, 1, True)
    assert "lodestore: memory 2: memory must be a text\n" in dry.stderr
    assert "1 of 2 entries were refused" in dry.stderr


def test_a_dry_run_shows_no_credential_that_the_import_would_redact(tmp_path: Path, console: Console) -> None:
    key = "AKIA" + "0000EXAMPLE00000"
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": [{"memory": f"the key is {key}"}]}), encoding="utf-8")
    dry = console.run(variables(tmp_path / "data"), "import", str(file), "--dry-run", "--tenant", "acme")
    assert json.loads(dry.stdout.splitlines()[0])["content"] == "the key is [redacted:aws_access_key_id]"
    assert key not in dry.stdout + dry.stderr
