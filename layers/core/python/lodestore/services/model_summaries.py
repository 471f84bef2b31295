"""Summing up by a model: one text for old events.

Owns: the question about one group, and what of an answer is believed. Guarantees: a text with a number, day, name,
quote or identifier that no event has is refused (`retrieval/kept_values`); no answer is no summary, and is said.
Gives up: whether it leaves out what matters; a person decides with the events before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lodestore.domain.memory import Memory
from lodestore.ports.language_model import Failed
from lodestore.retrieval.kept_values import invented
from lodestore.services.asking import Asking, OverBudget
from lodestore.services.model_judge import Refused, cleaned
from lodestore.services.prompt_files import prompt

PROMPT = prompt("summary")


def sum_up(asking: Asking, events: Sequence[Memory]) -> str | Refused | Failed | OverBudget:
    """The text for these events of one scope, oldest first."""
    parts = [(f"event of {event.holds_from.date().isoformat()}", event.content) for event in events]
    answer = asking.ask(PROMPT, parts, _read)
    if not isinstance(answer, str):
        return answer
    content = cleaned(answer)
    if content is None:
        return Refused("its text is empty or too long")
    days = [event.holds_from.date().isoformat() for event in events]
    if invented(content, [event.content for event in events], also=days):
        return Refused("its text has a value that no event has")
    return content


def _read(fields: Mapping[str, object]) -> str:
    return str(fields["text"])
