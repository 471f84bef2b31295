"""What S3 Vectors is sent: filters, vectors and batches in its own form.

Owns: the JSON of filters and metadata, and cutting a put to what one request takes. Guarantees: no request passes the
service's documented limits, so none is refused for its size. Gives up: vectors that no request could hold; the largest,
4,096 numbers and 40 KB of metadata, is well below.

Source: Amazon S3 User Guide, "Limitations and restrictions" and "Metadata filtering"; botocore's service model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from lodestore.ports.vector_index import AllOf, Condition, Filter, NewVector

PUT_MOST = DELETE_MOST = 500
REQUEST_BYTES = 20 * 1_048_576
METADATA_BYTES = 40_960
FILTERABLE_BYTES = 2_048
METADATA_KEYS = 50
KEY_CHARACTERS = 1_024
DIMENSION_MOST = 4_096
TEXT_KEY = "text"
# Of 40 KB, what the filterable part and JSON's own signs leave.
TEXT_BYTES = 36_000
# Characters of one number in JSON at most, with its comma.
_NUMBER_BYTES = 26
_ENVELOPE_BYTES = 4_096


class Unfit(Exception):
    """The service would refuse this vector; the text names the limit and nothing of the memory."""


def filter_document(admit: Filter) -> dict[str, object]:
    """The filter in the service's words."""
    if isinstance(admit, Condition):
        return {admit.name: _operation(admit)}
    word = "$and" if isinstance(admit, AllOf) else "$or"
    return {word: [filter_document(part) for part in admit.parts]}


def put_batches(vectors: Sequence[NewVector]) -> Iterator[list[dict[str, object]]]:
    """The vectors, as many at a time as one request takes. Raises Unfit before the first, for any of them."""
    entries = [_entry(vector) for vector in vectors]
    batch: list[dict[str, object]] = []
    size = _ENVELOPE_BYTES
    for entry, vector in zip(entries, vectors, strict=True):
        more = _size_of(vector)
        if batch and (len(batch) == PUT_MOST or size + more > REQUEST_BYTES):
            yield batch
            batch, size = [], _ENVELOPE_BYTES
        batch.append(entry)
        size += more
    if batch:
        yield batch


def key_batches(keys: Iterable[str]) -> Iterator[list[str]]:
    """The keys, as many at a time as one delete takes."""
    left = iter(dict.fromkeys(keys))
    while batch := list(islice(left, DELETE_MOST)):
        yield batch


def _operation(condition: Condition) -> dict[str, object]:
    if condition.operator in ("absent", "present"):
        return {"$exists": condition.operator == "present"}
    value = condition.value
    return {f"${condition.operator}": list(value) if isinstance(value, tuple) else value}


def _entry(vector: NewVector) -> dict[str, object]:
    if not 1 <= len(vector.key) <= KEY_CHARACTERS:
        raise Unfit(f"a key has 1 to {KEY_CHARACTERS} characters, not {len(vector.key)}")
    values = np.asarray(vector.vector, np.float32)
    if values.ndim != 1 or not 1 <= len(values) <= DIMENSION_MOST:
        raise Unfit(f"a vector has 1 to {DIMENSION_MOST} numbers, not {values.shape}")
    if not np.isfinite(values).all() or not values.any():
        raise Unfit("a vector holds finite numbers, not all zero")
    return {
        "key": vector.key,
        "data": {"float32": values.tolist()},
        "metadata": _metadata(vector),
    }


def _metadata(vector: NewVector) -> dict[str, object]:
    shown: dict[str, object] = {
        name: list(value) if isinstance(value, tuple) else value for name, value in vector.attributes.items()
    }
    if (size := _json_bytes(shown)) > FILTERABLE_BYTES or len(shown) >= METADATA_KEYS:
        raise Unfit(f"attributes take {FILTERABLE_BYTES} bytes, not {size}, and below {METADATA_KEYS} keys")
    if vector.text is not None:
        shown[TEXT_KEY] = cut_text(vector.text)
    return shown


def cut_text(text: str) -> str:
    """The beginning of a text that fits beside the attributes, as JSON writes it."""
    while (size := _json_bytes(text)) > TEXT_BYTES:
        text = text[: min(len(text) - 1, len(text) * TEXT_BYTES // size)]
    return text


def _json_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _size_of(vector: NewVector) -> int:
    """Bytes of one vector in a request at most. The SDK writes JSON in ASCII, so a text can take thrice its bytes."""
    text = len(json.dumps(vector.text)) if vector.text is not None else 0
    return len(vector.vector) * _NUMBER_BYTES + 6 * len(vector.key) + FILTERABLE_BYTES * 3 + text + 64
