"""What S3 Vectors takes, and refuses with 400.

Owns: the checks of names, vectors and metadata. Source: Amazon S3 User Guide, "Limitations and restrictions", and the
constraints of botocore's service model. Gives up: rates and quotas; tests that need those answers give them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

PUT_MOST = DELETE_MOST = 500
GET_MOST = 100
LIST_MOST = 1000
LIST_DEFAULT = 500
LIST_BYTES = 1_048_576
TOP_K_MOST = 100
REQUEST_BYTES = 20 * 1_048_576
METADATA_BYTES = 40_960
FILTERABLE_BYTES = 2_048
METADATA_KEYS = 50
UNFILTERABLE_KEYS = 10
KEY_CHARACTERS = 1_024
DIMENSION_MOST = 4_096
_INDEX_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

Vector = NDArray[np.float32]


class Refused(Exception):
    """The service answers 400; the text says why."""


def check_index(name: str, dimension: object, unfilterable: Sequence[str]) -> None:
    """What CreateIndex checks. Raises Refused."""
    if not _INDEX_NAME.fullmatch(name):
        raise Refused(f"'{name}' is no index name")
    if not isinstance(dimension, int) or not 1 <= dimension <= DIMENSION_MOST:
        raise Refused(f"dimension must be 1 to {DIMENSION_MOST}, not {dimension}")
    if len(unfilterable) > UNFILTERABLE_KEYS or not all(1 <= len(key) <= 63 for key in unfilterable):
        raise Refused(f"at most {UNFILTERABLE_KEYS} non-filterable keys of 1 to 63 characters")


def check_count(what: str, count: int, most: int) -> None:
    """Raises Refused unless there are 1 to `most`."""
    if not 1 <= count <= most:
        raise Refused(f"{what}: 1 to {most} members, not {count}")


def check_key(key: object) -> str:
    """Raises Refused."""
    if not isinstance(key, str) or not 1 <= len(key) <= KEY_CHARACTERS:
        raise Refused(f"a key has 1 to {KEY_CHARACTERS} characters")
    return key


def read_vector(data: Mapping[str, Any], dimension: int, metric: str) -> Vector:
    """The vector as float32. Raises Refused."""
    if set(data) != {"float32"} or not isinstance(data["float32"], list):
        raise Refused("data must be float32")
    values = data["float32"]
    if len(values) != dimension:
        raise Refused(f"vector must have length {dimension}, but has length {len(values)}")
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        raise Refused("vector must hold finite numbers")
    with np.errstate(over="ignore"):
        vector = np.array(values, np.float32)
    if not np.isfinite(vector).all():
        raise Refused("vector must hold finite float32 numbers")
    if metric == "cosine" and not vector.any():
        raise Refused("a zero vector has no cosine distance")
    return vector


def check_metadata(metadata: object, unfilterable: Collection[str]) -> None:
    """Raises Refused."""
    if not isinstance(metadata, dict):
        raise Refused("metadata is an object")
    if len(metadata) > METADATA_KEYS:
        raise Refused(f"at most {METADATA_KEYS} metadata keys, not {len(metadata)}")
    for key, value in metadata.items():
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, str | bool | int | float):
                raise Refused(f"metadata of {key}: a string, a number, a boolean, or a list of them")
    if (size := _size(metadata)) > METADATA_BYTES:
        raise Refused(f"metadata may have {METADATA_BYTES} bytes, not {size}")
    filterable = {key: value for key, value in metadata.items() if key not in unfilterable}
    if (size := _size(filterable)) > FILTERABLE_BYTES:
        raise Refused(f"Filterable metadata must have at most {FILTERABLE_BYTES} bytes, not {size}")


def _size(metadata: Mapping[str, Any]) -> int:
    return len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())
