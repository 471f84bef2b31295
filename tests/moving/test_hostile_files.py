"""Files that were made to hurt: each is refused by its place, and nothing outside the folder is read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from local_runner.moving.frontmatter import Document, split_frontmatter
from local_runner.moving.markdown_blocks import blocks
from local_runner.moving.sources import Format, NoSource, find_source
from lodestore.domain import limits
from lodestore.domain.arrival import Verdict
from lodestore.services.import_runs import Flaw
from tests.moving.foreign_import import Taker

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"


@pytest.mark.promise("P-SILENT-NEVER")
def test_each_bad_line_of_a_graph_is_said_and_the_others_are_kept(taker: Taker, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    lines = [
        json.dumps(
            {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea", 7]}
        ),
        "{broken",
        "[" * 100_000,
        json.dumps({"type": "entity", "name": 7, "entityType": "x", "observations": []}),
        json.dumps({"type": "entity", "name": "Ann", "entityType": "x", "observations": "all"}),
        json.dumps({"type": "relation", "from": "Ann", "to": ["x"], "relationType": "is"}),
        json.dumps({"type": "spell"}),
        json.dumps({"type": "entity", "name": "Big", "entityType": "x", "observations": ["x" * 40_000]}),
        json.dumps({"type": "entity", "name": "\ud800", "entityType": "x", "observations": ["half"]}),
    ]
    file.write_bytes("\n".join(lines).encode() + b"\n\xff\n")
    verdicts = taker.verdicts(file)
    assert [verdict for verdict in verdicts if verdict == Verdict.STORED] == [Verdict.STORED]
    said = [verdict.partition(": ")[0] for verdict in verdicts if ": " in verdict]
    assert said == [
        "line 1, observation 2",
        *(f"line {number}" for number in range(2, 8)),
        "line 8, observation 1",
        "line 9, observation 1",
        "line 10",
    ]
    assert set(taker.memories()) == {"Ann: Likes tea"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[", "not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"results": {}}', "a list of memories"),
        (b"\xff", "not UTF-8"),
        (b'[{"memory": 7}]', "memory must be a text"),
        (b"[7]", "not a JSON object"),
        (
            b'[{"memory": "x", "metadata": []}, {"memory": "x", "metadata": "a"}]',
            "metadata must be an object",
        ),
        (b'[{"memory": "x", "categories": [7]}]', "categories must be a list of texts"),
        (b'[{"memory": "x", "created_at": "once"}]', "valid_from must be a time"),
        (b'[{"memory": "x", "expiration_date": "2001-01-01"}]', "expires_at is not in the future"),
        (b'[{"memory": "x", "metadata": {"a": ' + b"[" * 9 + b"1" + b"]" * 9 + b"}}]", "metadata"),
    ],
)
def test_a_mem0_file_that_is_none_is_refused_and_says_why(
    taker: Taker, tmp_path: Path, body: bytes, why: str
) -> None:
    file = tmp_path / "mem0.json"
    file.write_bytes(body)
    assert why in taker.verdicts(file, named=Format.MEM0)[-1]


@pytest.mark.promise("P-TENANT")
def test_no_link_is_followed_no_pipe_is_opened_and_nothing_outside_the_folder_is_read(
    taker: Taker, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "CLAUDE.md").write_text("XYZZYPLUGH\n", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- [up](../outside/CLAUDE.md) — up there\n", encoding="utf-8")
    (folder / "CLAUDE.md").symlink_to(outside / "CLAUDE.md")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    (folder / "bad.md").write_bytes(b"\xff\xfe")
    (folder / "big.md").write_bytes(b"x" * (limits.IMPORT_MARKDOWN_BYTES + 1))
    (folder / b"\xff.md".decode("utf-8", "surrogateescape")).write_text("odd name\n", encoding="utf-8")
    verdicts = taker.verdicts(folder)
    assert [verdict for verdict in verdicts if ": " in verdict] == [
        "CLAUDE.md: not a file; links are not followed",
        "bad.md: not UTF-8",
        "big.md: larger than 1,048,576 bytes",
        "linked: not a file; links are not followed",
        "pipe.md: not a file; links are not followed",
    ]
    assert set(taker.memories()) == {"[up](../outside/CLAUDE.md) — up there", "odd name"}


@pytest.mark.case("B27")
def test_a_secret_in_a_file_is_redacted_as_in_any_write(taker: Taker, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(f"The token is {SECRET}\n", encoding="utf-8")
    (outcome,) = taker.take(file)
    assert outcome.taken is not None
    assert outcome.taken.changed == ("content",)
    assert SECRET not in str(taker.memories())


def test_the_same_thing_said_twice_in_a_file_is_stored_once(taker: Taker, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([{"memory": "Ann likes tea"}] * 3), encoding="utf-8")
    assert taker.verdicts(file) == [Verdict.STORED, Verdict.ALREADY_KNOWN, Verdict.ALREADY_KNOWN]


@pytest.mark.parametrize(
    "head",
    ["a: &a [*a]", "- 1", "a: b: c", "{" * 5_000, "!!python/object:os.system x", "x: " + "y" * 70_000],
    ids=["a circle", "a list", "no yaml", "deep", "an object", "large"],
)
def test_frontmatter_is_read_as_texts_or_refused(head: str) -> None:
    read = split_frontmatter(f"---\n{head}\n---\nbody\n")
    assert isinstance(read, Flaw) or read.text("a") is None


def test_frontmatter_that_never_ends_is_a_text_like_any_other() -> None:
    assert split_frontmatter("---\nname: x\n") == Document("---\nname: x\n")


@pytest.mark.parametrize(
    "text", ["> " * 500 + "x", "- " * 500 + "x", "[" * 5_000, "`" * 5_000, "*a_ " * 2_000]
)
def test_deep_nesting_makes_no_more_than_one_piece(text: str) -> None:
    assert len(list(blocks(text))) == 1


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("a.jsonl", '{"schema":1,"id":"x"}\n', "lodestore"),
        ("a.jsonl", "", "lodestore"),
        ("a.json", '\ufeff{"type": "entity", "name": "x"}\n', "mcp-memory"),
        ("a.json", '{\n  "memories": []\n}', "mem0"),
        ("a.json", "[\n]", "mem0"),
        ("a.md", "---\ntitle: x\npermalink: x\n---\n", "basic-memory"),
        ("MEMORY.md", "x", "claude-code"),
        ("a.md", "x", None),
        ("a.csv", "a,b\n", None),
        ("a.json", '{"other": []}', None),
    ],
)
def test_a_format_is_told_from_the_file_or_asked_for(
    tmp_path: Path, name: str, body: str, told: str | None
) -> None:
    (tmp_path / name).write_text(body, encoding="utf-8")
    if told is None:
        with pytest.raises(NoSource, match="can't be told; say FORMAT="):
            find_source(str(tmp_path / name), None)
    else:
        assert find_source(str(tmp_path / name), None).format == told
