"""The emulated S3 Vectors answers in the shapes, within the bounds and with the errors of botocore's service model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.session import get_session
from botocore.validate import ParamValidator

from tests.s3vectors.clients import BUCKET
from tests.s3vectors.index_calls import Index

MODEL = get_session().get_service_model("s3vectors")
ARN = "arn:aws:s3vectors:us-east-1:123456789012:bucket/lodestore-vectors/index/"


def most_of(shape: str) -> int:
    """The upper bound that the model states for a shape."""
    return int(MODEL.shape_for(shape).metadata["max"])


def least_of(shape: str) -> int:
    """The lower bound."""
    return int(MODEL.shape_for(shape).metadata["min"])


def conforms(operation: str, answer: dict[str, Any]) -> bool:
    """Whether an answer has what the operation's output must have, and nothing else."""
    shape = MODEL.operation_model(operation).output_shape
    body = {name: value for name, value in answer.items() if name != "ResponseMetadata"}
    if shape is None or not shape.members:
        return not body
    # `$` as the value of a document is checked by nobody; everything else is.
    report = ParamValidator().validate(body, shape)
    assert not report.has_errors(), report.generate_report()
    return set(body) <= set(shape.members)


def refused(act: Callable[[], object]) -> tuple[str, int]:
    """The error's code and status; both must be of the operation's own errors."""
    with pytest.raises(ClientError) as raised:
        act()
    response = raised.value.response
    code, status = response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]
    shapes = {shape.name: shape for shape in MODEL.operation_model(raised.value.operation_name).error_shapes}
    assert shapes[code].metadata.get("error", {}).get("httpStatusCode", 400) == status
    return code, status


INVALID = ("ValidationException", 400)


def test_every_answer_has_the_shape_of_the_model(index: Index) -> None:
    client, place = index.client, index.place
    index.put({"a": [1, 0, 0], "b": [0, 1, 0]}, a={"kind": "fact", "text": "words"})
    texts = {"textSearchConfigurations": [{"metadataKey": "text", "language": "en"}]}
    changed = client.update_metadata_configuration(**place, add=texts)
    asks = {"returnDistance": True, "returnMetadata": True, "returnScores": True}
    answers = {
        "UpdateMetadataConfiguration": changed,
        "GetIndex": client.get_index(**place),
        "ListIndexes": client.list_indexes(vectorBucketName=BUCKET),
        "GetVectors": client.get_vectors(**place, keys=["a"], returnData=True, returnMetadata=True),
        "ListVectors": client.list_vectors(**place, maxResults=1, returnData=True, returnMetadata=True),
        "QueryVectors": index.query(
            [1, 0, 0], queryTexts=[{"metadataKey": "text", "text": "words"}], topK=1, **asks
        ),
        "PutVectors": client.put_vectors(**place, vectors=[{"key": "c", "data": {"float32": [0, 0, 1]}}]),
        "DeleteVectors": client.delete_vectors(**place, keys=["c"]),
        "UpdateIndexMode": client.update_index_mode(**place, indexMode="ENHANCED"),
        "DeleteIndex": client.delete_index(**place),
    }
    assert [name for name, answer in answers.items() if not conforms(name, answer)] == []


def test_creating_an_index_answers_with_its_arn(client: Any) -> None:
    place = {"vectorBucketName": BUCKET, "indexName": "named-by-arn"}
    made = client.create_index(**place, dataType="float32", dimension=2, distanceMetric="euclidean")
    assert conforms("CreateIndex", made)
    assert made["indexArn"] == f"{ARN}named-by-arn"
    assert client.get_index(indexArn=made["indexArn"])["index"]["dimension"] == 2


@pytest.mark.parametrize("dimension", [least_of("Dimension"), most_of("Dimension")])
def test_a_dimension_at_its_bounds_is_taken(client: Any, dimension: int) -> None:
    Index(client, f"dimension-{dimension}", dimension=dimension)


@pytest.mark.parametrize("dimension", [least_of("Dimension") - 1, most_of("Dimension") + 1])
def test_a_dimension_beyond_its_bounds_is_refused(client: Any, dimension: int) -> None:
    assert refused(lambda: Index(client, "beyond", dimension=dimension)) == INVALID


@pytest.mark.parametrize("name", ["ab", "x" * 64, "Upper", "under_score", "-begin"])
def test_a_name_that_no_index_may_have_is_refused(client: Any, name: str) -> None:
    assert refused(lambda: Index(client, name)) == INVALID


def test_an_index_is_made_once(index: Index) -> None:
    again = refused(lambda: Index(index.client, index.place["indexName"]))
    assert again == ("ConflictException", 409)


def test_what_is_not_there_is_not_found(client: Any) -> None:
    nowhere = {"vectorBucketName": BUCKET, "indexName": "no-such-index"}
    missing = ("NotFoundException", 404)
    vector = {"float32": [1.0]}
    assert refused(lambda: client.query_vectors(**nowhere, topK=1, queryVector=vector)) == missing
    assert refused(lambda: client.put_vectors(**nowhere, vectors=[{"key": "a", "data": vector}])) == missing
    assert refused(lambda: client.list_vectors(**nowhere)) == missing
    assert refused(lambda: client.delete_index(**nowhere)) == missing
    assert refused(lambda: client.list_indexes(vectorBucketName="no-such-bucket")) == missing


@pytest.mark.case("B67")
@pytest.mark.parametrize(
    ("shape", "call"),
    [
        ("PutVectorsInputList", lambda index, n: index.put({f"k{i}": [1, 0, i] for i in range(n)})),
        (
            "DeleteVectorsInputList",
            lambda index, n: index.client.delete_vectors(**index.place, keys=["k"] * n),
        ),
        ("GetVectorsInputList", lambda index, n: index.client.get_vectors(**index.place, keys=["k"] * n)),
        ("ListVectorsMaxResults", lambda index, n: index.client.list_vectors(**index.place, maxResults=n)),
        ("VectorKey", lambda index, n: index.put({"k" * n: [1, 0, 0]})),
    ],
)
def test_a_request_takes_as_much_as_the_model_says_and_no_more(
    index: Index, shape: str, call: Callable[[Index, int], object]
) -> None:
    call(index, most_of(shape))
    assert refused(lambda: call(index, most_of(shape) + 1)) == INVALID


@pytest.mark.parametrize("call", ["put_vectors", "delete_vectors", "get_vectors"])
def test_a_request_for_nothing_is_refused(index: Index, call: str) -> None:
    empty: dict[str, list[str]] = {"vectors": []} if call == "put_vectors" else {"keys": []}
    assert refused(lambda: getattr(index.client, call)(**index.place, **empty)) == INVALID


def test_a_query_needs_a_vector_or_a_text(index: Index) -> None:
    assert refused(lambda: index.query()) == INVALID
    assert refused(lambda: index.query([1, 0, 0], topK=least_of("TopK") - 1)) == INVALID
