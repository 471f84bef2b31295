"""`make learn-ranking`: fit the weights of ranking on chats and short facts together, leaving some out each time.

python -m benchmarks.quality.learn_ranking [--corpora N] [--shipped]

Owns: the fit. Guarantees: a figure printed as left out is of questions whose conversation or project had no part in the
weights they were ranked with; of our own set nothing but the tune half is read; no randomness, the same data give the
same weights. Gives up: the measures themselves; what is fitted is the likelihood of the gold items, which is smooth.

    p(item) = exp(w · features) / sum over the items of a question;  maximise the mean of ln(sum of p over the gold)

Source: the multinomial logit of Cao et al. 2007 (ListNet, top one), by Adam (Kingma and Ba 2015).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import MissingData
from benchmarks.quality.agent_memory.memory_set import TUNE
from benchmarks.quality.corpus import Corpus
from benchmarks.quality.feature_tables import Table, focused, table, told
from benchmarks.quality.metrics import DEPTH
from benchmarks.quality.sets import agent_memory, locomo
from lodestore.adapters.onnx_embedder import connect_local
from lodestore.ports.embedder import Embedder
from lodestore.retrieval.ranking import PENALTIES
from lodestore.retrieval.ranking_weights import WEIGHTS

# Items of a question that the fit looks at: the first by these alone. Measured is over all.
FOCUS = 120
FOCUSED_BY = ("keywords", "vectors", "window")
# The sum is only known up to a factor; this one is 1 in what is printed.
FIXED = "keywords"
# Stopped early: the last of the likelihood is won on questions that no measure sees.
STEPS, RATE, FIRST_DECAY, SECOND_DECAY = 100, 0.15, 0.9, 0.99
SHRINKAGE = 1e-3
# A question about short facts counts for so many about chats, of which there are five times as many.
SHORT_FACTS = 3.0
MEASURES = ("R@10", "hit@10", "nDCG", "MRR", "hit@1")
Chosen = Mapping[str, float]
Figures = NDArray[np.float64]
Totals = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Left:
    """The weights learned without one group, and the measures of each of its tables, (questions, 5)."""

    chosen: Chosen
    figures: tuple[Figures, ...]


def measured(chosen: Chosen, given: Table) -> Figures:
    """R@10, hit@10, nDCG@10, reciprocal rank and hit@1 of each question, (questions, 5), each in [0, 1]."""
    totals = np.where(given.matching, _sums(_signed(chosen, given.names), given), np.float32(-np.inf))
    depth = min(DEPTH, totals.shape[1])
    near = np.argpartition(-totals, depth - 1, axis=1)[:, :depth]
    order = np.argsort(-np.take_along_axis(totals, near, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(near, order, axis=1)
    gains = np.take_along_axis(given.gold & given.matching, best, axis=1)
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(given.golds, depth)]
    first = np.max(gains / np.arange(1, depth + 1), axis=1)
    shares = gains.sum(axis=1) / given.golds
    return np.stack([shares, gains.any(axis=1), gains @ discounts / ideal, first, gains[:, 0]], axis=1)


def learn(tables: Sequence[Table], weighing: Sequence[float]) -> dict[str, float]:
    """The likeliest weights, each at least 0, rounded to hundredths, FIXED being 1.

    weighing   what a question of each table counts for
    """
    names = tables[0].names
    by = np.array([float(name in FOCUSED_BY) for name in names])
    near = [focused(one, _sums(by, one), FOCUS) for one in tables]
    signs = np.array([-1.0 if name in PENALTIES else 1.0 for name in names])
    weights, mean, square = signs.copy(), np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, STEPS + 1):
        slope = _slope(weights, near, weighing) + SHRINKAGE * weights
        mean = FIRST_DECAY * mean + (1 - FIRST_DECAY) * slope
        square = SECOND_DECAY * square + (1 - SECOND_DECAY) * slope**2
        ahead = (mean / (1 - FIRST_DECAY**step)) / (np.sqrt(square / (1 - SECOND_DECAY**step)) + 1e-9)
        weights = signs * np.maximum(signs * (weights - RATE * ahead), 0.0)
    scale = weights[names.index(FIXED)] or 1.0
    return {name: round(float(abs(weight) / scale), 2) for name, weight in zip(names, weights, strict=True)}


def _slope(weights: Figures, tables: Sequence[Table], weighing: Sequence[float]) -> Figures:
    """The gradient of the mean negative logarithm of the gold items' probability."""
    slope, counted = np.zeros(len(weights)), 0.0
    for given, worth in zip(tables, weighing, strict=True):
        gold = given.gold & given.matching
        found = np.asarray(gold.any(axis=1))
        totals = np.where(given.matching, _sums(weights, given), np.float32(-30.0))
        all_ = np.exp(totals - totals.max(axis=1, keepdims=True))
        all_ /= all_.sum(axis=1, keepdims=True)
        right = all_ * gold
        right /= right.sum(axis=1, keepdims=True) + 1e-12
        difference = (all_ - right) * found[:, None]
        slope += worth * np.einsum("qi,qfi->f", difference, given.values, optimize=True)
        counted += worth * float(found.sum())
    return slope / (counted or 1.0)


def _sums(weights: Figures, given: Table) -> Totals:
    sums: Totals = np.einsum("qfi,f->qi", given.values, weights.astype(np.float32), optimize=True)
    return sums


def _signed(chosen: Chosen, names: Sequence[str]) -> Figures:
    return np.array([-chosen[name] if name in PENALTIES else chosen[name] for name in names])


def left_out(groups: Sequence[Sequence[tuple[Table, float]]]) -> list[Left]:
    """For each group of tables with what they count for: what the others teach, measured on it."""
    found = []
    for n, group in enumerate(groups):
        others = [pair for m, other in enumerate(groups) if m != n for pair in other]
        chosen = learn([one for one, _ in others], [worth for _, worth in others])
        found.append(Left(chosen, tuple(measured(chosen, one) for one, _ in group)))
    return found


def main() -> int:
    """The command. 0: learned and printed; 1: the data is not there (said)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.learn_ranking")
    parser.add_argument("--corpora", type=int, help="only the first N conversations and projects")
    parser.add_argument(
        "--shipped", action="store_true", help="only measure the shipped weights, and each left out"
    )
    arguments = parser.parse_args()
    embedder = connect_local()
    try:
        chats = [table(told(corpus, embedder)) for corpus in list(locomo())[: arguments.corpora]]
    except MissingData as missing:
        print(f"learn-ranking: {missing}", file=sys.stderr)
        return 1
    facts = short_facts(embedder)[: arguments.corpora]
    shipped = {name: value for name, value in asdict(WEIGHTS).items() if name in chats[0].names}
    heads = " ".join(f"{name:>7}" for name in MEASURES)
    print(f"{'':<22} {'chats':>6} {heads}  {'facts':>6} {heads}")
    _print("shipped", [measured(shipped, one) for one in chats], [measured(shipped, one) for one in facts])
    for name in shipped:
        without = shipped | {name: 0.0}
        figures = [[measured(without, one) for one in kind] for kind in (chats, facts)]
        _print(f"shipped, no {name}", *figures)
    if not arguments.shipped:
        _learn_and_print(chats, facts)
    return 0


def short_facts(embedder: Embedder) -> list[Table]:
    """The tune half of our own set, project by project."""
    return [table(told(_tune(corpus), embedder)) for corpus in agent_memory()]


def _tune(corpus: Corpus) -> Corpus:
    tune = tuple(question for question in corpus.questions if question.half == TUNE)
    return replace(corpus, questions=tune)


def _learn_and_print(chats: Sequence[Table], facts: Sequence[Table]) -> None:
    pairs = [(one, 1.0) for one in chats] + [(one, SHORT_FACTS) for one in facts]
    every = learn([one for one, _ in pairs], [worth for _, worth in pairs])
    print("learned on all:", ", ".join(f"{name}={value}" for name, value in every.items()))
    _print("all, in sample", [measured(every, one) for one in chats], [measured(every, one) for one in facts])
    # A project goes out with each conversation, as long as there are projects.
    groups = [
        [pair, *pairs[len(chats) + n : len(chats) + n + 1]] for n, pair in enumerate(pairs[: len(chats)])
    ]
    folds = left_out(groups)
    _print("left out", [fold.figures[0] for fold in folds], [f for fold in folds for f in fold.figures[1:]])
    for name in every:
        values = [fold.chosen[name] for fold in folds]
        print(f"  {name:<12} {every[name]:5.2f}   with some left out: {min(values):.2f} to {max(values):.2f}")


def _print(what: str, chats: Sequence[Figures], facts: Sequence[Figures]) -> None:
    shown = [np.concatenate(figures) for figures in (chats, facts) if figures]
    columns = [
        f"{len(every):>6} " + " ".join(f"{100 * v:7.1f}" for v in every.mean(axis=0)) for every in shown
    ]
    print(f"{what:<22} " + "  ".join(columns), flush=True)


if __name__ == "__main__":
    sys.exit(main())
