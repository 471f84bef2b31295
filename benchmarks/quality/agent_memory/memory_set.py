"""The agent memory set as values.

Owns: how a line of the JSON Lines files is read, the kinds, and the tables that README.md shows. Guarantees: projects,
memories and questions come in the order of the files. Gives up: ranking and loading into a service; `sets` does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FOLDER = Path(__file__).parent
PROJECTS: Mapping[str, str] = {
    "pay": "a payments backend, Hamburg and Leeds",
    "app": "a ticketing app for buses, Valencia and Graz",
    "dat": "a data platform for wind and solar forecasts, Lyon and Shenzhen",
    "rob": "five friends and a lawn robot, Freiburg and Osaka",
    "hos": "duty rosters for hospitals, Amman, Pune and Kassel",
    "gam": "a harbour building game, Tallinn, Almaty and Kyoto",
}
UNANSWERABLE = ("same-topic-unanswerable", "off-topic")
KINDS = (
    "exact-identifier",
    "paraphrase",
    "command",
    "path",
    "version",
    "person",
    "preference",
    "decision",
    "correction",
    "date",
    "negation",
    "near-twin",
    "cross-language",
    *UNANSWERABLE,
)
TUNE, HELD_OUT = "tune", "held-out"


@dataclass(frozen=True, slots=True)
class Stored:
    """One memory. `supersedes`: keys of the same project, written before it."""

    key: str
    content: str
    type: str
    tags: tuple[str, ...]
    source: str
    language: str
    created_at: datetime
    valid_from: datetime
    conversation: str | None
    supersedes: tuple[str, ...]
    importance: float | None


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `gold`: any of them answers it; empty where nothing stored does.

    superseded   keys that were corrected and must not rank above the gold
    asked_at     the moment from which "last Tuesday" counts
    half         where parameters may be tuned, and where they must not be
    """

    id: str
    project: str
    text: str
    gold: frozenset[str]
    superseded: frozenset[str]
    kind: str
    language: str
    asked_at: datetime
    half: str


@dataclass(frozen=True, slots=True)
class Project:
    """One team's store, and what is asked of it."""

    name: str
    memories: tuple[Stored, ...]
    questions: tuple[Question, ...]


def read_projects() -> tuple[Project, ...]:
    """All of the set."""
    questions = [_question(line) for line in _lines(FOLDER / "questions.jsonl")]
    return tuple(
        Project(
            name,
            tuple(_stored(line) for line in _lines(FOLDER / f"{name}.jsonl")),
            tuple(question for question in questions if question.project == name),
        )
        for name in PROJECTS
    )


def tables(projects: Sequence[Project]) -> list[str]:
    """The counts as Markdown: by project, by kind, by language."""
    memories = [memory for project in projects for memory in project.memories]
    questions = [question for project in projects for question in project.questions]
    by_project = [(project.name, PROJECTS[project.name], _counts([project])) for project in projects]
    by_project.append(("all", "", _counts(projects)))
    halves = Counter((question.kind, question.half) for question in questions)
    by_kind = [
        [kind, halves[kind, TUNE] + halves[kind, HELD_OUT], halves[kind, TUNE], halves[kind, HELD_OUT]]
        for kind in KINDS
    ]
    stored, asked = (Counter(one.language for one in group) for group in (memories, questions))
    by_language = [[code, stored[code], asked[code]] for code, _ in stored.most_common()]
    return [
        *_table(
            ["project", "team", "memories", "superseded", "questions", "without an answer"],
            [[name, team, *counts] for name, team, counts in by_project],
        ),
        "",
        *_table(["kind", "questions", "tune", "held-out"], by_kind),
        "",
        *_table(["language", "memories", "questions"], by_language),
    ]


def _counts(projects: Sequence[Project]) -> list[int]:
    memories = [memory for project in projects for memory in project.memories]
    questions = [question for project in projects for question in project.questions]
    superseded = {key for memory in memories for key in memory.supersedes}
    return [
        len(memories),
        len(superseded),
        len(questions),
        sum(not question.gold for question in questions),
    ]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def _lines(path: Path) -> Iterator[Mapping[str, object]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _stored(line: Mapping[str, object]) -> Stored:
    conversation, importance = line["conversation"], line.get("importance")
    return Stored(
        key=str(line["key"]),
        content=str(line["content"]),
        type=str(line["type"]),
        tags=_texts(line["tags"]),
        source=str(line["source"]),
        language=str(line["language"]),
        created_at=_moment(line["created_at"]),
        valid_from=_moment(line["valid_from"]),
        conversation=None if conversation is None else str(conversation),
        supersedes=_texts(line["supersedes"]),
        importance=float(importance) if isinstance(importance, int | float) else None,
    )


def _question(line: Mapping[str, object]) -> Question:
    return Question(
        id=str(line["id"]),
        project=str(line["project"]),
        text=str(line["question"]),
        gold=frozenset(_texts(line["gold"])),
        superseded=frozenset(_texts(line["superseded"])),
        kind=str(line["kind"]),
        language=str(line["language"]),
        asked_at=_moment(line["asked_at"]),
        half=str(line["half"]),
    )


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"a list of texts was expected, not {value!r}")
    return tuple(str(text) for text in value)


def _moment(value: object) -> datetime:
    return datetime.fromisoformat(str(value))
