"""`make bench-vectors`: recall@10 of S3 Vectors against the shards, and the threshold crossed under questions.

Owns: the run and its table. Guarantees: while memories come and go in batches, and the tenant crosses its threshold
forwards and back, every question is put to both processes, and an answer of the engine's that holds another set of
memories than the shards' is counted as different; figures come last. Fails where there was one that lost a memory which
answers the question, or where the engine was never used.
Gives up: the service itself (see `two_engines`).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.quality.corpus import Asked, Corpus
from benchmarks.vectors.corpora import Chosen, choose
from benchmarks.vectors.two_engines import LIMIT, Both, TwoEngines
from tests.s3vectors.clients import BUCKET, running

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
BATCH = 40
ASKED_A_BATCH = 4
QUESTIONS_MOST = 150


@dataclass(slots=True)
class Figures:
    """What came of the questions of one kind."""

    asked: int = 0
    used: int = 0
    same_set: int = 0
    same_order: int = 0
    overlap: float = 0.0
    worse: int = 0
    engine_recall: list[float] = field(default_factory=list)
    shards_recall: list[float] = field(default_factory=list)
    engine_ms: list[float] = field(default_factory=list)
    shards_ms: list[float] = field(default_factory=list)

    def add(self, both: Both, gold: frozenset[str]) -> None:
        """Count one question; `gold`: ids of what answers it, of what is stored."""
        self.asked += 1
        self.used += both.used
        one, other = set(both.engine), set(both.shards)
        self.same_set += one == other
        self.same_order += both.engine == both.shards
        self.overlap += len(one & other) / max(1, len(other))
        self.worse += bool((other - one) & gold)
        self.engine_ms.append(1000 * both.engine_seconds)
        self.shards_ms.append(1000 * both.shards_seconds)
        if gold:
            self.engine_recall.append(len(one & gold) / min(len(gold), LIMIT))
            self.shards_recall.append(len(other & gold) / min(len(gold), LIMIT))

    def line(self, name: str) -> str:
        """A row of the table."""
        share = 100 / max(1, self.asked)
        return (
            f"{name:<26} {self.asked:>5} {self.used:>5} {_percent(self.engine_recall):>9}"
            f" {_percent(self.shards_recall):>9} {share * self.overlap:>9.1f} {share * self.same_set:>9.1f}"
            f" {share * self.same_order:>10.1f} {self.worse:>5} {median(self.engine_ms):>8.0f}"
            f" {median(self.shards_ms):>8.0f}"
        )


HEAD = (
    f"{'questions':<26} {'n':>5} {'used':>5} {'R@10 S3V':>9} {'R@10 sh.':>9} {'overlap %':>9} {'same %':>9}"
    f" {'in order %':>10} {'lost':>5} {'ms S3V':>8} {'ms sh.':>8}"
)


@dataclass(slots=True)
class Run:
    """One corpus through all of it."""

    crossing: Figures = field(default_factory=Figures)
    above: Figures = field(default_factory=Figures)
    back: Figures = field(default_factory=Figures)


def run(corpus: Corpus, chosen: Chosen, folder: Path) -> Run:
    """Store a corpus, crossing the threshold half way; ask; forget, crossing it back."""
    done = Run()
    two = TwoEngines(folder, BUCKET, len(corpus.items) // 2, chosen.embedder)
    ids: dict[str, str] = {}
    questions = _turns(corpus.questions)
    for at in range(0, len(corpus.items), BATCH):
        ids |= two.store(corpus.items[at : at + BATCH])
        for question in _next(questions):
            done.crossing.add(two.ask(question.text), _gold(question, ids))
    for question in corpus.questions[:QUESTIONS_MOST]:
        done.above.add(two.ask(question.text), _gold(question, ids))
    left = list(ids)
    while two.uses_engine and left:
        gone, left = left[:BATCH], left[BATCH:]
        two.forget(gone)
        standing = {memory_id: ids[memory_id] for memory_id in left}
        for question in _next(questions):
            done.back.add(two.ask(question.text), _gold(question, standing))
    two.close()
    return done


def report(chosen: Chosen, runs: Sequence[tuple[str, Run]]) -> Iterator[str]:
    """The table, then the figures of all together."""
    yield f"{chosen.said}; embedder {chosen.embedder.model}; S3 Vectors over loopback, exact"
    yield HEAD
    total = Run()
    for name, done in runs:
        for kind in ("crossing", "above", "back"):
            figures: Figures = getattr(done, kind)
            yield figures.line(f"{name} {kind}")
            _sum(getattr(total, kind), figures)
    for kind in ("crossing", "above", "back"):
        yield getattr(total, kind).line(f"all {kind}")
    crossed = total.crossing.asked + total.back.asked
    wrong = total.crossing.worse + total.back.worse
    yield f"recall@10: S3 Vectors {_percent(total.above.engine_recall)}, shards {_percent(total.above.shards_recall)}"
    yield f"crossing the threshold forwards and back: {crossed} questions, {wrong} wrong answers"


def main(arguments: Sequence[str]) -> int:
    """Run it; 1 where an answer was lost, or the engine never used."""
    parser = argparse.ArgumentParser(description="S3 Vectors beside the shards")
    parser.add_argument("--conversations", type=int, default=2, help="of LoCoMo's ten")
    parser.add_argument("--made", type=int, default=400, help="sentences, where LoCoMo is not there")
    given = parser.parse_args(arguments)
    chosen = choose(given.conversations, given.made)
    runs: list[tuple[str, Run]] = []
    for corpus in chosen.corpora:
        # Each corpus is the same tenant, so it has a server of its own.
        with running() as endpoint, tempfile.TemporaryDirectory(prefix="lodestore-vectors-") as folder:
            os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL_S3VECTORS=endpoint)
            print(f"{corpus.name}: {len(corpus.items)} memories", file=sys.stderr, flush=True)
            runs.append((corpus.name, run(corpus, chosen, Path(folder))))
    for line in report(chosen, runs):
        print(line)
    return int(any(_failed(done) for _, done in runs))


def _failed(done: Run) -> bool:
    lost = done.crossing.worse + done.back.worse
    return bool(lost) or not (done.above.used and done.crossing.used)


def _turns(questions: Sequence[Asked]) -> Iterator[Asked]:
    while questions:
        yield from questions


def _next(questions: Iterator[Asked]) -> Iterator[Asked]:
    for _ in range(ASKED_A_BATCH):
        yield next(questions)


def _gold(question: Asked, ids: dict[str, str]) -> frozenset[str]:
    return frozenset(memory_id for memory_id, key in ids.items() if key in question.gold)


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * sum(shares) / len(shares):.1f}" if shares else "-"


def _sum(total: Figures, figures: Figures) -> None:
    for name in Figures.__slots__:
        setattr(total, name, getattr(total, name) + getattr(figures, name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
