"""What every vector index promises: the one in memory, and S3 Vectors on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lodestore.adapters.s3vectors_index import S3VectorsIndex
from lodestore.ports.vector_index import (
    HITS_MOST,
    AllOf,
    AnyOf,
    Attributes,
    Condition,
    Done,
    Filter,
    Hits,
    KeyPage,
    NewVector,
    NoIndex,
    Refused,
    Shape,
    VectorIndex,
)
from tests.s3vectors.clients import BUCKET, make_client, running
from tests.s3vectors.memory_index import MemoryIndex
from tests.services.world import FakeClock, SeededEntropy

NAME = "mindex"
OURS = Condition("kind", "in", ("fact", "event"))


@pytest.fixture(params=["memory", "s3vectors"])
def engine(request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    if request.param == "memory":
        yield MemoryIndex()
        return
    with running() as endpoint:
        client: Any = make_client(endpoint)
        yield S3VectorsIndex(client, client, BUCKET, FakeClock(), SeededEntropy(1))


@pytest.fixture
def index(engine: VectorIndex) -> VectorIndex:
    """The engine with an index of three dimensions."""
    assert engine.create(NAME, 3, text=False) == Done()
    return engine


def at(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def new(key: str, *numbers: float, **attributes: Any) -> NewVector:
    return NewVector(key, at(*numbers), attributes)


def found(index: VectorIndex, admit: Filter | None = None, limit: int = 10) -> list[str]:
    answer = index.query(NAME, at(1, 0, 0), limit=limit, admit=admit)
    assert isinstance(answer, Hits), answer
    return [hit.key for hit in answer.hits]


def keys(index: VectorIndex) -> set[str]:
    seen: set[str] = set()
    page = index.list(NAME)
    while isinstance(page, KeyPage):
        seen.update(page.keys)
        if page.following is None:
            return seen
        page = index.list(NAME, page.following)
    raise AssertionError(page)


def test_an_index_is_made_once_and_keeps_its_shape(engine: VectorIndex) -> None:
    assert engine.create(NAME, 3, text=False) == Done()
    assert engine.create(NAME, 8, text=True) == Done()
    assert engine.describe(NAME) == Shape(3, True, False)


def test_what_is_put_is_found_nearest_first_with_its_cosine(index: VectorIndex) -> None:
    assert index.put(NAME, [new("far", -2, 0, 0), new("near", 3, 0, 0), new("half", 1, 1, 0)]) == Done()
    answer = index.query(NAME, at(1, 0, 0), limit=3, admit=None)
    assert isinstance(answer, Hits)
    assert [hit.key for hit in answer.hits] == ["near", "half", "far"]
    assert [hit.cosine for hit in answer.hits] == pytest.approx([1, np.sqrt(0.5), -1], abs=1e-6)


def test_a_put_replaces_and_a_delete_takes_away(index: VectorIndex) -> None:
    index.put(NAME, [new("a", 1, 0, 0), new("b", 0, 1, 0)])
    index.put(NAME, [new("a", 0, 0, 1)])
    assert found(index, limit=1) != ["a"] or keys(index) == {"a", "b"}
    assert index.delete(NAME, ["a", "never-there"]) == Done()
    assert keys(index) == {"b"}


def test_any_number_of_vectors_goes_in_and_out(index: VectorIndex) -> None:
    many = [new(f"k{n:04}", 1, n, 0) for n in range(1_203)]
    assert index.put(NAME, many) == Done()
    assert len(keys(index)) == 1_203
    assert found(index, limit=HITS_MOST) == [f"k{n:04}" for n in range(HITS_MOST)]
    assert index.delete(NAME, (f"k{n:04}" for n in range(1_200))) == Done()
    assert keys(index) == {"k1200", "k1201", "k1202"}


@pytest.mark.case("B35")
@pytest.mark.parametrize(
    ("admit", "expected"),
    [
        (Condition("kind", "eq", "fact"), {"a", "c"}),
        (Condition("kind", "in", ("fact", "event")), {"a", "b", "c"}),
        (Condition("tags", "eq", "x"), {"a", "b"}),
        (AllOf((Condition("tags", "eq", "x"), Condition("tags", "eq", "y"))), {"b"}),
        (Condition("at", "gt", 1_773_019_800_000), {"b"}),
        (Condition("at", "gte", 1_773_019_800_000), {"a", "b"}),
        (AllOf((Condition("at", "lt", 1_773_019_800_001), Condition("at", "lte", 1_773_019_800_000))), {"a"}),
        (
            AllOf((OURS, AnyOf((Condition("at", "absent"), Condition("at", "gt", 1_773_019_800_000))))),
            {"b", "c"},
        ),
        (AllOf((Condition("at", "present"), Condition("kind", "eq", "event"))), {"b"}),
        (Condition("kind", "eq", "none such"), set()),
    ],
)
def test_a_filter_lets_in_what_it_says(index: VectorIndex, admit: Filter, expected: set[str]) -> None:
    attributes: dict[str, Attributes] = {
        "a": {"kind": "fact", "tags": ("x",), "at": 1_773_019_800_000},
        "b": {"kind": "event", "tags": ("x", "y"), "at": 1_773_019_800_001},
        "c": {"kind": "fact"},
    }
    index.put(NAME, [NewVector(key, at(1, n, 0), attributes[key]) for n, key in enumerate(attributes)])
    nearer = [new(f"other{n}", 1, 0, n / 1e3, kind="other") for n in range(HITS_MOST)]
    index.put(NAME, nearer)
    assert set(found(index, admit)) == expected


@pytest.mark.parametrize("numbers", [(0, 0, 0), (np.nan, 0, 0), (np.inf, 0, 0), (1, 0)])
def test_a_vector_without_direction_or_of_another_dimension_is_refused_whole(
    index: VectorIndex, numbers: tuple[float, ...]
) -> None:
    assert isinstance(index.put(NAME, [new("good", 1, 0, 0), new("bad", *numbers)]), Refused)
    assert keys(index) == set()


def test_a_query_of_another_dimension_is_refused(index: VectorIndex) -> None:
    assert isinstance(index.query(NAME, at(1, 0), limit=1, admit=None), Refused)


def test_without_an_index_every_operation_says_so(engine: VectorIndex) -> None:
    assert engine.put(NAME, [new("a", 1, 0, 0)]) == NoIndex()
    assert engine.delete(NAME, ["a"]) == NoIndex()
    assert engine.list(NAME) == NoIndex()
    assert engine.describe(NAME) == NoIndex()
    assert engine.query(NAME, at(1, 0, 0), limit=1, admit=None) == NoIndex()
    assert engine.drop(NAME) == Done()


def test_a_dropped_index_is_gone_with_its_vectors(index: VectorIndex) -> None:
    index.put(NAME, [new("a", 1, 0, 0)])
    assert index.drop(NAME) == Done()
    assert index.list(NAME) == NoIndex()
    index.create(NAME, 3, text=False)
    assert keys(index) == set()


def test_text_finds_what_no_vector_is_near_to_where_it_is_turned_on(engine: VectorIndex) -> None:
    engine.create(NAME, 3, text=True)
    assert engine.describe(NAME) == Shape(3, True, True)
    filler = [NewVector(f"near{n}", at(1, 0, n / 100), {}, "nothing of it") for n in range(20)]
    engine.put(NAME, [*filler, NewVector("said", at(-1, 0, 0), {}, "the peanut allergy")])
    answer = engine.query(NAME, at(1, 0, 0), limit=10, admit=None, text="peanut")
    assert isinstance(answer, Hits)
    by_key = {hit.key: hit.cosine for hit in answer.hits}
    assert by_key["said"] == pytest.approx(-1, abs=1e-6)


def test_more_hits_than_the_engine_gives_are_not_asked_for(index: VectorIndex) -> None:
    with pytest.raises(ValueError, match="101"):
        index.query(NAME, at(1, 0, 0), limit=HITS_MOST + 1, admit=None)
