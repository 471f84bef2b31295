"""What an index of S3 Vectors knows beyond moto's: its mode, its metadata configuration, when it was made.

Owns: `IndexState`, kept on moto's own object, so that moto's reset takes it away too. Guarantees: a bucket's default
mode is ENHANCED, as of buckets since 2026-09-30.
Gives up: the time in which an analyzer is built; it is ACTIVE at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from moto.s3vectors.models import Index, Vector, VectorBucket

from tests.s3vectors.limits import Refused
from tests.s3vectors.limits import Vector as Values

TEXTS_MOST = 10
# Results on one page of a query: fewer than topK may ask for, so that clients have to follow the token.
QUERY_PAGE = 40
_STATE = "lodestore_state"
_MODE = "lodestore_mode"
_VALUES = "lodestore_values"


class IndexState:
    """One index. `texts`: searchable key to its configuration."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.mode = bucket_mode(index._bucket)
        self.unfilterable: tuple[str, ...] = ()
        self.texts: dict[str, Mapping[str, Any]] = {}
        self.created = datetime.now(UTC)
        self.page = QUERY_PAGE

    def configure(self, unfilterable: Sequence[str], texts: Sequence[Mapping[str, Any]]) -> None:
        """What CreateIndex sets."""
        self.unfilterable = tuple(unfilterable)
        self.add_texts(texts)

    def add_texts(self, texts: Sequence[Mapping[str, Any]]) -> None:
        """Make keys searchable. Raises Refused."""
        if self.mode != "ENHANCED" and texts:
            raise Refused("full-text search requires ENHANCED mode")
        if len(self.texts) + len(texts) > TEXTS_MOST:
            raise Refused(f"at most {TEXTS_MOST} searchable keys")
        self.texts |= {one["metadataKey"]: one for one in texts}

    def delete_texts(self, keys: Sequence[str]) -> None:
        """Keys stop being searchable."""
        for key in keys:
            self.texts.pop(key, None)

    def description(self) -> dict[str, Any]:
        """The shape `Index` of the service model."""
        configuration: dict[str, Any] = {}
        if self.unfilterable:
            configuration["nonFilterableMetadataKeys"] = list(self.unfilterable)
        if self.texts:
            configuration["textSearchConfigurations"] = [
                {"metadataKey": key, "status": "ACTIVE"}
                | ({"language": one["language"]} if one.get("language") else {})
                for key, one in self.texts.items()
            ]
        shown: dict[str, Any] = {
            "vectorBucketName": self.index.vectorBucketName,
            "indexName": self.index.index_name,
            "indexArn": self.index.index_arn,
            "creationTime": self.created,
            "dataType": self.index.data_type,
            "dimension": self.index.dimension,
            "distanceMetric": self.index.distance_metric,
            "indexMode": self.mode,
        }
        return shown | ({"metadataConfiguration": configuration} if configuration else {})


def state_of(index: Index) -> IndexState:
    """The state of an index, made with it."""
    found: IndexState | None = vars(index).get(_STATE)
    if found is None:
        found = IndexState(index)
        setattr(index, _STATE, found)
    return found


def bucket_mode(bucket: VectorBucket) -> str:
    """CLASSIC or ENHANCED: what indexes made later are."""
    return str(vars(bucket).get(_MODE, "ENHANCED"))


def set_bucket_mode(bucket: VectorBucket, mode: str) -> None:
    """What indexes made from now on are."""
    setattr(bucket, _MODE, mode)


def stored_vector(key: str, values: Values, metadata: Mapping[str, Any]) -> Vector:
    """A vector as moto keeps it, with its numbers as an array beside."""
    vector = Vector(key, {"float32": values.tolist()}, metadata)
    setattr(vector, _VALUES, values)
    return vector


def values_of(vector: Vector) -> Values:
    """The numbers of a stored vector."""
    values: Values = vars(vector)[_VALUES]
    return values
