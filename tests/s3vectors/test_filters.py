"""Filters match what the documentation of S3 Vectors says, in both modes, before the best are taken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.s3vectors.index_calls import Index
from tests.s3vectors.test_service_model import INVALID, refused

MOVIES: dict[str, dict[str, Any]] = {
    "doc": {"genre": "documentary", "year": 2020, "seen": True},
    "drama": {"genre": "drama", "year": 2019, "seen": False},
    "both": {"genre": ["documentary", "romance"], "year": 2021},
    "none": {"year": 1.5},
}


@pytest.fixture
def movies(index: Index) -> Index:
    index.put({key: [1, 0, n] for n, key in enumerate(MOVIES)}, **MOVIES)
    return index


@pytest.mark.parametrize("mode", [None, "ENHANCED"])
@pytest.mark.parametrize(
    ("document", "keys"),
    [
        ({"genre": "documentary"}, "doc both"),
        ({"genre": {"$eq": "documentary"}}, "doc both"),
        ({"genre": {"$ne": "drama"}}, "doc both none"),
        ({"year": {"$gt": 2019}}, "doc both"),
        ({"year": {"$gte": 2020}}, "doc both"),
        ({"year": {"$lt": 2020}}, "drama none"),
        ({"year": {"$lte": 2020}}, "doc drama none"),
        ({"year": {"$gte": 2019, "$lt": 2021}}, "doc drama"),
        ({"genre": {"$in": ["romance", "drama"]}}, "drama both"),
        ({"genre": {"$nin": ["romance", "drama"]}}, "doc none"),
        ({"genre": {"$exists": True}}, "doc drama both"),
        ({"genre": {"$exists": False}}, "none"),
        ({"seen": True}, "doc"),
        ({"seen": 1}, ""),
        ({"year": {"$gt": "2019"}}, INVALID),
        ({"$and": [{"genre": "documentary"}, {"year": {"$gt": 2020}}]}, "both"),
        ({"$or": [{"genre": "drama"}, {"seen": {"$exists": False}}]}, "drama both none"),
        ({"$and": [{"$or": [{"genre": "drama"}, {"seen": True}]}, {"year": 2020}]}, "doc"),
        ({"genre": {"$startsWith": "doc"}}, "doc both"),
        ({"genre": {"$in": []}}, INVALID),
        ({"$and": []}, INVALID),
        ({"$not": {"genre": "drama"}}, INVALID),
        ({"genre": {"$regex": "d"}}, INVALID),
        ({"genre": ["drama"]}, INVALID),
        ({"genre": {"$exists": 1}}, INVALID),
        ({"text": "a non-filterable key"}, INVALID),
        ({}, INVALID),
    ],
)
def test_a_filter_matches_what_it_is_said_to(
    movies: Index, mode: str | None, document: dict[str, Any], keys: object
) -> None:
    asked = {"filter": document} | ({"queryMode": mode} if mode else {})
    if keys == INVALID:
        assert refused(lambda: movies.found(**asked)) == INVALID
    else:
        assert movies.found(**asked) == str(keys).split()


@pytest.mark.case("B35")
def test_the_best_are_taken_of_what_matches(index: Index) -> None:
    nearer = {f"n{n}": [1.0, 0.0, n / 1e4] for n in range(200)}
    index.put(nearer | {"legal": [0.0, 1.0, 0.0]}, legal={"tags": ["legal"]})
    assert index.found(topK=1, filter={"tags": "legal"}) == ["legal"]
