"""Fences: texts of others, as data between marks that none of them holds.

Owns: the mark and the form. Guarantees: pure; the mark follows from all the texts, so a text that holds it would have
to hold a digest of itself, and where one does, another is taken: no text can close its fence or open another
(P-UNTRUSTED).
Gives up: making a model obey; what it answers is checked as if it did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestore.domain.identity import digest

_MARK_HEX = 16


@dataclass(frozen=True, slots=True)
class Fenced:
    """The texts between marks, and the mark."""

    mark: str
    text: str


def fenced(parts: Sequence[tuple[str, str]]) -> Fenced:
    """`parts`: a label of ours, and the text, for each."""
    mark = _mark([text for _, text in parts])
    blocks = [f"<{mark} {label}>\n{text}\n</{mark}>" for label, text in parts]
    return Fenced(mark, "\n\n".join([*blocks, f"The mark of this question is {mark}."]))


def _mark(texts: Sequence[str]) -> str:
    mark = digest("fence", *texts)[:_MARK_HEX]
    while any(mark in text for text in texts):
        mark = digest("fence", mark)[:_MARK_HEX]
    return mark
