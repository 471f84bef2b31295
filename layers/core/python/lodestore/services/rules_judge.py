"""The judge that needs no model.

Owns: the rules of `retrieval` as a `Judge`. Guarantees: pure; the same pair gets the same verdict always.
Gives up: other words for the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestore.domain.memory import Memory
from lodestore.ports.judge import Judged, Pair, Verdict
from lodestore.retrieval.contradictions import contradict, topic_of
from lodestore.retrieval.sameness import Sameness, judge, read

REWORDED = "may say the same in other forms of the words"


class RulesJudge:
    """Contradictions by topic, sameness by wording."""

    @property
    def name(self) -> str:
        """`rules`."""
        return "rules"

    def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        """The verdict on each pair."""
        return [_judged(*pair) for pair in pairs]


def _judged(newer: Memory, older: Memory) -> Judged:
    one, other = read(newer.content), read(older.content)
    topic = topic_of(newer.content, one)
    if topic is not None and contradict(topic, topic_of(older.content, other)):
        return Judged(Verdict.CONTRADICTS, f"says another {topic.kind} of the same")
    if judge(one, other) is Sameness.WORDING:
        return Judged(Verdict.SAME, REWORDED)
    return Judged(Verdict.DIFFERENT)
