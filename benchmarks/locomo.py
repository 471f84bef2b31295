"""LoCoMo conversations as values.

Owns: reading `locomo10.json`. Guarantees: a question's evidence names turns that exist (the file's ids are
written in several ways; those that name no turn are left out), turns and sessions are in their order.
Gives up: the summaries and observations that the file also holds, and questions of category 5, which have no
answer.

Source: github snap-research/locomo, CC BY-NC 4.0; see `SOURCES.md` beside the data.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
WHERE_TO_GET_IT = (
    "get locomo10.json from github.com/snap-research/locomo and set DATA_DIR to the folder above it"
)
_ROOT = Path(__file__).resolve().parent.parent
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")


class MissingData(Exception):
    """The data set is not there; the text says where it was looked for and how to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance; `id` is the file's, such as `D1:3`; `text` ends with its image's caption, if any."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """Turns of one sitting, and when it was (the file names no zone: taken as UTC)."""

    number: int
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of category 1 to 4, with the ids of the turns that answer it (at least one)."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One of the ten; `unanswerable` counts questions of category 1 to 4 without evidence that exists."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    unanswerable: int

    @property
    def turns(self) -> int:
        """How many turns all sessions have."""
        return sum(len(session.turns) for session in self.sessions)


def read_conversations(data: Path | None = None) -> tuple[Conversation, ...]:
    """All conversations under `data` (default: DATA_DIR, else ../shared/data). Raises MissingData."""
    folder = data or Path(os.environ.get("DATA_DIR") or _ROOT / ".." / "shared" / "data")
    path = folder / "locomo" / "locomo10.json"
    if not path.is_file():
        raise MissingData(f"LoCoMo is not at {path}; {WHERE_TO_GET_IT}")
    return tuple(_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8")))


def parse_session_time(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023` in UTC. Raises ValueError."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def parse_evidence(texts: list[str]) -> frozenset[str]:
    """Turn ids in their plain form: `D8:6; D9:17` names two, `D:11:26` is `D11:26`, `D30:05` is `D30:5`."""
    found = (match for text in texts for match in _EVIDENCE.finditer(text))
    return frozenset(f"D{match[1]}:{match[2]}" for match in found)


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    told = sample["conversation"]
    numbers = sorted(
        int(name.removeprefix("session_")) for name in told if re.fullmatch(r"session_\d+", name)
    )
    sessions = tuple(_session(told, number) for number in numbers)
    turns = {turn.id for session in sessions for turn in session.turns}
    asked = [question for question in sample["qa"] if question["category"] in CATEGORIES]
    questions = tuple(
        Question(question["question"], question["category"], evidence)
        for question in asked
        if (evidence := parse_evidence(question.get("evidence", [])) & turns)
    )
    return Conversation(sample["sample_id"], sessions, questions, len(asked) - len(questions))


def _session(told: Mapping[str, Any], number: int) -> Session:
    turns = tuple(_turn(turn) for turn in told[f"session_{number}"])
    return Session(number, parse_session_time(told[f"session_{number}_date_time"]), turns)


def _turn(turn: Mapping[str, str]) -> Turn:
    caption = turn.get("blip_caption")
    text = turn["text"] + (f" [image: {caption}]" if caption else "")
    return Turn(id=turn["dia_id"], speaker=turn["speaker"], text=text.strip())
