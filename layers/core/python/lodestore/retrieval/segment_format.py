"""Segments as safetensors: named arrays behind one JSON header, used as they lie.

Owns: the bytes of `index/<tenant>/segments/<ulid>.safetensors`. Guarantees: decoding checks every array's type, shape
and range before any is used, so a corrupt or planted object is `InvalidSegment` and never a wrong answer; columns that
this version does not know are passed over, missing ones have their default.
Gives up: compression. Source of the container: safetensors format, version 0.4.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from lodestore.retrieval.segment import (
    NO_EXPIRY,
    NO_TIME,
    OFFSET_TYPE,
    RAGGED_COLUMNS,
    ROW_COLUMNS,
    SCHEMA,
    Array,
    Segment,
    check_arrays,
)

_HEADER_LENGTH = 8
_MOST_HEADER = 65_536
_NEEDED = frozenset({"id_hash", "stub", "type", "created", "length"})
_DEFAULTS: Mapping[str, float] = {
    "valid_from": NO_TIME,
    "expires": NO_EXPIRY,
    "importance": 0.5,
    "version": 1,
}


class InvalidSegment(Exception):
    """The bytes are no segment of a schema that this version reads; the text says why."""


def encode_segment(segment: Segment) -> bytes:
    """The segment as one safetensors object; the same segment gives the same bytes."""
    arrays = {name: np.ascontiguousarray(segment.arrays[name]) for name in sorted(segment.arrays)}
    metadata = {"schema": str(SCHEMA), "tokenizer": str(segment.tokenizer), "model": segment.model or ""}
    return save(arrays, metadata={"lodestore": json.dumps(metadata, sort_keys=True)})


def decode_segment(body: bytes) -> Segment:
    """The segment that the bytes are. Raises InvalidSegment."""
    try:
        described = json.loads(_metadata(body)["lodestore"])
        if described["schema"] != str(SCHEMA):
            raise InvalidSegment("another schema")
        model, tokenizer = described["model"], int(described["tokenizer"])
        if not isinstance(model, str):
            raise InvalidSegment("no name of a model")
        arrays = _completed(load(body))
        check_arrays(arrays)
        return Segment(arrays, model or None, tokenizer)
    except (
        SafetensorError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        RecursionError,
    ) as error:
        raise InvalidSegment("not a segment") from error


def _metadata(body: bytes) -> Mapping[str, str]:
    length = int.from_bytes(body[:_HEADER_LENGTH], "little")
    if length > _MOST_HEADER:
        raise InvalidSegment("header too long")
    metadata: Mapping[str, str] = json.loads(body[_HEADER_LENGTH : _HEADER_LENGTH + length])["__metadata__"]
    return metadata


def _completed(arrays: dict[str, Array]) -> dict[str, Array]:
    """The arrays, with those columns that an older writer did not know at their defaults."""
    rows = len(arrays["id_hash"])
    for name, kind in ROW_COLUMNS.items():
        if name not in arrays and name not in _NEEDED:
            arrays[name] = np.full(rows, _DEFAULTS.get(name, 0), kind)
    for name, kind in RAGGED_COLUMNS.items():
        if name not in arrays and name not in ("id", "etag"):
            arrays[name] = np.zeros(0, kind)
            arrays[f"{name}_at"] = np.zeros(rows + 1, OFFSET_TYPE)
    return arrays
