"""Building a segment from records.

Owns: the way from a memory or a stub to a row, its postings and its vectors. Guarantees: the same rows give the same
bytes, in whatever order they come; a stub has a row and no terms (design, section 4).
Gives up: choosing rows; of two with one id both are built, and the manifest says which is dead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.member import digest_of, stands_since
from lodestore.domain.memory import Member, Memory, Record, Scope, Stub
from lodestore.domain.moments import milliseconds
from lodestore.retrieval.bm25 import TermCounts
from lodestore.retrieval.hashing import NOTHING, hash64
from lodestore.retrieval.likeness import likeness
from lodestore.retrieval.segment import (
    NO_EXPIRY,
    NO_TIME,
    OFFSET_TYPE,
    RAGGED_COLUMNS,
    REVISION_LETTERS,
    ROW_COLUMNS,
    TYPES,
    Array,
    Segment,
)
from lodestore.retrieval.vectors import Quantised, quantise

_MOST_COUNT = 65_535
_DATED = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}\b|\b\d{1,2}:\d\d\b")
_QUESTION_ENDS = ("?", "？", "؟", "՞", "\u037e")


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One record to be indexed. `vectors` is float32 (spans, dim), or None; a stub has no terms and no vectors.

    use      its levels of use in days since 1970 by the names of USE_COLUMNS; empty: never used
    passing  of a tail, which is never stored: what only maintenance compares is left out, for it costs a millisecond
    """

    record: Record
    etag: str
    terms: TermCounts | None
    vectors: NDArray[np.float32] | None
    use: Mapping[str, float] = field(default_factory=dict)
    passing: bool = False


def build_segment(rows: Sequence[Row], *, model: str | None, dim: int, tokenizer: int) -> Segment:
    """The rows as a segment. Vectors are of `model`; `dim` is 0 where there is none."""
    ordered = sorted(rows, key=lambda row: (hash64(row.record.id), row.record.id, row.record.revision))
    arrays: dict[str, Array] = _row_columns([row.record for row in ordered], ordered)
    arrays |= _ragged_columns(ordered)
    arrays |= _postings(ordered)
    arrays |= _vectors(ordered, dim)
    return Segment(arrays, model, tokenizer)


def is_question(text: str) -> bool:
    """Whether the text ends as a question, in any of the scripts that mark one."""
    return text.rstrip().endswith(_QUESTION_ENDS)


def has_date(text: str) -> bool:
    """Whether a year, a day or a time of day in digits is in the text."""
    return _DATED.search(text) is not None


def _row_columns(records: Sequence[Record], rows: Sequence[Row]) -> dict[str, Array]:
    values: dict[str, list[float | int]] = {name: [] for name in ROW_COLUMNS}
    for record, row in zip(records, rows, strict=True):
        fields = _memory_values(record, row) if isinstance(record, Memory) else {}
        for name, column in values.items():
            column.append(fields.get(name, _ABSENT.get(name, NOTHING)))
        values["id_hash"][-1] = hash64(record.id)
        values["stub"][-1] = isinstance(record, Stub)
    arrays: dict[str, Array] = {name: np.array(values[name], kind) for name, kind in ROW_COLUMNS.items()}
    letters = "".join(record.revision for record in records).encode()
    arrays["revision"] = np.frombuffer(letters, np.uint8).reshape(len(records), REVISION_LETTERS)
    return arrays


_ABSENT = {"valid_from": NO_TIME, "expires": NO_EXPIRY}


def _memory_values(memory: Memory, row: Row) -> dict[str, float | int]:
    return {
        "type": TYPES.index(memory.type),
        "scoped": memory.scope is Scope.CONVERSATION,
        "pinned": memory.pinned,
        "question": is_question(memory.content),
        "dated": has_date(memory.content),
        "category": _hash(memory.category),
        "conversation": _hash(memory.conversation),
        "source": _hash(memory.source),
        "stated": hash64(digest_of(memory)),
        **({} if row.passing else likeness(memory)),
        "created": milliseconds(memory.created_at),
        "updated": milliseconds(memory.updated_at),
        "valid_from": NO_TIME if memory.valid_from is None else milliseconds(memory.valid_from),
        "expires": NO_EXPIRY if memory.expires_at is None else milliseconds(memory.expires_at),
        "importance": memory.importance,
        "version": memory.version,
        "length": row.terms.length if row.terms is not None else 0,
        **row.use,
    }


def _stated(member: Member) -> int:
    since = stands_since(member)
    return hash64(member.digest) if since is None else since


def _hash(text: str | None) -> int:
    return NOTHING if text is None else hash64(text)


def _ragged_columns(rows: Sequence[Row]) -> dict[str, Array]:
    columns: dict[str, list[list[int]]] = {name: [] for name in RAGGED_COLUMNS}
    for row in rows:
        record = row.record
        memory = record if isinstance(record, Memory) else None
        columns["id"].append(list(record.id.encode()))
        columns["etag"].append(list(row.etag.encode()))
        columns["tags"].append([hash64(tag) for tag in memory.tags] if memory else [])
        columns["supersedes"].append([hash64(older) for older in record.supersedes])
        columns["superseded_by"].append([hash64(newer) for newer in memory.superseded_by] if memory else [])
        columns["members"].append([hash64(member.id) for member in record.consolidated_reads])
        columns["members_stated"].append([_stated(member) for member in record.consolidated_reads])
    arrays: dict[str, Array] = {}
    for name, kind in RAGGED_COLUMNS.items():
        arrays[name] = np.array([value for values in columns[name] for value in values], kind)
        arrays[f"{name}_at"] = _offsets([len(values) for values in columns[name]])
    return arrays


def _postings(rows: Sequence[Row]) -> dict[str, Array]:
    found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, row in enumerate(rows):
        merged: defaultdict[int, int] = defaultdict(int)
        for term, count in (row.terms.frequencies if row.terms is not None else {}).items():
            merged[hash64(term)] += count
        for term_hash, count in merged.items():
            found[term_hash].append((number, min(count, _MOST_COUNT)))
    terms = sorted(found)
    flat = [posting for term in terms for posting in found[term]]
    return {
        "term": np.array(terms, np.uint64),
        "term_at": _offsets([len(found[term]) for term in terms]),
        "posting_row": np.array([number for number, _ in flat], np.uint32),
        "posting_count": np.array([count for _, count in flat], np.uint16),
    }


def _vectors(rows: Sequence[Row], dim: int) -> dict[str, Array]:
    pieces: list[Quantised] = []
    at: list[int] = []
    for number, row in enumerate(rows):
        if row.vectors is not None and row.vectors.shape[1] == dim:
            pieces.append(quantise(row.vectors))
            at.extend([number] * len(row.vectors))
    return {
        "vector": np.concatenate([piece.values for piece in pieces])
        if pieces
        else np.zeros((0, dim), np.int8),
        "vector_scale": np.concatenate([piece.scales for piece in pieces])
        if pieces
        else np.zeros(0, np.float32),
        "vector_row": np.array(at, np.uint32),
    }


def _offsets(lengths: Sequence[int]) -> Array:
    offsets = np.zeros(len(lengths) + 1, OFFSET_TYPE)
    offsets[1:] = np.cumsum(np.array(lengths, np.int64))
    return offsets
