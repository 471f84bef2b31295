"""From records to rows of a segment: terms and vectors.

Owns: what of a memory is indexed. Guarantees: the vectors of another model are left out, so that no two models are ever
compared. Gives up: embedding; a memory without vectors is found by its words until upkeep fills them in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from lodestore.domain.memory import Memory, Record
from lodestore.domain.use_levels import UseLevels, shown_days
from lodestore.retrieval.bm25 import TermCounts, count_terms
from lodestore.retrieval.segment import USE_COLUMNS, Segment
from lodestore.retrieval.segment_build import Row, build_segment
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION, index_terms

UNUSED: Final[Mapping[str, float]] = MappingProxyType({})


def indexed_text(memory: Memory) -> str:
    """What of a memory is searched: content, then who said it and what it is about (source, category, tags)."""
    return "\n".join(filter(None, [memory.content, memory.source or "", memory.category or "", *memory.tags]))


def terms_of(record: Record) -> TermCounts | None:
    """The terms of a memory; None for a stub."""
    return count_terms(index_terms(indexed_text(record))) if isinstance(record, Memory) else None


def row_of(
    record: Record,
    etag: str,
    *,
    model: str | None,
    terms: TermCounts | None = None,
    use: Mapping[str, float] = UNUSED,
    passing: bool = False,
) -> Row:
    """The record as a row; `terms` where they are counted already, `use` where its levels of use are known.

    passing   it is part of a tail, and never stored
    """
    vectors = None
    if isinstance(record, Memory) and record.embedding is not None and record.embedding.model == model:
        stored = np.frombuffer(record.embedding.vectors, "<f2").reshape(-1, record.embedding.dim)
        vectors = stored.astype(np.float32)
    counted = terms if terms is not None else terms_of(record)
    return Row(record, etag, counted, vectors, use if isinstance(record, Memory) else UNUSED, passing)


def use_of(segment: Segment, row: int) -> Mapping[str, float]:
    """The levels of use of a row, which the row that takes its place goes on with."""
    return {name: float(segment[name][row]) for name in USE_COLUMNS}


def use_columns(levels: UseLevels) -> Mapping[str, float]:
    """Levels of use as the columns show them."""
    return {name: shown_days(getattr(levels, name)) for name in USE_COLUMNS}


def segment_of(rows: Sequence[Row], *, model: str | None) -> Segment:
    """The rows as a segment of this tokenizer's version."""
    dim = next((row.vectors.shape[1] for row in rows if row.vectors is not None), 0)
    return build_segment(rows, model=model, dim=dim, tokenizer=TOKENIZER_VERSION)
