"""Recall: what is stored that answers a query, best first.

Owns: the tool `recall`, from arguments to the envelope. Guarantees: filters before ranking (B35); what is expired,
superseded or not the caller's never ranks, and does not count in any statistic that a score shows (P-TENANT); text
comes only inside the untrusted envelope (P-UNTRUSTED); at least one hit whenever something passes.
Gives up: a memory whose row fell out between the listing and the read is refilled at most twice. With `as_of` what an
updated memory said then is shown, but it is found by what it says now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.memory import Memory
from lodestore.errors import InvalidArgument
from lodestore.ports.clock import Clock
from lodestore.retrieval.calibration import FALL, confidence
from lodestore.retrieval.query_reading import read_query
from lodestore.retrieval.query_syntax import Said, take_apart
from lodestore.services import columns
from lodestore.services.arguments import Arguments
from lodestore.services.counts import Counts
from lodestore.services.held_rows import HeldRows
from lodestore.services.hits import Hit, collapse, opposed
from lodestore.services.live_rows import LiveRows
from lodestore.services.old_versions import OldVersions
from lodestore.services.query_vectors import Asked, QueryVectors
from lodestore.services.recall_message import Told, emptying
from lodestore.services.scoring import Ranking, having, rank
from lodestore.services.selection import FILTER_ARGUMENTS, NO_FILTERS, narrowed, read_filters
from lodestore.services.shown import NOTICE, fit, show_memory, show_moment
from lodestore.services.tenant_view import TenantView, TenantViews, unseen
from lodestore.services.vector_reading import Found, OneReading, Sought, VectorReading
from lodestore.services.winners import Winners

REFILLS = 2
ARGUMENTS = (
    "query",
    "mode",
    "limit",
    *FILTER_ARGUMENTS,
    "as_of",
    "include_superseded",
    "min_score",
    "explain",
    "max_bytes",
)


class Mode(StrEnum):
    """How sure a hit has to be, and how many come."""

    PRECISION = "precision"
    BALANCED = "balanced"
    EXPLORATORY = "exploratory"


@dataclass(frozen=True, slots=True)
class Floors:
    """`limit` hits by default; each needs a score of `least` and `share` of the first's sum, and all of them that
    anything stored is `known` to be about what is asked.

    Scores and `known` are probabilities, so they mean the same for every model (docs/quality.md has what floors cost).
    """

    limit: int
    known: float
    share: float
    least: float


FLOORS: Mapping[Mode, Floors] = {
    Mode.PRECISION: Floors(3, 0.8, 0.75, 0.1),
    Mode.BALANCED: Floors(5, 0.65, 0.2, 0.0),
    Mode.EXPLORATORY: Floors(10, 0.0, 0.0, 0.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One recall, understood. `as_of` None: what holds now. `filters` are those of the arguments and of the query."""

    said: Said
    mode: Mode
    limit: int
    filters: Filters
    as_of: datetime | None
    include_superseded: bool
    min_score: float | None
    explain: bool
    max_bytes: int


class Recall:
    """The tool `recall`."""

    def __init__(
        self,
        views: TenantViews,
        winners: Winners,
        counts: Counts,
        clock: Clock,
        *,
        vectors: QueryVectors,
        engine: VectorReading | None,
        versions: OldVersions,
        workers: Executor,
        rows: HeldRows,
    ) -> None:
        self._versions = versions
        self._views = views
        self._winners = winners
        self._counts = counts
        self._clock = clock
        self._vectors = vectors
        self._engine = engine
        self._workers = workers
        self._rows = rows

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """The interface's answer. Raises InvalidArgument, TooLarge, Unavailable."""
        question = read_question(Arguments("recall", given, ARGUMENTS))
        asked = self._workers.submit(self._vectors.of, question.said.text)
        # Beside the first round trip, or a recall that flushes would be one deeper.
        flushed = self._workers.submit(self._counts.flush_due, caller.tenant, coming=question.limit)
        reading = self._reading(caller, question, asked)
        view = self._views.load(
            caller.tenant, tail_limit=limits.TAIL_LIMIT, seen=unseen if reading is None else reading.seen
        )
        vector = asked.result()
        ranking, degraded = self._rank(caller, view, question, vector, reading)
        view = replace(view, degraded=view.degraded or degraded)
        enough = _enough(question, ranking)
        hits = self._hits(caller, view, question, ranking, enough)
        told = Told(
            gated=len(ranking) - enough,
            embeddings=vector.state,
            narrowing=question.said.narrowing,
            emptying=() if hits else emptying(view, self._live(caller, view, question).masks, question.said),
        )
        answer = _answer(
            question, view, hits, told, self._clock.now(), pending=_pending_visible(view, caller)
        )
        flushed.result()
        self._counts.recalled(caller.tenant, [str(hit["id"]) for hit in _shown_hits(answer)])
        return answer

    def _reading(self, caller: Caller, question: Question, asked: Future[Asked]) -> OneReading | None:
        if self._engine is None:
            return None
        current = question.as_of is None and not question.include_superseded
        sought = Sought(caller=caller, filters=question.filters, query=question.said.text, current=current)
        return self._engine.begin(sought, asked)

    def _rank(
        self, caller: Caller, view: TenantView, question: Question, asked: Asked, reading: OneReading | None
    ) -> tuple[Ranking, bool]:
        """The ranking, and whether the vector engine failed it."""
        now, at = self._clock.now(), question.as_of
        rows = self._live(caller, view, question)
        live = admitted = rows.masks
        if question.filters != NO_FILTERS:
            admitted = columns.both(live, columns.admitted(view, question.filters))
        if question.said.excluded:
            admitted = columns.but(admitted, having(rows, question.said.excluded))
        found = Found(asked.vector) if reading is None else reading.found(view, live, admitted, asked)
        read = read_query(question.said.text, at or now, question.said.phrases)
        return rank(rows, None if admitted is live else admitted, read, found.vector), found.failed

    def _live(self, caller: Caller, view: TenantView, question: Question) -> LiveRows:
        return self._rows.of(
            view,
            caller,
            self._clock.now(),
            as_of=question.as_of,
            superseded=question.include_superseded,
        )

    def _hits(
        self, caller: Caller, view: TenantView, question: Question, ranking: Ranking, enough: int
    ) -> list[Hit]:
        """The best memories that still are what their rows say; refilled at most twice, at most 50 reads."""
        hits: list[Hit] = []
        taken = 0
        for _ in range(1 + REFILLS):
            lacking = min(question.limit - len(hits), limits.RECALL_LIMIT - taken, enough - taken)
            if lacking <= 0:
                break
            ranks = range(taken, taken + lacking)
            taken += lacking
            now = self._winners.read(caller, view, [ranking.place(rank) for rank in ranks])
            memories = self._workers.map(lambda memory: self._then(caller, question, memory), now)
            found = zip(ranks, memories, strict=True)
            hits = collapse([*hits, *self._still(view, question, ranking, found)])
        return hits

    def _then(self, caller: Caller, question: Question, memory: Memory | None) -> Memory | None:
        """The memory as it was at `as_of`, where that is kept; as it is now, where it is not or nothing changed."""
        if memory is None or question.as_of is None or not changed_after(memory, question.as_of):
            return memory
        then = self._versions.at(memory, question.as_of)
        if then is None:
            return memory
        if not then.visible_to(caller) or then.holds_from > question.as_of:
            return None
        # Who superseded it is told as of now, as it is of every hit.
        return replace(then, superseded_by=memory.superseded_by)

    def _still(
        self,
        view: TenantView,
        question: Question,
        ranking: Ranking,
        found: Iterable[tuple[int, Memory | None]],
    ) -> Iterator[Hit]:
        now = self._clock.now()
        for rank_, memory in found:
            if (
                memory is None
                or not question.filters.admits(memory)
                or memory.expired_at(question.as_of or now)
            ):
                continue
            newer = superseding(view, ranking.place(rank_), memory)
            if memory.superseded_by and not question.include_superseded and question.as_of is None:
                continue
            score, whole = float(ranking.scores[rank_]), ranking.whole(rank_)
            yield Hit(memory, score, whole, ranking.parts(rank_), newer)


def read_question(arguments: Arguments) -> Question:
    """The arguments of a recall. Raises InvalidArgument, TooLarge."""
    query = arguments.query()
    if query is None:
        raise InvalidArgument(
            "query is required and was blank.",
            field="query",
            limit=f"1 to {limits.QUERY_CHARACTERS:,} characters",
            got=0,
            next_step="Say what to look for; to browse use list_memories, to start a task memory_context.",
        )
    said = take_apart(query)
    mode = arguments.choice("mode", Mode) or Mode.BALANCED
    return Question(
        said=said,
        mode=mode,
        limit=arguments.whole("limit", least=1, most=limits.RECALL_LIMIT) or FLOORS[mode].limit,
        filters=narrowed(read_filters(arguments), said),
        as_of=arguments.moment("as_of"),
        include_superseded=bool(arguments.flag("include_superseded")),
        min_score=arguments.number("min_score", least=0, most=1),
        explain=bool(arguments.flag("explain")),
        max_bytes=arguments.whole("max_bytes", least=limits.ANSWER_BYTES_LEAST, most=limits.ANSWER_BYTES_MOST)
        or limits.ANSWER_BYTES,
    )


def changed_after(memory: Memory, moment: datetime) -> bool:
    """Whether it was updated after that time."""
    return memory.version > 1 and memory.updated_at > moment


def superseding(view: TenantView, place: columns.Place, memory: Memory) -> tuple[str, ...]:
    """Ids that supersede the memory, as their rows state and as it notes itself."""
    stated = [columns.id_of(view, newer) for newer in columns.successors(view, place)]
    return tuple(dict.fromkeys([*stated, *memory.superseded_by]))


def _enough(question: Question, ranking: Ranking) -> int:
    """How many rows reach the floor. A given min_score takes the place of the mode's floors."""
    if not len(ranking):
        return 0
    if question.min_score is not None:
        return int((ranking.scores >= question.min_score).sum())
    floors = FLOORS[question.mode]
    floor = max(floors.least, floors.share**FALL * float(ranking.scores[0]))
    return int((ranking.scores >= floor).sum()) if ranking.known >= floors.known else 0


def _pending_visible(view: TenantView, caller: Caller) -> int:
    """Pending ids that the caller may see; a count over all would show another conversation's writing (P-TENANT)."""
    return len(columns.ids_among(view, columns.visible(view, caller), view.pending)) if view.pending else 0


def _answer(
    question: Question,
    view: TenantView,
    found: list[Hit],
    told: Told,
    now: datetime,
    *,
    pending: int,
) -> dict[str, object]:
    hits = [_shown(hit, question, now) for hit in opposed(found)]
    answer: dict[str, object] = {
        "untrusted": True,
        "notice": NOTICE,
        "count": len(hits),
        "hits": [],
        "gated_out": told.gated,
        "freshness": {
            "generation": view.manifest.generation if view.manifest is not None else 0,
            "pending": pending,
            "degraded": view.degraded,
            "tail_truncated": view.tail_truncated,
            "invalid": view.invalid,
            "embeddings": told.embeddings,
        },
        "mode": str(question.mode),
        "message": told.message(len(hits)),
    }
    kept = fit(hits, envelope=answer, most_bytes=question.max_bytes)
    message = told.message(len(kept), left_out=len(hits) - len(kept))
    return answer | {"count": len(kept), "hits": kept, "message": message}


def _shown(hit: Hit, question: Question, now: datetime) -> dict[str, object]:
    memory = hit.memory
    shown = show_memory(memory, now=now, superseded_by=hit.superseded_by)
    shown |= {
        "score": round(hit.score, 4),
        "confidence": confidence(hit.score, whole=hit.whole),
        "similar": list(hit.similar),
        "contradicts": list(hit.contradicts),
    }
    if question.as_of is not None and changed_after(memory, question.as_of):
        shown["changed_since"] = show_moment(memory.updated_at)
    if question.explain:
        shown["explain"] = dict(hit.parts)
    return shown


def _shown_hits(answer: Mapping[str, object]) -> list[dict[str, object]]:
    hits = answer["hits"]
    assert isinstance(hits, list)
    return hits
