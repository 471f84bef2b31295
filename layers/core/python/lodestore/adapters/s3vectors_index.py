"""A VectorIndex in a vector bucket of S3 Vectors.

Owns: every request to the service, its repeats, and what each answer means. Guarantees: a request is repeated on
throttling, 5xx and lost connections only, with growing pauses and chance in them; of a query no attempt begins
QUERY_SECONDS after the first, whatever the service does; causes hold the service's code and no content.
Gives up: more than 100 hits, which is the documented most.

Source: Amazon S3 API reference, "S3 Vectors", errors of each operation; user guide, "Best practices" (retry on 429).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from lodestore.adapters.s3_store_answers import FAILURES, UNSENT, cause_of, code_of, status_of
from lodestore.adapters.s3vectors_client import Response, S3VectorsClient, make_clients
from lodestore.adapters.s3vectors_requests import (
    TEXT_KEY,
    Unfit,
    filter_document,
    key_batches,
    put_batches,
)
from lodestore.adapters.store_failures import logged
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.vector_index import (
    HITS_MOST,
    KEYS_ON_A_PAGE,
    TEXT_CHARACTERS,
    Busy,
    Done,
    Failure,
    Filter,
    Hit,
    Hits,
    KeyPage,
    NewVector,
    NoIndex,
    Refused,
    Shape,
    Vector,
)

QUERY_SECONDS = 3.0
WRITE_SECONDS = 30.0
ATTEMPTS = 5
_PAUSE_SECONDS = 0.1
# No page of a query is ever empty, and 100 hits come in few; more is a service that repeats itself.
_PAGES_MOST = 100
_AGAIN = frozenset({408, 429, 500, 503})
_QUOTA = 402


def connect(bucket: str, clock: Clock, entropy: Entropy) -> S3VectorsIndex:
    """The indexes of a vector bucket. Sends nothing."""
    queries, others = make_clients()
    return S3VectorsIndex(queries, others, bucket, clock, entropy)


class S3VectorsIndex:
    """The indexes of one vector bucket. Thread-safe."""

    def __init__(
        self,
        queries: S3VectorsClient,
        others: S3VectorsClient,
        bucket: str,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._queries = queries
        self._others = others
        self._bucket = bucket
        self._clock = clock
        self._entropy = entropy

    def create(self, name: str, dim: int, *, text: bool) -> Done | Refused | Busy:
        unfilterable: dict[str, object] = {"nonFilterableMetadataKeys": [TEXT_KEY]}
        if text:
            unfilterable["textSearchConfigurations"] = [{"metadataKey": TEXT_KEY}]
        answer = self._send(
            self._others.create_index,
            {
                **self._place(name),
                "dataType": "float32",
                "dimension": dim,
                "distanceMetric": "cosine",
                "metadataConfiguration": unfilterable,
            },
        )
        if isinstance(answer, NoIndex):
            return Refused(logged("CreateIndex: the vector bucket is not there"))
        return answer if isinstance(answer, Refused | Busy) else Done()

    def describe(self, name: str) -> Shape | Failure:
        answer = self._send(self._others.get_index, self._place(name))
        if isinstance(answer, Failure):
            return answer
        index = answer["index"]
        texts = (index.get("metadataConfiguration") or {}).get("textSearchConfigurations") or ()
        searchable = any(one["metadataKey"] == TEXT_KEY for one in texts)
        return Shape(int(index["dimension"]), index["distanceMetric"] == "cosine", searchable)

    def drop(self, name: str) -> Done | Refused | Busy:
        answer = self._send(self._others.delete_index, self._place(name))
        return answer if isinstance(answer, Refused | Busy) else Done()

    def put(self, name: str, vectors: Sequence[NewVector]) -> Done | Failure:
        try:
            batches = list(put_batches(vectors))
        except Unfit as unfit:
            return Refused(logged(f"PutVectors was not sent: {unfit}"))
        return self._each(self._others.put_vectors, name, ({"vectors": batch} for batch in batches))

    def delete(self, name: str, keys: Iterable[str]) -> Done | Failure:
        return self._each(self._others.delete_vectors, name, ({"keys": batch} for batch in key_batches(keys)))

    def list(self, name: str, following: str | None = None) -> KeyPage | Failure:
        arguments = self._place(name) | {"maxResults": KEYS_ON_A_PAGE}
        if following is not None:
            arguments["nextToken"] = following
        answer = self._send(self._others.list_vectors, arguments)
        if isinstance(answer, Failure):
            return answer
        return KeyPage(tuple(str(one["key"]) for one in answer["vectors"]), answer.get("nextToken"))

    def query(
        self, name: str, vector: Vector, *, limit: int, admit: Filter | None, text: str | None = None
    ) -> Hits | Failure:
        if not 1 <= limit <= HITS_MOST:
            raise ValueError(f"limit must be 1 to {HITS_MOST}, not {limit}")
        arguments: dict[str, object] = self._place(name) | {
            "topK": limit,
            "queryVector": {"float32": vector.tolist()},
            "returnDistance": True,
        }
        if admit is not None:
            arguments["filter"] = filter_document(admit)
        if text:
            words = text[:TEXT_CHARACTERS]
            arguments |= {"queryTexts": [{"text": words, "metadataKey": TEXT_KEY}], "returnScores": True}
        return self._pages(arguments, limit)

    def _pages(self, arguments: Mapping[str, object], limit: int) -> Hits | Failure:
        """The answer's pages as one; they share one deadline."""
        until = self._clock.elapsed() + QUERY_SECONDS
        hits: list[Hit] = []
        token: dict[str, object] = {}
        for _ in range(_PAGES_MOST):
            answer = self._send(self._queries.query_vectors, {**arguments, **token}, until)
            if isinstance(answer, Failure):
                return answer
            hits.extend(map(_hit, answer["vectors"]))
            if len(hits) >= limit or not answer.get("nextToken"):
                break
            token = {"nextToken": answer["nextToken"]}
        return Hits(tuple(hits[:limit]))

    def _place(self, name: str) -> dict[str, object]:
        return {"vectorBucketName": self._bucket, "indexName": name}

    def _each(
        self, call: Callable[..., Response], name: str, requests: Iterator[dict[str, object]]
    ) -> Done | Failure:
        for request in requests:
            answer = self._send(call, self._place(name) | request)
            if isinstance(answer, Failure):
                return answer
        return Done()

    def _send(
        self, call: Callable[..., Response], arguments: Mapping[str, object], until: float | None = None
    ) -> Mapping[str, Any] | Failure:
        """One request, repeated while that helps. `until`: the clock's elapsed seconds."""
        until = self._clock.elapsed() + WRITE_SECONDS if until is None else until
        for attempt in range(ATTEMPTS):
            try:
                return call(**arguments)
            except FAILURES as failure:
                answer, cause = _meaning(failure), cause_of(failure)
            if answer is not None:
                return answer
            pause = _PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction())
            if attempt == ATTEMPTS - 1 or self._clock.elapsed() + pause >= until:
                return Busy(logged(cause))
            self._clock.pause(pause)
        raise AssertionError("the last attempt returns")


def _meaning(failure: Exception) -> Mapping[str, Any] | Failure | None:
    """What a failed request comes to; None: sent again it may succeed."""
    if not isinstance(failure, ClientError):
        return Refused(logged(cause_of(failure))) if isinstance(failure, UNSENT) else None
    status, code = status_of(failure), code_of(failure)
    if status in _AGAIN:
        return None
    if status == _QUOTA:
        return Busy(logged(cause_of(failure)))
    if code == "NotFoundException":
        return NoIndex()
    if code == "ConflictException":
        # CreateIndex alone says so, of an index that is there.
        return {}
    return Refused(logged(cause_of(failure)))


def _hit(answered: Mapping[str, Any]) -> Hit:
    distance = answered.get("distance", (answered.get("scores") or {}).get("vectorDistance"))
    return Hit(str(answered["key"]), None if distance is None else max(-1.0, min(1.0, 1 - float(distance))))
