"""A language model that a test writes.

Owns: `Scripted`. Guarantees: each question is kept as it was put; an answer names the question, as a good model's does,
unless the test says otherwise. Gives up: a socket; tests/language_models/services has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from lodestore.ports.language_model import Answered, Failed, Question, Tokens
from tests.language_models.services import Reply, mark_of

Reaction = Callable[[Question], str | Failed]
SPENT = Tokens(100, 10)


class Scripted:
    """A model that answers as `reaction` says."""

    name = "scripted"

    def __init__(self, reaction: Reaction) -> None:
        self.reaction = reaction
        self.questions: list[Question] = []

    def ask(self, question: Question) -> Answered | Failed:
        self.questions.append(question)
        answer = self.reaction(question)
        return answer if isinstance(answer, Failed) else Answered(answer, SPENT)


def verdict(text: str, said: str, *, subject: str = "", stands: str = "") -> str:
    """The judge's answer to the question with this text."""
    return json.dumps(
        {"question": mark_of(text), "verdict": said, "subject": subject, "attribute": "", "text": stands}
    )


def summary(text: str, said: str) -> str:
    """The summariser's answer to the question with this text."""
    return json.dumps({"question": mark_of(text), "text": said})


def same(stands: str) -> Reaction:
    """A judge to whom all pairs say the same."""
    return lambda question: verdict(question.text, "same", stands=stands)


def different(question: Question) -> str:
    """A judge to whom no pair says the same."""
    return verdict(question.text, "different")


def memories_in(question: Question) -> list[str]:
    """The texts between the marks."""
    mark = mark_of(question.text)
    return re.findall(rf"<{mark} [^>]*>\n(.*?)\n</{mark}>", question.text, re.DOTALL)


def as_reply(reaction: Reaction) -> Reply:
    """The same mind behind a socket."""

    def reply(instructions: str, text: str) -> str:
        answer = reaction(Question(instructions=instructions, text=text, schema={}, most_tokens=1))
        assert isinstance(answer, str)
        return answer

    return reply
