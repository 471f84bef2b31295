"""What people come from: each store's own files, as statements that are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lodestore.domain.arrival import OnConflict, Verdict
from lodestore.services.importing import ImportOptions
from tests.moving.foreign_import import Taker

GRAPH = [
    {
        "type": "entity",
        "name": "Ann Berg",
        "entityType": "person",
        "observations": ["Speaks Norwegian", "Prefers tea to coffee"],
    },
    {"type": "entity", "name": "Fjord", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Ann Berg", "to": "Fjord", "relationType": "works_on"},
]
MEM0 = {
    "results": [
        {
            "id": "a1f0",
            "memory": "Ann is allergic to nuts",
            "hash": "5d41",
            "metadata": {"type": "preference", "seen": 3},
            "created_at": "2024-07-20T01:30:36.275141-07:00",
            "updated_at": None,
            "user_id": "ann",
            "categories": ["health"],
            "score": 0.4,
        },
        {"id": "a1f1", "memory": "Ann lives in Bergen", "agent_id": "helper"},
    ],
    "relations": [{"source": "ann", "relationship": "lives_in", "target": "bergen"}],
}
NOTE = """---
title: Coffee Brewing
type: note
permalink: coffee/brewing
tags: [coffee, brewing]
created: 2025-03-01
---

# Coffee Brewing

Water just off the boil is best.

## Observations
- [method] Pour over brings out more flavour #pour-over (from a barista)
- [ ] buy a scale
- [00:12] spoken line

```
- [not] an observation
```

## Relations
- pairs_well_with [[Chocolate Desserts]]
- "grown in" [[Ethiopia]] (mostly)
"""
CLAUDE_MD = """# Project

Read @docs/guide.md only when asked.

@docs/git.md

## Commands

Build and test:

- Run `make test` before each commit
  - and `make check`
- Never push to main
"""
TOPIC = """---
name: no-mocks
description: Tests use a real database
metadata:
  type: feedback
---

Use a real database in tests, no mocks.

**Why:** mocks hid a broken migration.
"""


def graph_file(folder: Path) -> Path:
    file = folder / "memory.jsonl"
    file.write_text("\n".join(map(json.dumps, GRAPH)) + "\n", encoding="utf-8")
    return file


def mem0_file(folder: Path) -> Path:
    file = folder / "mem0.json"
    file.write_text(json.dumps(MEM0, indent=1), encoding="utf-8")
    return file


def notes_folder(folder: Path) -> Path:
    notes = folder / "notes"
    (notes / "coffee").mkdir(parents=True)
    (notes / "coffee" / "brewing.md").write_text(NOTE, encoding="utf-8")
    return notes


def claude_folder(folder: Path) -> Path:
    project = folder / "project"
    (project / "memory").mkdir(parents=True)
    (project / ".claude" / "rules").mkdir(parents=True)
    (project / "README.md").write_text("# Not a memory\n", encoding="utf-8")
    (project / "CLAUDE.md").write_text(CLAUDE_MD, encoding="utf-8")
    (project / ".claude" / "rules" / "style.md").write_text("Short names.\n", encoding="utf-8")
    (project / "memory" / "no_mocks.md").write_text(TOPIC, encoding="utf-8")
    (project / "memory" / "MEMORY.md").write_text(
        "- [No mocks](no_mocks.md) — real database\n- [Gone](gone.md) — the office is in Bergen\n",
        encoding="utf-8",
    )
    return project


MAKERS = (graph_file, mem0_file, notes_folder, claude_folder)


def test_the_reference_servers_graph_becomes_one_memory_for_each_observation_and_relation(
    taker: Taker, tmp_path: Path
) -> None:
    found = taker.stored(graph_file(tmp_path))
    assert taker.told == "mcp-memory"
    assert set(found) == {
        "Ann Berg: Speaks Norwegian",
        "Ann Berg: Prefers tea to coffee",
        "Fjord (project)",
        "Ann Berg works on Fjord",
    }
    tea = found["Ann Berg: Prefers tea to coffee"]
    assert (tea["category"], tea["tags"]) == ("person", ["imported:mcp-memory", "Ann Berg"])
    assert taker.instance.hits("What does Ann prefer to drink?")[0] == "Ann Berg: Prefers tea to coffee"


def test_mem0_memories_keep_owner_time_categories_and_metadata(taker: Taker, tmp_path: Path) -> None:
    found = taker.stored(mem0_file(tmp_path))
    assert taker.told == "mem0"
    nuts = found["Ann is allergic to nuts"]
    assert (nuts["type"], nuts["source"]) == ("preference", "ann")
    assert nuts["tags"] == ["imported:mem0", "health"]
    assert nuts["valid_from"] == "2024-07-20T08:30:36.275Z"
    assert nuts["metadata"] == {
        "imported_from": "mem0",
        "id": "a1f0",
        "user_id": "ann",
        "created_at": "2024-07-20T01:30:36.275141-07:00",
        "metadata": {"type": "preference", "seen": 3},
    }
    assert found["Ann lives in Bergen"]["source"] == "helper"
    assert found["ann lives in bergen"]["category"] == "relation"


def test_a_basic_memory_note_becomes_its_observations_relations_and_prose(
    taker: Taker, tmp_path: Path
) -> None:
    found = taker.stored(notes_folder(tmp_path))
    assert taker.told == "basic-memory"
    assert set(found) == {
        "Coffee Brewing: Water just off the boil is best.",
        "Coffee Brewing: Pour over brings out more flavour #pour-over (from a barista)",
        "Coffee Brewing: [ ] buy a scale",
        "Coffee Brewing: [00:12] spoken line",
        "Coffee Brewing: ```\n- [not] an observation\n```",
        "Coffee Brewing pairs well with Chocolate Desserts",
        "Coffee Brewing grown in Ethiopia (mostly)",
    }
    poured = found["Coffee Brewing: Pour over brings out more flavour #pour-over (from a barista)"]
    assert poured["category"] == "method"
    assert poured["tags"] == ["imported:basic-memory", "coffee", "brewing", "pour-over"]
    assert (poured["source"], poured["valid_from"]) == ("coffee/brewing.md", "2025-03-01T00:00:00.000Z")


def test_claude_codes_files_become_instructions_and_topics_and_the_index_is_not_said_twice(
    taker: Taker, tmp_path: Path
) -> None:
    found = taker.stored(claude_folder(tmp_path))
    assert taker.told == "claude-code"
    topic = "Tests use a real database\n\nUse a real database in tests, no mocks.\n\n" + (
        "**Why:** mocks hid a broken migration."
    )
    assert {content: memory["type"] for content, memory in found.items()} == {
        "Project: Read @docs/guide.md only when asked.": "instruction",
        "Project > Commands > Build and test: Run `make test` before each commit\n  - and `make check`": "instruction",
        "Project > Commands > Build and test: Never push to main": "instruction",
        "Short names.": "instruction",
        topic: "instruction",
        "[Gone](gone.md) — the office is in Bergen": "fact",
    }
    assert found[topic]["category"] == "feedback"
    assert taker.notes == [
        "CLAUDE.md:3: what is imported with @ is not followed",
        "1 other Markdown files are passed over",
    ]


@pytest.mark.promise("P-IDEMPOTENT")
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_second_import_stores_nothing_and_a_dry_run_nothing_at_all(
    taker: Taker, tmp_path: Path, make: object
) -> None:
    assert callable(make)
    place = make(tmp_path)
    dry = taker.verdicts(place, ImportOptions(dry_run=True))
    assert (set(dry), taker.memories()) == ({Verdict.STORED}, {})
    before = taker.stored(place)
    for options in (ImportOptions(), ImportOptions(OnConflict.OVERWRITE), ImportOptions(dry_run=True)):
        assert set(taker.verdicts(place, options)) <= {Verdict.ALREADY_KNOWN, Verdict.OVERWRITTEN}
    again = taker.memories()
    assert {content: memory["version"] for content, memory in again.items()} == dict.fromkeys(before, 1)


@pytest.mark.promise("P-FORGOTTEN")
def test_what_was_forgotten_or_changed_since_the_first_import_is_not_brought_back(
    taker: Taker, tmp_path: Path
) -> None:
    place = mem0_file(tmp_path)
    found = taker.stored(place)
    taker.instance.call("forget", id=found["Ann is allergic to nuts"]["id"])
    taker.instance.call("update_memory", id=found["Ann lives in Bergen"]["id"], content="Ann lives in Oslo")
    for conflict in OnConflict:
        verdicts = taker.verdicts(place, ImportOptions(conflict))
        assert verdicts[:2] == [Verdict.FORGOTTEN, Verdict.ALREADY_KNOWN]
    assert set(taker.memories()) == {"Ann lives in Oslo", "ann lives in bergen"}
    assert taker.verdicts(place, ImportOptions(resurrect=True))[0] == Verdict.RESURRECTED
    assert "Ann is allergic to nuts" in taker.memories()


@pytest.mark.promise("P-FORGOTTEN")
def test_a_text_that_was_forgotten_here_stays_so_wherever_it_comes_from(taker: Taker, tmp_path: Path) -> None:
    memory_id = taker.instance.stored("Ann lives in Bergen")
    taker.instance.call("forget", id=memory_id)
    assert taker.verdicts(mem0_file(tmp_path)) == [Verdict.STORED, Verdict.FORGOTTEN, Verdict.STORED]
