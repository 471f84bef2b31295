"""Commands beside the server: an index that is deleted comes back, and what can not be done is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.system.processes import run_lodestore, tool_process, variables

QUERIES = ("where is the office", "ERR_X9F-2207", "年会", "who leads quality", "never said")
CONTENTS = (
    "The office moved to Bergen",
    "The build fails with ERR_X9F-2207 on Mondays",
    "公司年会定在十二月六日举行",
    "Jörg Müller leads QA",
)


def answers(environment: dict[str, str]) -> str:
    """Every hit of every query, byte for byte, but for what says how old the answer is."""
    with tool_process(environment) as process:
        found = [process.call("recall", query=query, explain=True)["hits"] for query in QUERIES]
    for hits in found:
        for hit in hits:
            del hit["age"]
    return json.dumps(found, ensure_ascii=False)


@pytest.mark.promise("P-TRUTH")
def test_a_deleted_index_is_rebuilt_and_the_same_hits_come_back(tmp_path: Path) -> None:
    environment = {**variables(tmp_path, EMBEDDINGS="local"), "TENANT": "acme"}
    with tool_process(environment) as process:
        for content in CONTENTS:
            process.call("remember", content=content)
    built = run_lodestore(environment, "rebuild", "acme")
    assert json.loads(built.stdout)["memories"] == len(CONTENTS), built.stderr
    before = answers(environment)
    shutil.rmtree(tmp_path / "index")
    dry = run_lodestore({**environment, "DRY_RUN": "1"}, "rebuild")
    assert (json.loads(dry.stdout)["objects"], (tmp_path / "index" / "index").exists()) == (
        len(CONTENTS),
        False,
    )
    assert run_lodestore(environment, "rebuild").returncode == 0
    assert answers(environment) == before


def test_a_tenant_that_is_no_tenant_is_refused(tmp_path: Path) -> None:
    refused = run_lodestore({**variables(tmp_path), "TENANT": ""}, "rebuild", "../x")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "which tenant?" in refused.stderr


def test_stdio_over_a_folder_that_cannot_be_made_says_so_and_ends(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    ended = run_lodestore(variables(tmp_path / "taken"), "stdio")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "DATA" in ended.stderr


def test_a_dry_run_is_asked_for_by_0_or_1(tmp_path: Path) -> None:
    refused = run_lodestore({**variables(tmp_path), "DRY_RUN": "yes"}, "rebuild", "acme")
    assert (refused.returncode, "DRY_RUN" in refused.stderr) == (1, True)


def test_a_tenant_of_whom_nothing_is_stored_is_said_so(tmp_path: Path) -> None:
    built = run_lodestore(variables(tmp_path), "rebuild", "nosuch")
    assert (built.returncode, json.loads(built.stdout)["objects"]) == (0, 0)
    assert "nothing is stored for the tenant 'nosuch'" in built.stderr
