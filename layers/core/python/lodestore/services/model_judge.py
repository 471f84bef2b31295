"""Judging by a model: whether two memories that no rule joins say the same, or contradict each other.

Owns: the question about one pair, and what of an answer is believed. Guarantees: a text that would stand for both is
refused where it drops, changes or adds a value (`retrieval/kept_values`), whatever the model says; a contradiction
whose subject does not stand in both is refused; no answer is "different" (P-SILENT-NEVER).
Gives up: being right; what is left is proposed to a person, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lodestore.domain.memory import Memory
from lodestore.domain.proposal import TEXT_BYTES
from lodestore.domain.text import LoneSurrogate, byte_length, clean
from lodestore.ports.judge import Verdict
from lodestore.ports.language_model import Failed
from lodestore.retrieval.kept_values import stands_for
from lodestore.retrieval.verbatim import tokens
from lodestore.services.asking import Asking, OverBudget, WrongForm
from lodestore.services.prompt_files import prompt

PROMPT = prompt("judge")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the model says of a pair. `text`: of SAME alone, what may stand for both."""

    verdict: Verdict
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer of the right form that is not believed: why, in fixed words."""

    reason: str


def judge(asking: Asking, newer: Memory, older: Memory) -> Opinion | Refused | Failed | OverBudget:
    """The opinion on two memories of one scope."""
    answer = asking.ask(PROMPT, [("newer", newer.content), ("older", older.content)], _read)
    if not isinstance(answer, _Said):
        return answer
    if answer.verdict is Verdict.SAME:
        return _same(answer.text, newer, older)
    if answer.verdict is Verdict.CONTRADICTS and not _stands_in_both(answer.subject, newer, older):
        return Refused("its subject does not stand in both")
    return Opinion(answer.verdict)


def cleaned(text: str) -> str | None:
    """A model's text as content; None where it can be none."""
    try:
        content = clean(text).strip()
    except LoneSurrogate:
        return None
    return content if content and byte_length(content) <= TEXT_BYTES else None


@dataclass(frozen=True, slots=True)
class _Said:
    verdict: Verdict
    subject: str
    text: str


def _read(fields: Mapping[str, object]) -> _Said:
    try:
        verdict = Verdict(str(fields["verdict"]))
    except ValueError:
        raise WrongForm("its verdict is none of same, contradicts, different") from None
    return _Said(verdict, str(fields["subject"]).strip(), str(fields["text"]))


def _same(text: str, newer: Memory, older: Memory) -> Opinion | Refused:
    content = cleaned(text)
    if content is None:
        return Refused("its text is empty or too long")
    if not stands_for(content, newer.content, older.content):
        return Refused("its text does not keep every value")
    return Opinion(Verdict.SAME, content)


def _stands_in_both(subject: str, newer: Memory, older: Memory) -> bool:
    """Word by word: a letter that both have is no subject."""
    said = _words(subject)
    return any(word.isalnum() for word in said) and all(
        said in (words[at : at + len(said)] for at in range(len(words)))
        for words in (_words(memory.content) for memory in (newer, older))
    )


def _words(text: str) -> list[str]:
    return [token.casefold() for token in tokens(text)]
