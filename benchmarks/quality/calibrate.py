"""`make calibrate`: fit the curves of an embedding model, and print what they would change.

python -m benchmarks.quality.calibrate [--questions N] [--no-chats]

The model is the one that EMBEDDINGS and EMBED_MODEL name, as for a server. Owns: the fit and its tables. Guarantees: of
our own set nothing but the tune half is read; nothing is written. Gives up: choosing floors; the curve shows what each
costs and brings.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import MissingData
from benchmarks.quality.agent_memory.memory_set import TUNE, UNANSWERABLE
from benchmarks.quality.corpus import Corpus
from benchmarks.quality.feature_tables import Told, told
from benchmarks.quality.logistic import fit
from benchmarks.quality.sets import agent_memory, locomo
from lodestore.adapters.embedders import Unavailable
from lodestore.bootstrap import embedder_of, environment
from lodestore.ports.embedder import Embedder
from lodestore.retrieval.calibration import (
    HIGH_FROM,
    KEYWORDS_ALONE,
    Calibration,
    Curve,
    Evidence,
    calibration_of,
)
from lodestore.retrieval.ranking import score
from lodestore.services.recall import FLOORS, Mode

SAME_TOPIC, OFF_TOPIC = UNANSWERABLE
# As many answerable questions as there are off-topic ones to weigh against each other.
OFF_TOPIC_COUNTS = 4.0
SHORT_FACTS = 3.0
FLOORS_SHOWN = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
BUCKETS = 5
DEPTH = 10
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One question: what its probabilities are made of, and whether its first hit and any of ten are gold.

    vectors   whether the model reads it
    chat      of LoCoMo, not of our own set
    """

    category: str
    answerable: bool
    evidence: Evidence
    whole: bool
    right: bool
    found: bool
    vectors: bool
    chat: bool


def example(one: Told, calibration: Calibration, *, vectors: bool, chat: bool) -> Example | None:
    """The question as an example; None where nothing at all matches, which no curve can change."""
    scored = score(one.signals, calibration)
    if scored.evidence is None:
        return None
    order = np.argsort(-scored.score, kind="stable")[:DEPTH]
    return Example(
        category=one.question.category,
        answerable=bool(one.question.gold),
        evidence=scored.evidence,
        whole=one.signals.is_whole(int(order[0])),
        right=bool(one.gold[order[0]]),
        found=bool(one.gold[order].any()),
        vectors=vectors,
        chat=chat,
    )


def fitted(examples: Sequence[Example], shipped: Calibration) -> Calibration:
    """The shipped calibration with curves of the same evidence that fit the examples."""
    facts = [one for one in examples if not one.chat and one.category != SAME_TOPIC]
    known = fit(
        _evidence(facts, shipped.known.of),
        np.array([float(one.answerable) for one in facts]),
        np.array([1.0 if one.answerable else OFF_TOPIC_COUNTS for one in facts]),
    )
    first = fit(
        _evidence(examples, shipped.first.of),
        np.array([float(one.right) for one in examples]),
        np.array([1.0 if one.chat else SHORT_FACTS for one in examples]),
    )
    return replace(shipped, known=known, first=first)


def abstention(examples: Sequence[Example], known: Curve) -> list[str]:
    """The curve: for each floor the answerable questions that it loses, and the others that it answers empty."""
    lines = [f"{'floor of known':<16} {'lost':>8} {OFF_TOPIC:>10} {SAME_TOPIC:>24}"]
    groups = [
        [one for one in examples if one.answerable and one.found and not one.chat],
        [one for one in examples if one.category == OFF_TOPIC],
        [one for one in examples if one.category == SAME_TOPIC],
    ]
    for floor in FLOORS_SHOWN:
        below = [_share(known.at(one.evidence) < floor for one in group) for group in groups]
        lines.append(f"{floor:<16} {below[0]:>8} {below[1]:>10} {below[2]:>24}")
    return lines


def reliability(examples: Sequence[Example], first: Curve) -> list[str]:
    """By fifths of the score: how many first hits, their mean score, and the share of them that is right."""
    scores = np.array([first.at(one.evidence) for one in examples])
    bucket = np.minimum((scores * BUCKETS).astype(int), BUCKETS - 1)
    lines = [f"{'score of the first':<20} {'n':>6} {'mean':>6} {'right':>6}"]
    for number in range(BUCKETS):
        of = bucket == number
        if of.any():
            right = np.mean([one.right for one, here in zip(examples, of, strict=True) if here])
            span = f"{number / BUCKETS:.1f} to {(number + 1) / BUCKETS:.1f}"
            lines.append(f"{span:<20} {of.sum():>6} {scores[of].mean():>6.2f} {right:>6.2f}")
    return lines


def changes(examples: Sequence[Example], before: Calibration, after: Calibration) -> list[str]:
    """What the curves after would change of what callers see."""
    floor = FLOORS[Mode.BALANCED].known
    empty = [[known.at(one.evidence) < floor for one in examples] for known in (before.known, after.known)]
    high = [
        [one.whole and first.at(one.evidence) >= HIGH_FROM for one in examples]
        for first in (before.first, after.first)
    ]
    return [
        f"{name}: {sum(was)} of {len(examples)} before, {sum(now)} after, "
        f"{sum(a != b for a, b in zip(was, now, strict=True))} of them other questions"
        for name, (was, now) in (("answered empty by default", empty), ("labelled HIGH", high))
    ]


def main() -> int:
    """The command. 0: fitted and printed; 1: no embedder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.calibrate")
    parser.add_argument("--questions", type=int, help="only so many of our own set, evenly spread")
    parser.add_argument("--chats", action=argparse.BooleanOptionalAction, default=True, help="LoCoMo, too")
    arguments = parser.parse_args()
    embedder = embedder_of(environment())
    if isinstance(embedder, Unavailable):
        print(f"calibrate: {embedder.reason}", file=sys.stderr)
        return 1
    examples = collected(embedder, arguments.questions, chats=arguments.chats)
    with_vectors = [one for one in examples if one.vectors]
    _print(f"{embedder.model}, {len(with_vectors)} questions", with_vectors, calibration_of(embedder.model))
    return 0


def collected(embedder: Embedder, questions: int | None, *, chats: bool) -> list[Example]:
    """Examples of the tune half and, where it is there and wanted, of LoCoMo."""
    calibration = calibration_of(embedder.model)
    sets = [(_thinned(_tuned(agent_memory()), questions), False)]
    if chats:
        try:
            sets.append((list(locomo()), True))
        except MissingData as missing:
            print(f"without chats: {missing}")
    found = []
    for corpora, chat in sets:
        for one in (one for corpus in corpora for one in told(corpus, embedder)):
            reads = embedder.reads(one.question.text)
            found.append(example(one, calibration if reads else KEYWORDS_ALONE, vectors=reads, chat=chat))
    return [one for one in found if one is not None]


def _tuned(corpora: Iterable[Corpus]) -> list[Corpus]:
    return [
        replace(corpus, questions=tuple(q for q in corpus.questions if q.half == TUNE)) for corpus in corpora
    ]


def _thinned(corpora: Sequence[Corpus], questions: int | None) -> list[Corpus]:
    every = sum(len(corpus.questions) for corpus in corpora)
    step = max(1, every // questions) if questions else 1
    return [replace(corpus, questions=corpus.questions[::step]) for corpus in corpora]


def _evidence(examples: Sequence[Example], names: Mapping[str, float]) -> dict[str, Floats]:
    return {name: np.array([float(getattr(one.evidence, name)) for one in examples]) for name in names}


def _share(holds: Iterable[bool]) -> str:
    of = list(holds)
    return f"{100 * sum(of) / len(of):.1f} %" if of else "-"


def _print(what: str, examples: Sequence[Example], shipped: Calibration) -> None:
    new = fitted(examples, shipped)
    print(f"\n{what}")
    for name in ("known", "first"):
        for when, calibration in (("shipped", shipped), ("fitted", new)):
            curve: Curve = getattr(calibration, name)
            factors = ", ".join(f"{kind} {factor:+.2f}" for kind, factor in curve.of.items())
            print(f"{name} {when:<8} {curve.base:+.2f}, {factors}")
    for when, calibration in (("shipped", shipped), ("fitted", new)):
        print(f"\nabstention, {when}")
        print("\n".join(abstention(examples, calibration.known)))
        for kind, chat in (("short facts", False), ("chats", True)):
            of = [one for one in examples if one.chat is chat]
            if of:
                print(f"\nreliability, {kind}, {when}")
                print("\n".join(reliability(of, calibration.first)))
    print("\nwhat the fitted curves would change")
    print("\n".join(changes(examples, shipped, new)))


if __name__ == "__main__":
    sys.exit(main())
