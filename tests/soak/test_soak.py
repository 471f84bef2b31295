"""A short soak on a folder, and that the account notices what is missing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from lodestore.bootstrap import build
from lodestore.format import keys
from tests.soak import storm
from tests.soak.__main__ import figures, main
from tests.soak.account import CALLER, Account, read_journals, settle
from tests.soak.journal import Call, Expected, Journal
from tests.soak.stores import FolderHome, SeaweedHome
from tests.soak.storm import Storm
from tests.soak.worker import TENANT

SECONDS = 4.0


@pytest.mark.promise("P-DURABLE", "P-NO-LOST-UPDATE", "P-TRUTH")
def test_what_killed_writers_were_answered_is_there_and_no_garbage_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with patch.object(storm, "WORKERS", 2), patch.object(storm, "WORKER_LIVES", (1.0, 2.0)):
        assert main(["--minutes", str(SECONDS / 60), "--stores", "folder"]) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert "folder: seed 1, 4 s, wrong 0" in said
    assert ", 0 workers and" not in said


def call(tool: str, answer: dict[str, Any] | None, **given: object) -> Call:
    return Call(tool, given, answer, 1.0)


def learnt(*calls: Call) -> Expected:
    expected = Expected()
    for one in calls:
        expected.learn(one)
    return expected


def test_what_was_answered_is_the_only_state_and_what_was_not_is_another() -> None:
    stored = call("remember", {"status": "stored"}, id="a", content="one")
    assert learnt(stored).states == {"a": {"one"}}
    assert learnt(stored, call("update_memory", None, id="a", content="two")).states == {"a": {"one", "two"}}
    unknown = {"error": "unavailable", "written": "unknown"}
    assert learnt(stored, call("forget", unknown, id="a")).states == {"a": {"one", None}}
    refused = {"error": "unavailable", "written": False}
    assert learnt(stored, call("update_memory", refused, id="a", content="two")).states == {"a": {"one"}}


def test_a_stale_read_and_a_version_answered_twice_are_wrong() -> None:
    stored = call("remember", {"status": "stored"}, id="a", content="one")
    assert learnt(stored, call("get_memory", {"error": "not_found"}, id="a")).wrong
    assert learnt(stored, call("get_memory", {"memory": {"content": "none"}}, id="a")).wrong
    assert not learnt(stored, call("get_memory", {"memory": {"content": "one"}}, id="a")).wrong
    twice = [call("update_memory", {"version": 2}, id="shared-0", source=source) for source in ("x", "y")]
    assert learnt(*twice).wrong


def test_a_call_that_a_kill_cut_off_is_in_the_journal_without_an_answer(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "w.jsonl")
    journal.intend("remember", {"id": "a", "content": "one"})
    journal.note(1.0, {"status": "stored"})
    journal.intend("forget", {"id": "a"})
    journal.close()
    expected = read_journals(tmp_path)
    assert expected.states == {"a": {"one", None}}
    assert (expected.acknowledged, expected.unanswered) == (1, 1)


def test_an_answered_write_that_is_gone_and_a_row_that_is_not_listed_are_found(tmp_path: Path) -> None:
    variables = {"DATA": str(tmp_path / "data"), "EMBEDDINGS": "none"}
    lodestore = build(variables)
    journal = Journal(tmp_path / "w.jsonl")
    for memory_id in ("kept", "gone"):
        given = {"id": memory_id, "content": f"the {memory_id} one"}
        journal.intend("remember", given)
        journal.note(1.0, lodestore.toolbox.call(CALLER, "remember", given))
    journal.close()
    assert settle(variables, tmp_path).lost == []
    lodestore.state_store.delete(keys.memory(TENANT, "gone"))
    account = settle(variables, tmp_path)
    assert len(account.lost) == 1
    assert account.lost[0].startswith("gone is None")


def test_a_write_that_the_store_lost_counts_apart_only_by_the_stores_own_log(tmp_path: Path) -> None:
    account = Account(lost=["a is None"])
    home = FolderHome(tmp_path)
    assert figures(home, Storm(), account, Counter(), [])[1] == 1
    lines, wrong = figures(home, Storm(), account, Counter(), ["volume 3: truncated to 400"])
    assert wrong == 0
    assert "  lost by the killed store, by its own log: 1" in lines
    assert "    volume 3: truncated to 400" in lines


def test_the_log_of_a_store_says_what_it_dropped(tmp_path: Path) -> None:
    home = SeaweedHome.__new__(SeaweedHome)
    home._log = tmp_path / "weed.log"
    home._log.write_text(json.dumps("started") + "\nvolume 3: data file truncated from 9 to 4\n")
    assert home.losses() == ["volume 3: data file truncated from 9 to 4"]
