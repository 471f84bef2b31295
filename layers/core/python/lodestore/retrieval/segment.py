"""A segment: one immutable shard of an index, as named arrays and nothing else.

Owns: the columns, their types, and how to read a row. Guarantees: rows are in ascending order of `id_hash`, postings in
ascending order of `term`; arrays are used as they lie in the file, without parsing. No text of a memory is in it.
Gives up: checking. `check_arrays` says whether arrays are a segment at all; nothing else looks twice.

    ragged columns: values of all rows one after the other, row r's at [offset[r], offset[r + 1])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.limits import ID_CHARACTERS
from lodestore.domain.memory import MemoryType
from lodestore.domain.revision import ALPHABET
from lodestore.retrieval.vectors import inverse_norms

Array = NDArray[Any]
SCHEMA: Final = 1
TYPES: Final = tuple(MemoryType)
NO_TIME: Final = np.iinfo(np.int64).min
NO_EXPIRY: Final = np.iinfo(np.int64).max

# Levels of use as last folded, in days since 1970; 0: never. Their names are those of `UseLevels`.
USE_COLUMNS: Final = ("recalls", "useful", "not_useful", "last_used")
# Name to type of the columns that have one value a row.
ROW_COLUMNS: Final[Mapping[str, str]] = {
    "id_hash": "<u8",
    "stub": "|u1",
    "type": "|u1",
    "scoped": "|u1",
    "pinned": "|u1",
    "question": "|u1",
    "dated": "|u1",
    "category": "<u8",
    "conversation": "<u8",
    "source": "<u8",
    "stated": "<u8",
    "form": "<u8",
    "wording": "<u8",
    "topic": "<u8",
    "created": "<i8",
    "updated": "<i8",
    "valid_from": "<i8",
    "expires": "<i8",
    "importance": "<f4",
    "version": "<u4",
    "length": "<u4",
    **dict.fromkeys(USE_COLUMNS, "<f4"),
}
# Name to type of the values of the ragged columns; the offsets are `<name>_at`, one more than rows.
RAGGED_COLUMNS: Final[Mapping[str, str]] = {
    "id": "|u1",
    "etag": "|u1",
    "tags": "<u8",
    "supersedes": "<u8",
    "superseded_by": "<u8",
    "members": "<u8",
    "members_stated": "<u8",
}
REVISION_LETTERS: Final = 26
OFFSET_TYPE: Final = "<u4"
_ASCII: Final = 128
_LETTERS_AND_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _bytes_of(letters: str) -> Array:
    """Which of the 256 bytes are one of the letters."""
    return np.isin(np.arange(256, dtype=np.uint8), np.frombuffer(letters.encode(), np.uint8))


# The letters of `identity.MEMORY_ID_PATTERN` and of `revision.is_revision`.
_FIRST_OF_ID: Final = _bytes_of(_LETTERS_AND_DIGITS)
_IN_ID: Final = _bytes_of(_LETTERS_AND_DIGITS + "._-")
_IN_REVISION: Final = _bytes_of(ALPHABET)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Arrays by name.

    `revision` is (rows, 26) letters; postings are `term` (hashes), `term_at` (offsets), `posting_row`,
    `posting_count`; vectors are `vector` (int8, (vectors, dim)), `vector_scale`, `vector_row`.
    """

    arrays: Mapping[str, Array]
    model: str | None
    tokenizer: int
    # Found out once, when first asked for.
    _norms: list[Array] = field(default_factory=list, init=False, repr=False)
    _plain: list[bool] = field(default_factory=list, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.arrays["id_hash"])

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    @property
    def vectors(self) -> int:
        """How many vectors are in it."""
        return len(self.arrays["vector_row"])

    @property
    def norms(self) -> Array:
        """`inverse_norms` of its vectors."""
        if not self._norms:
            self._norms.append(inverse_norms(self.arrays["vector"]))
        return self._norms[0]

    @property
    def is_plain(self) -> bool:
        """Whether it has rows, and each row one vector, in the order of rows."""
        if not self._plain:
            at = self.arrays["vector_row"]
            self._plain.append(0 < len(self) == len(at) and bool(np.all(at[1:] > at[:-1])))
        return self._plain[0]

    def text(self, column: str, row: int) -> str:
        """The id or the ETag of a row."""
        start, end = self.arrays[f"{column}_at"][row : row + 2]
        return bytes(self.arrays[column][start:end]).decode()

    def revision(self, row: int) -> str:
        """The revision of a row."""
        return bytes(self.arrays["revision"][row]).decode()

    def values(self, column: str, row: int) -> Array:
        """The hashes of a ragged column in one row."""
        start, end = self.arrays[f"{column}_at"][row : row + 2]
        return self.arrays[column][start:end]

    def rows_of(self, id_hash: int) -> range:
        """The rows whose id has this hash: none, one, or more where two ids share it."""
        hashes = self.arrays["id_hash"]
        key = np.uint64(id_hash)
        return range(int(np.searchsorted(hashes, key, "left")), int(np.searchsorted(hashes, key, "right")))

    def postings(self, term: int) -> tuple[Array, Array]:
        """Rows that have the term, and how often."""
        terms = self.arrays["term"]
        at = int(np.searchsorted(terms, np.uint64(term)))
        if at == len(terms) or int(terms[at]) != term:
            return self.arrays["posting_row"][:0], self.arrays["posting_count"][:0]
        start, end = self.arrays["term_at"][at : at + 2]
        return self.arrays["posting_row"][start:end], self.arrays["posting_count"][start:end]


def check_arrays(arrays: Mapping[str, Array]) -> None:
    """Raises ValueError where the arrays do not fit together: a type, a shape, an offset or a row out of range."""
    rows = len(arrays["id_hash"])
    for name, kind in ROW_COLUMNS.items():
        _check_column(arrays[name], kind, (rows,), name)
    for name, kind in RAGGED_COLUMNS.items():
        _check_column(arrays[name], kind, (len(arrays[name]),), name)
        _check_offsets(arrays[f"{name}_at"], rows, len(arrays[name]), f"{name}_at")
    _check_column(arrays["revision"], "|u1", (rows, REVISION_LETTERS), "revision")
    _expect(bool(np.all(arrays["etag"] < _ASCII)), "etag")
    _expect(bool(_IN_REVISION[arrays["revision"]].all()), "revision")
    _expect(bool(np.all(arrays["revision"][:, 0] <= ord("7"))), "revision")
    _check_ids(arrays["id"], arrays["id_at"])
    _expect(bool(np.all(arrays["id_hash"][:-1] <= arrays["id_hash"][1:])), "id_hash")
    _expect(bool(np.all(arrays["type"] < len(TYPES))), "type")
    for name in ("importance", *USE_COLUMNS):
        _expect(bool(np.all(np.isfinite(arrays[name]))), name)
    _check_postings(arrays, rows)
    _check_vectors(arrays, rows)


def _check_ids(letters: Array, at: Array) -> None:
    """What is no memory's id would be asked of the store as a part of a key."""
    starts, lengths = at[:-1], np.diff(at.astype(np.int64))
    _expect(bool(np.all((lengths >= 1) & (lengths <= ID_CHARACTERS))), "id")
    _expect(bool(_IN_ID[letters].all()) and bool(_FIRST_OF_ID[letters[starts]].all()), "id")


def _check_postings(arrays: Mapping[str, Array], rows: int) -> None:
    terms, at = arrays["term"], arrays["posting_row"]
    _check_column(terms, "<u8", (len(terms),), "term")
    _expect(bool(np.all(terms[:-1] < terms[1:])), "term")
    _check_offsets(arrays["term_at"], len(terms), len(at), "term_at")
    _check_column(at, "<u4", (len(at),), "posting_row")
    _expect(bool(np.all(at < rows)), "posting_row")
    _check_column(arrays["posting_count"], "<u2", (len(at),), "posting_count")


def _check_vectors(arrays: Mapping[str, Array], rows: int) -> None:
    vectors, at = arrays["vector"], arrays["vector_row"]
    _expect(vectors.ndim == 2, "vector")
    _check_column(vectors, "|i1", (len(at), vectors.shape[1]), "vector")
    _check_column(arrays["vector_scale"], "<f4", (len(at),), "vector_scale")
    _expect(bool(np.all(np.isfinite(arrays["vector_scale"]))), "vector_scale")
    _check_column(at, "<u4", (len(at),), "vector_row")
    _expect(bool(np.all(at < rows)), "vector_row")


def _check_offsets(offsets: Array, rows: int, values: int, name: str) -> None:
    _check_column(offsets, OFFSET_TYPE, (rows + 1,), name)
    ends = int(offsets[0]) == 0 and int(offsets[-1]) == values
    _expect(ends and bool(np.all(offsets[:-1] <= offsets[1:])), name)


def _check_column(array: Array, kind: str, shape: tuple[int, ...], name: str) -> None:
    _expect(array.dtype == np.dtype(kind) and array.shape == shape, name)


def _expect(holds: bool, name: str) -> None:
    if not holds:
        raise ValueError(f"column {name} does not fit")
