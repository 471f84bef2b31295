"""The operations of S3 Vectors over moto's own buckets and indexes, with what moto lacks.

Owns: `ExactResponse`, and `install`, which puts it in the place of moto's. Guarantees: QueryVectors, both index modes,
full-text keys, paging of lists and queries, and the refusals of the documentation; one operation at a time, so a check
and its write are one. Source: botocore's service model `s3vectors` 2025-07-15; Amazon S3 User Guide, "S3 Vectors".
Gives up: rates, quotas, encryption and IAM; ListVectors in the order of keys, where the service promises none.
"""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, EmptyResult
from moto.s3vectors import urls
from moto.s3vectors.models import Index, Vector, VectorBucket
from moto.s3vectors.responses import S3VectorsResponse

from tests.s3vectors import limits
from tests.s3vectors.indexes import IndexState, bucket_mode, set_bucket_mode, state_of, stored_vector
from tests.s3vectors.limits import Refused
from tests.s3vectors.query import answer_query

ADDED = ("QueryVectors", "UpdateIndexMode", "UpdateMetadataConfiguration", "PutVectorBucketDefaultIndexMode")
_Value = TypeVar("_Value")
_LOCK = threading.RLock()


class ValidationException(ServiceException):
    """400."""

    code = "ValidationException"


class ConflictException(ServiceException):
    """409."""

    code = "ConflictException"


def install() -> None:
    """Answer the paths of S3 Vectors from here, in every `mock_aws` and in the server. Safe to repeat."""
    for path in (*urls.url_paths, *(f"{{0}}/{name}$" for name in ADDED)):
        urls.url_paths[path] = ExactResponse.dispatch


class ExactResponse(S3VectorsResponse):
    """moto's response, checked and completed."""

    def call_action(self) -> Any:
        with _LOCK:
            return super().call_action()

    def create_index(self) -> ActionResult:
        configuration = self._get_param("metadataConfiguration") or {}
        unfilterable = configuration.get("nonFilterableMetadataKeys") or []
        name, dimension = self._get_param("indexName"), self._get_param("dimension")
        _refusing(lambda: limits.check_index(name, dimension, unfilterable))
        bucket = self._bucket()
        if any(index.index_name == name for index in bucket.indexes.values()):
            raise ConflictException("An index with the specified name already exists")
        texts = configuration.get("textSearchConfigurations") or []
        if texts and bucket_mode(bucket) != "ENHANCED":
            raise ValidationException("full-text search requires ENHANCED mode")
        index = Index(bucket, name, dimension, "float32", self._get_param("distanceMetric"))
        bucket.indexes[index.index_arn] = index
        state_of(index).configure(unfilterable, texts)
        return ActionResult({"indexArn": index.index_arn})

    def get_index(self) -> ActionResult:
        return ActionResult({"index": state_of(self._index()).description()})

    def list_indexes(self) -> ActionResult:
        prefix = self._get_param("prefix") or ""
        found = [index for index in self._bucket().indexes.values() if index.index_name.startswith(prefix)]
        most = self._get_param("maxResults") or limits.LIST_DEFAULT
        page, token = _page(sorted(found, key=lambda index: index.index_name), most, self._token("list"))
        fields = ("vectorBucketName", "indexName", "indexArn", "creationTime")
        shown = [{name: state_of(index).description()[name] for name in fields} for index in page]
        return ActionResult({"indexes": shown} | _next("list", token))

    def put_vectors(self) -> ActionResult:
        index, vectors = self._index(), self._get_param("vectors") or []
        if len(self.body or b"") > limits.REQUEST_BYTES:
            raise ValidationException(f"Request payload may have {limits.REQUEST_BYTES} bytes")
        checked = _refusing(lambda: _checked(state_of(index), vectors))
        index.vectors.update({vector.key: vector for vector in checked})
        return EmptyResult()

    def get_vectors(self) -> ActionResult:
        keys = self._keys(limits.GET_MOST)
        index = self._index()
        return ActionResult(
            {"vectors": [self._shown(index.vectors[key]) for key in keys if key in index.vectors]}
        )

    def delete_vectors(self) -> ActionResult:
        keys, index = self._keys(limits.DELETE_MOST), self._index()
        for key in keys:
            index.vectors.pop(key, None)
        return EmptyResult()

    def list_vectors(self) -> ActionResult:
        most = self._get_param("maxResults") or limits.LIST_DEFAULT
        _refusing(lambda: limits.check_count("maxResults", most, limits.LIST_MOST))
        count, part = self._get_param("segmentCount"), self._get_param("segmentIndex")
        if (count is None) is not (part is None) or (count is not None and not 0 <= part < count <= 16):
            raise ValidationException("segmentCount (1 to 16) and segmentIndex (below it) go together")
        vectors = self._index().vectors
        keys = sorted(key for key in vectors if count is None or zlib.crc32(key.encode()) % count == part)
        begin = self._token(f"vectors {count} {part}")
        shown, size = [], 0
        for key in keys[begin : begin + most]:
            shown.append(self._shown(vectors[key]))
            size += len(json.dumps(shown[-1]))
            if size > limits.LIST_BYTES:
                break
        token = begin + len(shown) if begin + len(shown) < len(keys) else None
        return ActionResult({"vectors": shown} | _next(f"vectors {count} {part}", token))

    def query_vectors(self) -> ActionResult:
        index = self._index()
        names = ("queryVector", "queryTexts", "topK", "filter", "queryMode")
        asked = {name: self._get_param(name) for name in names}
        shown = _refusing(lambda: answer_query(state_of(index), asked))
        kept = [hit.shown(self._asks) for hit in shown]
        page, token = _page(kept, state_of(index).page, self._token("query"))
        answer: dict[str, Any] = {"vectors": page, "distanceMetric": index.distance_metric}
        return ActionResult(answer | _next("query", token))

    def update_index_mode(self) -> ActionResult:
        state = state_of(self._index())
        if self._get_param("indexMode") == "CLASSIC" and bucket_mode(state.index._bucket) == "ENHANCED":
            raise ValidationException("an ENHANCED index can't go back to CLASSIC")
        state.mode = self._get_param("indexMode")
        return EmptyResult()

    def update_metadata_configuration(self) -> ActionResult:
        add, delete = self._get_param("add"), self._get_param("delete")
        if (add is None) is (delete is None):
            raise ValidationException("Specify either add or delete")
        state = state_of(self._index())
        if add is not None:
            _refusing(lambda: state.add_texts(add.get("textSearchConfigurations") or []))
        else:
            state.delete_texts([one["metadataKey"] for one in delete["textSearchConfigurations"]])
        return ActionResult({"indexArn": state.index.index_arn})

    def put_vector_bucket_default_index_mode(self) -> ActionResult:
        set_bucket_mode(self._bucket(), self._get_param("defaultIndexMode"))
        return EmptyResult()

    def _bucket(self) -> VectorBucket:
        name, arn = self._get_param("vectorBucketName"), self._get_param("vectorBucketArn")
        if bool(name) is bool(arn):
            raise ValidationException("Must specify either vectorBucketName or vectorBucketArn but not both")
        return self.s3vectors_backend.get_vector_bucket(name, arn)

    def _index(self) -> Index:
        names = (self._get_param("vectorBucketName"), self._get_param("indexName"))
        arn = self._get_param("indexArn")
        self._validate_index_params(arn, names[1], names[0])
        if arn:
            # moto splits the ARN where there are two slashes more.
            names = (arn.rpartition("bucket/")[2].split("/")[0], arn.rpartition("/")[2])
        return self.s3vectors_backend.get_index(*names, "")

    def _keys(self, most: int) -> list[str]:
        keys = self._get_param("keys") or []
        _refusing(lambda: limits.check_count("keys", len(keys), most))
        return _refusing(lambda: [limits.check_key(key) for key in keys])

    def _asks(self, name: str) -> bool:
        return bool(self._get_bool_param(name, False))

    def _shown(self, vector: Vector) -> dict[str, Any]:
        data = {"data": vector.data} if self._asks("returnData") else {}
        return (
            {"key": vector.key}
            | data
            | ({"metadata": vector.metadata} if self._asks("returnMetadata") else {})
        )

    def _token(self, purpose: str) -> int:
        """Where the page begins that the request's token asks for."""
        token = self._get_param("nextToken")
        if not token:
            return 0
        try:
            named, _, begin = base64.urlsafe_b64decode(token).decode().rpartition(" ")
            if named == purpose:
                return int(begin)
        except ValueError:
            pass
        raise ValidationException("Invalid nextToken")


def _checked(state: IndexState, vectors: Sequence[dict[str, Any]]) -> list[Vector]:
    limits.check_count("vectors", len(vectors), limits.PUT_MOST)
    index = state.index
    found: list[Vector] = []
    for given in vectors:
        key, metadata = limits.check_key(given["key"]), given.get("metadata") or {}
        try:
            values = limits.read_vector(given["data"], index.dimension, index.distance_metric)
            limits.check_metadata(metadata, state.unfilterable)
        except Refused as refused:
            raise Refused(f"Invalid record for key '{key}': {refused}") from None
        found.append(stored_vector(key, values, metadata))
    return found


def _page(items: Sequence[Any], most: int, begin: int) -> tuple[list[Any], int | None]:
    end = begin + most
    return list(items[begin:end]), end if end < len(items) else None


def _next(purpose: str, begin: int | None) -> dict[str, str]:
    if begin is None:
        return {}
    return {"nextToken": base64.urlsafe_b64encode(f"{purpose} {begin}".encode()).decode()}


def _refusing(act: Callable[[], _Value]) -> _Value:
    try:
        return act()
    except Refused as refused:
        raise ValidationException(str(refused)) from None
