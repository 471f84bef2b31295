"""A corpus as tables of ranking features, one for each question, made by the product's own code without a server.

Owns: the way from items to a segment and from questions to features. Guarantees: `gather` and `Signals.features` of the
product make every number; vectors are kept in build/, so that a second run takes seconds. Gives up: what recall does
behind the score (near-duplicates, reads); the figures that are reported come from `python -m benchmarks.quality`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.corpus import Asked, Corpus, Item
from lodestore.domain.memory import Memory, MemoryType, Scope
from lodestore.ports.embedder import Embedder
from lodestore.retrieval.calibration import calibration_of
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.ranking import Signals
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_build import Row, build_segment
from lodestore.retrieval.segment_search import Part
from lodestore.retrieval.sessions import session_order
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.live_rows import live_rows
from lodestore.services.passages import told_by
from lodestore.services.rows import terms_of
from lodestore.services.signals import QueryVector, gather

CACHE = Path(__file__).resolve().parent.parent.parent / "build" / "quality"
START = datetime(2026, 1, 1, tzinfo=UTC)
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Features of a corpus's questions that have gold.

    names      of the features
    values     (questions, features, items)
    matching   (questions, items): the item's own words answer at all
    gold       (questions, items)
    golds      (questions,): how many items are gold, those left out by `focused` included
    """

    names: tuple[str, ...]
    values: NDArray[np.float32]
    matching: NDArray[np.bool_]
    gold: NDArray[np.bool_]
    golds: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A question with the signals of every item that counts, and which of these are gold."""

    question: Asked
    signals: Signals
    gold: NDArray[np.bool_]


def told(corpus: Corpus, embedder: Embedder) -> list[Told]:
    """The corpus as one tenant whose items were stored one after the other; what was corrected does not count."""
    segment, vectors = segment_of_corpus(corpus, embedder)
    keys = [segment.text("id", row) for row in range(len(segment))]
    corrected = {key for item in corpus.items for key in item.supersedes}
    parts = [Part(segment, np.array([key not in corrected for key in keys]))]
    rows, calibration = live_rows(parts, session_order([segment])), calibration_of(embedder.model)
    found: list[Told] = []
    for question, vector in zip(corpus.questions, vectors, strict=True):
        reads = embedder.reads(question.text)
        asked = QueryVector(vector, embedder.model, calibration) if reads else None
        signals = gather(rows, read_query(question.text, question.asked_at or START), asked)
        gold = np.array([keys[position] in question.gold for position in rows.positions])
        found.append(Told(question, signals, gold))
    return found


def table(asked: Sequence[Told]) -> Table:
    """The features of those questions that have gold; at least one has."""
    asked = [one for one in asked if one.question.gold]
    features = [one.signals.features() for one in asked]
    golds = np.stack([one.gold for one in asked])
    return Table(
        tuple(features[0]),
        np.stack([np.stack(list(one.values())) for one in features]).astype(np.float32),
        np.stack([one.signals.fused.relevance > 0 for one in asked]),
        golds,
        golds.sum(axis=1),
    )


def focused(given: Table, totals: NDArray[np.float32], most: int) -> Table:
    """The same questions with the `most` items each that `totals`, (questions, items), puts first."""
    kept = min(most, totals.shape[1])
    best = np.argpartition(-totals, kept - 1, axis=1)[:, :kept]
    return Table(
        given.names,
        np.take_along_axis(given.values, best[:, None], axis=2),
        np.take_along_axis(given.matching, best, axis=1),
        np.take_along_axis(given.gold, best, axis=1),
        given.golds,
    )


def segment_of_corpus(corpus: Corpus, embedder: Embedder) -> tuple[Segment, Vectors]:
    """The items as one segment, and the vectors of the questions, one row each; both kept in build/."""
    memories = [_memory(item, number) for number, item in enumerate(corpus.items)]
    passages = [told_by(memory.source) + memory.content for memory in memories]
    vectors = _kept(corpus.name, passages, embedder, embedder.passages)
    rows = [
        Row(memory, '"0"', terms_of(memory), vector[None, :])
        for memory, vector in zip(memories, vectors, strict=True)
    ]
    segment = build_segment(rows, model=embedder.model, dim=embedder.dim, tokenizer=TOKENIZER_VERSION)
    asked = [question.text for question in corpus.questions]
    by_one = _kept(
        f"{corpus.name}-questions", asked, embedder, lambda texts: np.stack([*map(embedder.query, texts)])
    )
    return segment, by_one


def _kept(
    name: str, texts: Sequence[str], embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]
) -> Vectors:
    told = blake2b("\0".join([embedder.model, *texts]).encode(), digest_size=8).hexdigest()
    path = CACHE / f"{name}-{told}.npy"
    if path.is_file():
        kept: Vectors = np.load(path, allow_pickle=False)
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    vectors = np.asarray(embed(texts), np.float32)
    np.save(path, vectors)
    return vectors


def _memory(item: Item, number: int) -> Memory:
    given, at = item.arguments, START + timedelta(seconds=number)
    source, since = given.get("source"), given.get("valid_from")
    tags, importance = given.get("tags"), given.get("importance")
    memory = Memory(
        id=item.key,
        tenant="learn",
        scope=Scope.PROJECT,
        conversation=item.conversation,
        type=MemoryType(str(given.get("type", MemoryType.FACT))),
        category=None,
        content=str(given["content"]),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        importance=importance if isinstance(importance, float) else 0.5,
        pinned=False,
        source=None if source is None else str(source),
        created_at=at,
        updated_at=at,
        valid_from=None,
        expires_at=None,
        supersedes=(),
        version=1,
        revision="0" * 26,
        recent=(),
        origin="",
        idempotency=None,
    )
    return memory if since is None else replace(memory, valid_from=datetime.fromisoformat(str(since)))
