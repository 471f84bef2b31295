"""The LoCoMo player: one memory a turn through a real client, questions by recall, nothing new the second time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load_locomo import Endpoint, Score, play, table
from benchmarks.locomo import MissingData, parse_evidence, parse_session_time, read_conversations
from local_runner.child_server import child_server
from tests.system.processes import ROOT, call_tool, http_client, variables

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a greyhound called Comet."},
            {
                "speaker": "Bob",
                "dia_id": "D1:2",
                "text": "Look at my new bicycle!",
                "blip_caption": "a photo of a red bicycle",
            },
            {"speaker": "Ann", "dia_id": "D1:3", "text": "Bye!"},
        ],
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "Bye!"}],
        "session_3_date_time": "12:09 am on 14 September, 2023",
    },
    "qa": [
        {"question": "What is Ann's greyhound called?", "evidence": ["D1:1"], "category": 4},
        {"question": "What colour is the bicycle?", "evidence": ["D:1:02; D9:9"], "category": 1},
        {"question": "Does Ann like Bob?", "evidence": [], "category": 3},
        {"question": "What colour is Ann's bicycle?", "evidence": ["D1:2"], "category": 5},
    ],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "shared" / "locomo"
    folder.mkdir(parents=True)
    (folder / "locomo10.json").write_text(json.dumps([SAMPLE]), encoding="utf-8")
    return folder.parent


def test_a_conversation_is_stored_once_asked_and_nothing_new_the_second_time(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conversations = read_conversations(data)

    async def play_twice(url: str) -> dict[str, Any]:
        await play(Endpoint(url, None), conversations)
        await play(Endpoint(url, None), conversations)
        async with http_client(url, X_Memory_Tenant="locomo-conv-1") as client:
            return await call_tool(client, "list_memories", limit=100)

    with child_server(variables(tmp_path / "data")) as server:
        listed = asyncio.run(play_twice(server.url))
    told = capsys.readouterr()
    assert "4 turns in 2 sessions" in told.out
    assert [line.rpartition(": ")[2] for line in told.out.splitlines() if " turns in " in line] == [
        "4 stored",
        "4 already_known",
    ]
    assert "all                  2  100.0%    100.0%" in told.out
    assert "conv-1 turns: 4 of 4" in told.err
    # The last two turns are the same words, and still two memories: each has an idempotency key of its own.
    assert listed["total"] == 4
    bicycle = next(memory for memory in listed["memories"] if "bicycle" in memory["content"])
    assert bicycle["content"] == "Look at my new bicycle! [image: a photo of a red bicycle]"
    assert (bicycle["source"], bicycle["type"], bicycle["scope"]) == ("Bob", "event", "project")
    assert bicycle["valid_from"] == "2023-05-08T13:56:00.000Z"


def test_the_reader_keeps_what_can_be_answered_and_says_how_many_cannot(data: Path) -> None:
    (conversation,) = read_conversations(data)
    assert [session.number for session in conversation.sessions] == [1, 2]
    assert [question.evidence for question in conversation.questions] == [{"D1:1"}, {"D1:2"}]
    assert conversation.unanswerable == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["D8:6; D9:17"], {"D8:6", "D9:17"}),
        (["D9:1 D4:4 D4:6"], {"D9:1", "D4:4", "D4:6"}),
        (["D:11:26"], {"D11:26"}),
        (["D30:05"], {"D30:5"}),
        (["D"], set()),
    ],
)
def test_evidence_is_read_in_every_form_that_the_file_has(written: list[str], meant: set[str]) -> None:
    assert parse_evidence(written) == meant


def test_session_times_are_read_as_utc() -> None:
    assert parse_session_time("1:56 pm on 8 May, 2023") == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert parse_session_time("12:09 am on 13 September, 2023") == datetime(2023, 9, 13, 0, 9, tzinfo=UTC)


def test_the_table_averages_over_questions_by_category_and_all() -> None:
    scores = [Score(1, hit=True, share=0.5), Score(1, hit=False, share=0.0), Score(4, hit=True, share=1.0)]
    assert table(scores)[1:] == [
        "multi-hop            2   50.0%     25.0%",
        "single-hop           1  100.0%    100.0%",
        "all                  3   66.7%     50.0%",
    ]


def test_without_the_data_the_command_says_how_to_get_it_and_ends_well(tmp_path: Path) -> None:
    environment = {**os.environ, **variables(tmp_path / "unused"), "DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "benchmarks.load_locomo"]
    answer = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (0, "")
    assert answer.stderr.startswith("skipped: LoCoMo is not at ")
    assert "DATA_DIR" in answer.stderr


def test_missing_data_is_an_error_for_a_caller_in_the_program(tmp_path: Path) -> None:
    with pytest.raises(MissingData):
        read_conversations(tmp_path)
