"""Asking a language model, as a port.

Owns: `LanguageModel` and its values. Guarantees (every adapter, held by `tests/contracts`): an answer came whole, or
there is a `Failed` with its reason, never an empty answer and never an exception; the tokens of both are counted
wherever the service counts them; time and attempts are bounded; a reason holds nothing of a text.
Gives up: meaning. What the text of an answer says is judged by who asked (services/asking).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked.

    instructions  what to do: ours alone
    text          what to do it with: memories, fenced
    schema        the JSON schema of the answer; it stands in the instructions, too
    most_tokens   of the answer
    """

    instructions: str
    text: str
    schema: Mapping[str, object]
    most_tokens: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens in and out, as the service counts them; None: it did not say."""

    read: int | None = None
    written: int | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole text of an answer."""

    text: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer: why, in words fit for a log. `lasting`: the next question would likely fail like this one."""

    reason: str
    tokens: Tokens = Tokens(0, 0)
    lasting: bool = False


class LanguageModel(Protocol):
    """One model. Thread-safe."""

    @property
    def name(self) -> str:
        """The model's name, for the evidence of a proposal."""
        ...

    def ask(self, question: Question) -> Answered | Failed:
        """Ask once, within the adapter's bounds. Raises nothing."""
        ...
