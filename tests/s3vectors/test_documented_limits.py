"""What the documentation of S3 Vectors says of vectors, metadata and queries holds in the emulation.

Source: Amazon S3 User Guide, "Limitations and restrictions", "Vectors", "Metadata filtering", "Querying vectors".
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.s3vectors.clients import BUCKET
from tests.s3vectors.index_calls import Index
from tests.s3vectors.test_service_model import INVALID, refused


@pytest.mark.case("B67")
@pytest.mark.parametrize(
    ("metadata", "taken"),
    [
        ({"kind": "x" * (2048 - len('{"kind":""}'))}, True),
        ({"kind": "x" * (2049 - len('{"kind":""}'))}, False),
        ({"kind": "年" * 700}, False),
        ({"text": "x" * 39_000}, True),
        ({"text": "x" * 41_000}, False),
        ({f"k{n}": n for n in range(50)}, True),
        ({f"k{n}": n for n in range(51)}, False),
        ({"list": ["a", "b"], "flag": True, "number": 1.5}, True),
        ({"nested": {"a": 1}}, False),
    ],
)
def test_metadata_is_taken_up_to_its_bytes_and_keys(
    index: Index, metadata: dict[str, Any], taken: bool
) -> None:
    if taken:
        index.put({"a": [1, 0, 0]}, a=metadata)
        kept = index.client.get_vectors(**index.place, keys=["a"], returnMetadata=True)["vectors"]
        assert kept[0]["metadata"] == metadata
    else:
        assert refused(lambda: index.put({"a": [1, 0, 0]}, a=metadata)) == INVALID


@pytest.mark.parametrize("values", [[0, 0, 0], [1, 0], [1, 0, 0, 0], [1e39, 0, 0]])
def test_a_vector_that_has_no_direction_or_another_dimension_is_refused(
    index: Index, values: list[float]
) -> None:
    assert refused(lambda: index.put({"a": values})) == INVALID
    assert refused(lambda: index.query(values)) == INVALID


def test_one_bad_vector_refuses_all_of_its_request(index: Index) -> None:
    assert refused(lambda: index.put({"good": [1, 0, 0], "bad": [0, 0, 0]})) == INVALID
    assert index.client.list_vectors(**index.place)["vectors"] == []


def test_a_zero_vector_has_a_euclidean_distance(client: Any) -> None:
    index = Index(client, "euclidean-zero", metric="euclidean")
    index.put({"a": [0, 0, 0]})
    assert index.query([3, 4, 0], returnDistance=True)["vectors"][0]["distance"] == 5


def test_distances_are_of_the_metric_and_in_order(index: Index) -> None:
    index.put({"far": [-1, 0, 0], "near": [5, 0, 0], "half": [1, 1, 0]})
    answer = index.query([1, 0, 0], returnDistance=True)
    assert answer["distanceMetric"] == "cosine"
    found = {hit["key"]: hit["distance"] for hit in answer["vectors"]}
    assert list(found) == ["near", "half", "far"]
    assert list(found.values()) == pytest.approx([0, 1 - math.sqrt(0.5), 2], abs=1e-6)


def test_numbers_are_kept_as_float32(index: Index) -> None:
    index.put({"a": [0.1, 0, 0]})
    kept = index.client.get_vectors(**index.place, keys=["a"], returnData=True)["vectors"][0]
    assert kept["data"]["float32"][0] == pytest.approx(0.1, abs=1e-8)
    assert kept["data"]["float32"][0] != 0.1


def test_a_put_takes_the_place_of_the_vector_with_its_key(index: Index) -> None:
    index.put({"a": [1, 0, 0]}, a={"kind": "old"})
    index.put({"a": [0, 1, 0]}, a={"kind": "new"})
    assert index.found(filter={"kind": "old"}) == []
    assert index.found(filter={"kind": "new"}) == ["a"]


def test_top_k_is_at_most_100_and_its_pages_are_followed_by_token(index: Index) -> None:
    index.put({f"k{n:03}": [1, 0, n] for n in range(150)})
    assert refused(lambda: index.query([1, 0, 0], topK=101)) == INVALID
    keys: list[str] = []
    token: dict[str, str] = {}
    while True:
        answer = index.query([1, 0, 0], topK=100, **token)
        keys += [hit["key"] for hit in answer["vectors"]]
        if "nextToken" not in answer:
            break
        token = {"nextToken": answer["nextToken"]}
    assert keys == [f"k{n:03}" for n in range(100)]
    assert token, "the answer had several pages"
    assert refused(lambda: index.query([1, 0, 0], nextToken="of-nobody")) == INVALID


def test_a_list_comes_in_pages_and_segments_without_a_gap(index: Index) -> None:
    index.put({f"k{n:03}": [1, 0, n] for n in range(120)})
    pages = index.client.get_paginator("list_vectors")
    whole = [one["key"] for page in pages.paginate(**index.place, maxResults=50) for one in page["vectors"]]
    assert sorted(whole) == [f"k{n:03}" for n in range(120)]
    cut = [
        one["key"]
        for part in range(4)
        for page in pages.paginate(**index.place, segmentCount=4, segmentIndex=part)
        for one in page["vectors"]
    ]
    assert sorted(cut) == sorted(whole)
    lonely = {"segmentCount": 4}
    assert refused(lambda: index.client.list_vectors(**index.place, **lonely)) == INVALID


def test_indexes_are_listed_by_prefix_in_pages(client: Any) -> None:
    for name in ("list-a", "list-b", "list-c"):
        Index(client, name)
    pages = client.get_paginator("list_indexes").paginate(
        vectorBucketName=BUCKET, prefix="list-", maxResults=2
    )
    assert [[one["indexName"] for one in page["indexes"]] for page in pages] == [
        ["list-a", "list-b"],
        ["list-c"],
    ]


def test_an_enhanced_index_searches_texts_and_fuses_both(index: Index) -> None:
    texts = [{"metadataKey": "text"}]
    index.put(
        {"word": [0, 1, 0], "near": [1, 0, 0]}, word={"text": "peanut allergy"}, near={"text": "other words"}
    )
    asked = [{"metadataKey": "text", "text": "peanut"}]
    assert refused(lambda: index.query(queryTexts=asked)) == INVALID, "not searchable yet"
    index.client.update_metadata_configuration(**index.place, add={"textSearchConfigurations": texts})
    only = index.query(queryTexts=asked, returnScores=True)["vectors"]
    assert [hit["key"] for hit in only] == ["word"]
    assert set(only[0]["scores"]) == {"bm25Scores"}
    both = index.query([1, 0, 0.1], queryTexts=asked, returnScores=True)["vectors"]
    assert [hit["key"] for hit in both] == ["word", "near"], (
        "2 / 62 and 1 / 61: found by both legs comes first"
    )
    assert both[0]["scores"]["fused"] == pytest.approx(1 / 61 + 1 / 62)
    twice = [*asked, *asked]
    assert refused(lambda: index.query(queryTexts=twice)) == INVALID
    plain = index.query([1, 0, 0], returnScores=True)["vectors"]
    assert all("scores" not in hit for hit in plain), "scores come with texts only"


def test_a_classic_index_has_no_texts_and_can_become_enhanced(client: Any) -> None:
    bucket = "lodestore-classic"
    client.create_vector_bucket(vectorBucketName=bucket)
    client.put_vector_bucket_default_index_mode(vectorBucketName=bucket, defaultIndexMode="CLASSIC")
    place = {"vectorBucketName": bucket, "indexName": "classic"}
    client.create_index(**place, dataType="float32", dimension=1, distanceMetric="cosine")
    texts = {"textSearchConfigurations": [{"metadataKey": "text"}]}
    assert refused(lambda: client.update_metadata_configuration(**place, add=texts)) == INVALID
    client.update_index_mode(**place, indexMode="ENHANCED")
    assert client.get_index(**place)["index"]["indexMode"] == "ENHANCED"
    client.update_metadata_configuration(**place, add=texts)
    query = {"queryVector": {"float32": [1.0]}, "topK": 1}
    assert refused(lambda: client.query_vectors(**place, **query, queryMode="CLASSIC")) == INVALID
