"""Asking a model within a budget, and taking only an answer of the form that was asked for.

Owns: one run's questions: the budget, the form of a question, one repair round, the tally. Guarantees: what would
exceed the budget is not asked (`OverBudget`); an answer that is no JSON object of the schema, or names another
question, is asked for once more and is then `Failed`: never "nothing to do", and never believed. Every token that was
spent is counted, by our estimate where the service does not say.
Gives up: reading what the answer says; whoever asks reads it, and may refuse it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from lodestore.domain.fence import fenced
from lodestore.domain.token_estimate import estimate_tokens
from lodestore.ports.language_model import Answered, Failed, LanguageModel, Question, Tokens
from lodestore.services.prompt_files import Prompt

# Tokenizers differ; a question may take so much more than the estimate.
_MARGIN: Final = 1.25
_ROUNDS: Final = 2
MICRO_USD_A_TOKEN: Final = 1.0
"""US dollars for a million tokens are millionths of a dollar for one."""

Read = TypeVar("Read")
Reader = Callable[[Mapping[str, object]], Read]


class WrongForm(Exception):
    """The answer is not of the form that was asked for; the text says what, in fixed words."""


@dataclass(frozen=True, slots=True)
class OverBudget:
    """It was not asked: the rest of the budget would not do."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What one run spent. `micro_usd`: None where no price is known."""

    questions: int = 0
    repairs: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    micro_usd: int | None = None


class Asking:
    """The questions of one run. Not thread-safe."""

    def __init__(self, model: LanguageModel, budget: int, price: tuple[float, float] | None) -> None:
        self._model = model
        self._budget = budget
        self._price = price
        self._questions = self._repairs = self._read = self._written = 0

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    def ask(
        self, prompt: Prompt, parts: Sequence[tuple[str, str]], read: Reader[Read]
    ) -> Read | Failed | OverBudget:
        """The answer about these texts, as `read` takes it; `read` raises WrongForm."""
        data = fenced(parts)
        fault = ""
        for number in range(_ROUNDS):
            question = _question(prompt, data.text, fault)
            if self._read + self._written + _most(question) > self._budget:
                # A first answer that can't be repaired is a failure; a question that was never put is none.
                return Failed(fault) if fault else OverBudget()
            self._repairs += number
            answer = self._put(question)
            if isinstance(answer, Failed):
                return answer
            try:
                return read(_fields(answer.text, prompt, data.mark))
            except WrongForm as wrong:
                fault = str(wrong)
        return Failed(fault)

    @property
    def tally(self) -> Tally:
        """What was spent until now."""
        cost = None
        if self._price is not None:
            cost = round((self._read * self._price[0] + self._written * self._price[1]) * MICRO_USD_A_TOKEN)
        return Tally(self._questions, self._repairs, self._read, self._written, cost)

    def _put(self, question: Question) -> Answered | Failed:
        answer = self._model.ask(question)
        self._questions += 1
        self._count(question, answer.tokens, answer.text if isinstance(answer, Answered) else "")
        return answer

    def _count(self, question: Question, tokens: Tokens, answer: str) -> None:
        asked = estimate_tokens(question.instructions) + estimate_tokens(question.text)
        self._read += asked if tokens.read is None else tokens.read
        self._written += estimate_tokens(answer) if tokens.written is None else tokens.written


def _question(prompt: Prompt, text: str, fault: str) -> Question:
    form = json.dumps(prompt.schema, sort_keys=True)
    parts = [
        prompt.instructions,
        f"Answer with one JSON object and nothing else. `question` is the mark of this question. Its schema: {form}",
    ]
    if fault:
        parts.append(f"An answer before was not usable: {fault}. Answer anew.")
    return Question(
        instructions="\n\n".join(parts), text=text, schema=prompt.schema, most_tokens=prompt.most_tokens
    )


def _most(question: Question) -> int:
    asked = estimate_tokens(question.instructions) + estimate_tokens(question.text)
    return int(asked * _MARGIN) + question.most_tokens


def _fields(text: str, prompt: Prompt, mark: str) -> Mapping[str, object]:
    """The object, with the schema's fields alone, about this question. Raises WrongForm."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped.partition("\n")[2].removesuffix("```")
    try:
        fields = json.loads(stripped)
    except (ValueError, RecursionError):
        raise WrongForm("it is no JSON") from None
    wanted = prompt.schema["required"]
    assert isinstance(wanted, list)
    if not isinstance(fields, dict) or fields.keys() != set(wanted):
        raise WrongForm(f"it is no object of {', '.join(wanted)}")
    if not all(isinstance(value, str) for value in fields.values()):
        raise WrongForm("a field is no text")
    if fields["question"] != mark:
        raise WrongForm("it names another question")
    return fields
