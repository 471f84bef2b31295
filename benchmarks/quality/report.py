"""The tables of `make bench-quality`.

Owns: from rankings to lines. Guarantees: a row for each system and category with the number of questions, and the 95 %
interval of every figure over all questions. Gives up: files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks.quality.corpus import Asked, Corpus
from benchmarks.quality.metrics import MEASURES, Measured, Ranks, mean, measure
from benchmarks.quality.served import Answered

OURS = "lodestore"
HEADS = ("R@1", "R@5", "R@10", "hit@1", "hit@5", "hit@10", "nDCG", "MRR")
ALL = "all"
FLOORS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
Row = TypeVar("Row")
Key = TypeVar("Key")


@dataclass(slots=True)
class Table:
    """Measures of a set's questions, by system and category."""

    name: str
    seed: int
    _rows: dict[tuple[str, str], list[Measured]] = field(default_factory=dict)

    def add(self, system: str, corpus: Corpus, rankings: Sequence[Ranks]) -> None:
        """A system's rankings of a corpus's questions, in their order; those without gold are left out."""
        for question, ranks in zip(corpus.questions, rankings, strict=True):
            if question.gold:
                measured = measure(ranks, question.gold)
                for category in filter(None, (question.category, question.half, ALL)):
                    self._rows.setdefault((system, category), []).append(measured)

    def lines(self) -> list[str]:
        """The table: our own by category first, then each system over all."""
        heads = " ".join(f"{head:>7}" for head in HEADS)
        lines = [f"{self.name:<18} {'category':<14} {'n':>5} {heads}"]
        systems = list(dict.fromkeys(system for system, _ in self._rows))
        categories = [category for system, category in self._rows if system == OURS and category != ALL]
        if len(categories) > 1:
            lines += [self._line(OURS, category) for category in categories]
        for system in systems:
            lines += [self._line(system, ALL), self._interval(system)]
        return lines

    def _line(self, system: str, category: str) -> str:
        rows = self._rows[system, category]
        figures = (sum(getattr(row, name) for row in rows) / len(rows) for name in MEASURES)
        shown = " ".join(f"{100 * figure:7.1f}" for figure in figures)
        return f"{system:<18} {category:<14} {len(rows):>5} {shown}"

    def _interval(self, system: str) -> str:
        rows = self._rows[system, ALL]
        means = (mean([getattr(row, name) for row in rows], seed=self.seed) for name in MEASURES)
        half = " ".join(f"{f'±{50 * (m.high - m.low):.1f}':>7}" for m in means)
        return f"{'':<18} {'95 % interval':<14} {'':>5} {half}"


def floors(questions: Sequence[Asked], plain: Sequence[Answered], default: Sequence[Answered]) -> list[str]:
    """What the default floors cost and bring.

    plain: without a floor; default: as a caller gets it that gives only a query.
    """
    rows = list(zip(questions, plain, default, strict=True))
    answerable = [(q, p, d) for q, p, d in rows if q.gold]
    lines = []
    if answerable:
        for half, group in _by(lambda row: row[0].half, answerable).items():
            lost = sum(bool(_shown(p) & q.gold) and not d.ranks for q, p, d in group)
            which = f"answerable questions{_told(half)}"
            lines.append(f"{which} answered empty by default: {_of(lost, len(group))}")
    unanswerable = [row for row in rows if not row[0].gold]
    for (category, half), unknown in _by(lambda row: (row[0].category, row[0].half), unanswerable).items():
        empty = sum(not d.ranks for _, _, d in unknown)
        high = sum(d.confidence == "HIGH" for _, _, d in unknown)
        told = f"answered empty {_of(empty, len(unknown))}, labelled HIGH {_of(high, len(unknown))}"
        lines.append(f"{category}{_told(half)}: {told}")
    return lines


def curve(questions: Sequence[Asked], plain: Sequence[Answered]) -> list[str]:
    """The abstention curve: for each floor of `known` the share of each group's questions that it leaves empty.

    Answerable questions count as lost where something right was shown without a floor. No line where all are.
    """
    rows = list(zip(questions, plain, strict=True))
    if all(question.gold for question, _ in rows):
        return []
    groups = _by(lambda row: (row[0].category if not row[0].gold else "answerable", row[0].half), rows)
    lines = ["left empty at a floor of " + " ".join(f"{floor:>6}" for floor in FLOORS)]
    for (name, half), group in groups.items():
        below = [100 * sum(_is_below(q, a, floor) for q, a in group) / len(group) for floor in FLOORS]
        told = f"{name}{_told(half)}"
        lines.append(f"{told:<36} {len(group):>4} " + " ".join(f"{share:5.1f}%" for share in below))
    return lines


def _is_below(question: Asked, answered: Answered, floor: float) -> bool:
    lost = not question.gold or bool(_shown(answered) & question.gold)
    return lost and (answered.known is None or answered.known < floor)


def outranked(questions: Sequence[Asked], answered: Sequence[Answered]) -> str | None:
    """How often a corrected item ranks above its correction; None where no question asks for that."""
    asked = [(q, a) for q, a in zip(questions, answered, strict=True) if q.below]
    above = sum(_first(a.ranks, q.below) < _first(a.ranks, q.gold) for q, a in asked)
    return f"superseded above its successor: {_of(above, len(asked))}" if asked else None


def _by(key: Callable[[Row], Key], rows: Iterable[Row]) -> Mapping[Key, list[Row]]:
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _told(half: str) -> str:
    return f" ({half})" if half else ""


def _shown(answered: Answered) -> frozenset[str]:
    return frozenset().union(*answered.ranks)


def _first(ranks: Ranks, wanted: frozenset[str]) -> int:
    return next((rank for rank, shown in enumerate(ranks) if shown & wanted), len(ranks))


def _of(count: int, total: int) -> str:
    return f"{count} of {total} ({100 * count / total:.1f} %)"
