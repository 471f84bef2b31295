"""XQuAD as values: a paragraph is a memory, its questions are recalls.

Owns: reading `xquad.<language>.json`. Guarantees: the paragraphs and questions of every language are in the same
order, so one question's number is the same question in all of them.
Gives up: the answers' places in the paragraphs.

Source: github google-deepmind/xquad, CC BY-SA 4.0; see `SOURCES.md` beside the data.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.locomo import MissingData

LANGUAGES = ("en", "es", "de", "ru", "hi", "zh")
WHERE_TO_GET_IT = (
    "get xquad.<language>.json from github.com/google-deepmind/xquad into a folder xquad and set DATA_DIR"
    " to the folder above it"
)
_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the number of the paragraph that answers it."""

    text: str
    paragraph: int


@dataclass(frozen=True, slots=True)
class ParagraphsAndQuestions:
    """One language: 240 paragraphs, 1,190 questions."""

    paragraphs: tuple[str, ...]
    questions: tuple[Question, ...]


def read_language(language: str, data: Path | None = None) -> ParagraphsAndQuestions:
    """One language under `data` (default: DATA_DIR, else ../shared/data). Raises MissingData."""
    folder = data or Path(os.environ.get("DATA_DIR") or _ROOT / ".." / "shared" / "data")
    path = folder / "xquad" / f"xquad.{language}.json"
    if not path.is_file():
        raise MissingData(f"XQuAD is not at {path}; {WHERE_TO_GET_IT}")
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    questions = (
        Question(asked["question"], number)
        for number, paragraph in enumerate(paragraphs)
        for asked in paragraph["qas"]
    )
    return ParagraphsAndQuestions(tuple(paragraph["context"] for paragraph in paragraphs), tuple(questions))
