"""Who judges whether two statements say the same or contradict each other.

Owns: the Protocol and its values. Guarantees: a judge only answers; what follows is a proposal, and a person decides.
Gives up: merging unattended, which asks for equality of words (retrieval/sameness) and never for a judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lodestore.domain.memory import Memory

Pair = tuple[Memory, Memory]


class Verdict(StrEnum):
    """same: the one may stand for both. contradicts: both can't hold. different: neither."""

    SAME = "same"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and why in fixed words: never a word of a memory."""

    verdict: Verdict
    why: str = ""


class Judge(Protocol):
    """Judges pairs of memories of one tenant and one scope, the newer first."""

    @property
    def name(self) -> str:
        """Who judges, for the evidence of a proposal."""
        ...

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judged]:
        """The verdict on each pair, in their order. Raises Unavailable: no verdict is not "different"."""
        ...
