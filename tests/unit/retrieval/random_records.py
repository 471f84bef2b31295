"""Random records, and the rows and segments that they make.

Owns: hypothesis strategies for memories and stubs of a small world, so that words, tags, conversations and ids meet
often. Guarantees: a record of each id and revision is one; times are whole milliseconds, as all that we write.
Gives up: realistic text.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from lodestore.domain.memory import Memory, MemoryType, Record, Scope, Stub
from lodestore.domain.revision import next_revision
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_build import Row
from lodestore.services.rows import row_of, segment_of

START = datetime(2026, 3, 9, tzinfo=UTC)
MODEL = "model-x"
DIM = 4
WORDS = ("oslo", "bergen", "standup", "badge", "4471", "deploy", "ERR_X9F", "muller", "年会")
CONVERSATIONS = (None, "chat-1", "chat-2")
NAMES = (None, "plans", "notes")
IDS = tuple(f"id-{number}" for number in range(12))

MEMORY = Memory(
    id="id-0",
    tenant="acme",
    scope=Scope.PROJECT,
    conversation=None,
    type=MemoryType.FACT,
    category=None,
    content="oslo",
    tags=(),
    importance=0.5,
    pinned=False,
    source=None,
    created_at=START,
    updated_at=START,
    valid_from=None,
    expires_at=None,
    supersedes=(),
    version=1,
    revision=next_revision(START, None, bytes(10)),
    recent=(),
    origin="0f",
    idempotency=None,
)

moments = st.integers(0, 10_000).map(lambda minutes: START + timedelta(minutes=minutes))
revisions = st.tuples(moments, st.binary(min_size=10, max_size=10)).map(
    lambda drawn: next_revision(drawn[0], None, drawn[1])
)
contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
few_ids = st.lists(st.sampled_from(IDS), max_size=3, unique=True).map(tuple)


@st.composite
def memories(draw: st.DrawFn, memory_id: st.SearchStrategy[str]) -> Memory:
    """A memory of the tenant acme."""
    own_id = draw(memory_id)
    created = draw(moments)
    revision = draw(revisions)
    return Memory(
        id=own_id,
        tenant="acme",
        scope=draw(st.sampled_from(Scope)),
        conversation=draw(st.sampled_from(CONVERSATIONS)),
        type=draw(st.sampled_from(MemoryType)),
        category=draw(st.sampled_from(NAMES)),
        content=draw(contents),
        tags=tuple(draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))),
        importance=draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        pinned=draw(st.booleans()),
        source=draw(st.sampled_from(NAMES)),
        created_at=created,
        updated_at=created,
        valid_from=draw(st.none() | moments),
        expires_at=draw(st.none() | moments),
        supersedes=tuple(older for older in draw(few_ids) if older != own_id),
        superseded_by=draw(st.just(()) | few_ids),
        version=draw(st.integers(1, 9)),
        revision=revision,
        recent=(revision,),
        origin="0f",
        idempotency=None,
    )


@st.composite
def stubs(draw: st.DrawFn, memory_id: st.SearchStrategy[str]) -> Stub:
    """A stub of the tenant acme."""
    own_id = draw(memory_id)
    revision = draw(revisions)
    return Stub(
        id=own_id,
        tenant="acme",
        revision=revision,
        recent=(revision,),
        reason=None,
        forgotten_by="writer",
        forgotten_at=START,
        idempotency=None,
        supersedes=tuple(older for older in draw(few_ids) if older != own_id),
    )


@st.composite
def corpora(draw: st.DrawFn, most: int = 10) -> list[Record]:
    """Records of different ids."""
    ids = draw(st.lists(st.sampled_from(IDS), max_size=most, unique=True))
    return [draw(memories(st.just(one)) | stubs(st.just(one))) for one in ids]


@st.composite
def cuts(draw: st.DrawFn, records: Sequence[Record], most: int = 4) -> list[list[Record]]:
    """The records, cut into parts; some may be empty."""
    parts: list[list[Record]] = [[] for _ in range(draw(st.integers(1, most)))]
    for record in records:
        parts[draw(st.integers(0, len(parts) - 1))].append(record)
    return parts


def vectors(spans: int, seed: int) -> NDArray[np.float32]:
    """Some vectors, the same for the same seed."""
    numbers = (np.arange(spans * DIM) * 7 + seed) % 11 - 5
    return numbers.reshape(spans, DIM).astype(np.float32)


def row(record: Record, *, model: str | None = MODEL) -> Row:
    """The record as a row. A memory has one vector or two, or none, as its id says."""
    made = row_of(record, f"etag-{record.revision[-6:]}", model=None)
    spans = len(record.id) % 2 + IDS.index(record.id) % 3 if isinstance(record, Memory) and model else 0
    if not spans:
        return made
    return Row(made.record, made.etag, made.terms, vectors(spans, 3 * IDS.index(record.id)))


def segment(records: Sequence[Record], *, model: str | None = MODEL) -> Segment:
    """The records as one segment."""
    return segment_of([row(record, model=model) for record in records], model=model)
