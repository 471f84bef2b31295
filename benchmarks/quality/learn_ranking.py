"""`make learn-ranking`: fit the weights of ranking on LoCoMo, leaving one conversation out each time.

python -m benchmarks.quality.learn_ranking [--corpora N] [--shipped]

Owns: the search. Guarantees: a figure printed as cross-validated is of questions whose conversation had no part in the
weights they were ranked with; no randomness, the same data give the same weights. Gives up: the best of all weights;
it goes along one weight at a time, over a short grid, until nothing gains.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import MissingData
from benchmarks.quality.feature_tables import Table, focused, table
from benchmarks.quality.metrics import DEPTH
from benchmarks.quality.sets import locomo
from lodestore.adapters.onnx_embedder import connect_local
from lodestore.retrieval.ranking import PENALTIES
from lodestore.retrieval.ranking_weights import WEIGHTS

GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0)
# How a turn is said may weigh no more than its own words: other chats than these have short answers that matter.
MOST_PENALTY = 1.0
# Where every search begins, so that nothing of the conversation left out is in it: all alike, but for the words' own.
START = 0.3
# Items of a question that the search looks at: the first by the weights it begins with. Measured is over all.
FOCUS = 150
# The sum is only known up to a factor; this one stays where it is.
FIXED = "keywords"
LEAST_GAIN = 1e-4
ROUNDS = 4
MEASURES = ("R@10", "hit@10", "nDCG", "MRR")
Chosen = Mapping[str, float]
Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Left:
    """The weights learned without one conversation, and the measures of its questions, (questions, 4)."""

    chosen: Chosen
    figures: Figures


def measured(chosen: Chosen, given: Table) -> Figures:
    """R@10, hit@10, nDCG@10 and reciprocal rank of each question, (questions, 4), each in [0, 1]."""
    return _figures(_totals(chosen, given), given)


def learn(tables: Sequence[Table], names: Sequence[str]) -> dict[str, float]:
    """The weights that coordinate search finds, best by the mean of R@10 and nDCG@10 over all questions."""
    chosen = {name: START if name in names else 1.0 for name in tables[0].names}
    tables = [focused(one, _totals(chosen, one), FOCUS) for one in tables]
    best = 0.0
    for _ in range(ROUNDS):
        before = best
        for name in names:
            for value, reached in _along(name, chosen, tables):
                if reached > best + LEAST_GAIN:
                    chosen[name], best = value, reached
        if best <= before:
            break
    return chosen


def _along(name: str, chosen: Chosen, tables: Sequence[Table]) -> list[tuple[float, float]]:
    """The objective for each value of the grid for one weight, the others as chosen."""
    of = tables[0].names.index(name)
    rest = {**chosen, name: 0.0}
    bases = [_totals(rest, one) for one in tables]
    reached = []
    for value in GRID:
        if name in PENALTIES and value > MOST_PENALTY:
            break
        signed = np.float32(_signed(name, value))
        pairs = zip(bases, tables, strict=True)
        figures = np.concatenate([_figures(base + signed * one.values[:, of], one) for base, one in pairs])
        reached.append((value, float((figures[:, 0].mean() + figures[:, 2].mean()) / 2)))
    return reached


def _totals(chosen: Chosen, given: Table) -> NDArray[np.float32]:
    """The sum of each item, -inf where its own words do not match."""
    weights = np.array([_signed(name, chosen[name]) for name in given.names], np.float32)
    totals: NDArray[np.float32] = np.einsum("qfi,f->qi", given.values, weights, optimize=True)
    return np.where(given.matching, totals, np.float32(-np.inf))


def _figures(totals: NDArray[np.float32], given: Table) -> Figures:
    near = np.argpartition(-totals, DEPTH, axis=1)[:, :DEPTH]
    order = np.argsort(-np.take_along_axis(totals, near, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(near, order, axis=1)
    gains = np.take_along_axis(given.gold & given.matching, best, axis=1)
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(given.golds, DEPTH)]
    first = (gains / np.arange(1, DEPTH + 1)).max(axis=1)
    return np.stack(
        [gains.sum(axis=1) / given.golds, gains.any(axis=1), gains @ discounts / ideal, first], axis=1
    )


def _signed(name: str, value: float) -> float:
    return -value if name in PENALTIES else value


def left_out(tables: Sequence[Table], names: Sequence[str]) -> list[Left]:
    """For each conversation: what the others teach, measured on it."""
    learned = [learn([*tables[:n], *tables[n + 1 :]], names) for n in range(len(tables))]
    return [Left(chosen, measured(chosen, one)) for chosen, one in zip(learned, tables, strict=True)]


def main() -> int:
    """The command. 0: learned and printed; 1: the data is not there (said)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.learn_ranking")
    parser.add_argument("--corpora", type=int, help="only the first N conversations")
    parser.add_argument(
        "--shipped", action="store_true", help="only measure the shipped weights, and each left out"
    )
    arguments = parser.parse_args()
    try:
        corpora = locomo()
    except MissingData as missing:
        print(f"learn-ranking: {missing}", file=sys.stderr)
        return 1
    embedder = connect_local()
    tables = [table(corpus, embedder) for corpus in list(corpora)[: arguments.corpora]]
    shipped = {name: value for name, value in asdict(WEIGHTS).items() if name in tables[0].names}
    print(f"{'weights':<22} {'n':>5} " + " ".join(f"{name:>7}" for name in MEASURES))
    _print("shipped", [measured(shipped, one) for one in tables])
    for name in shipped:
        _print(f"shipped, no {name}", [measured(shipped | {name: 0.0}, one) for one in tables])
    if not arguments.shipped:
        _learn_and_print(tables)
    return 0


def _learn_and_print(tables: Sequence[Table]) -> None:
    names = [name for name in tables[0].names if name != FIXED]
    every = learn(tables, names)
    print("learned on all:", ", ".join(f"{name}={value}" for name, value in every.items()))
    _print("all, in sample", [measured(every, one) for one in tables])
    folds = left_out(tables, names)
    _print("one left out", [fold.figures for fold in folds])
    for name in names:
        values = [fold.chosen[name] for fold in folds]
        print(f"  {name:<12} {every[name]:5.2f}   without one: {min(values):.2f} to {max(values):.2f}")


def _print(what: str, figures: Sequence[Figures]) -> None:
    every = np.concatenate(figures)
    print(
        f"{what:<22} {len(every):>5} " + " ".join(f"{100 * v:7.1f}" for v in every.mean(axis=0)), flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
