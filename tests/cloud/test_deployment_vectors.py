"""The vector engine of a deployment: filled by the indexer, asked by recall, and lost; after `test_deployment`."""

from __future__ import annotations

from typing import Any

import pytest

from lodestore.format import keys
from tests.cloud.beside import Beside
from tests.cloud.conftest import shown
from tests.cloud.deployment import Answer, Caller, Deployment, eventually
from tests.cloud.timeline import Timeline
from tests.embedders.bedrock_service import TITAN

TENANT = "vector-co"
ADVICE, CAR = "the physician forbade cigarettes", "she purchased a used automobile"
# No word of the first stands in it.
ASKED = "doctor smoking"
INDEX = keys.vector_index(TENANT, f"bedrock/{TITAN}/1024")


@pytest.fixture(scope="module")
def caller(deployment: Deployment) -> Caller:
    """A client of a tenant that only these tests use."""
    return Caller(deployment.url, deployment.new_key(TENANT, "writer"), deployment.emulator)


@pytest.fixture(scope="module")
def both(caller: Caller) -> dict[str, str]:
    """The ids of two memories that the index shows, by content."""
    ids = {content: caller.call("remember", content=content)["id"] for content in (ADVICE, CAR)}
    for content, stored in ids.items():
        shown(caller, stored, content)
    return ids


def test_the_indexer_fills_the_vector_index_of_the_tenant(
    stand_ins: Beside, both: dict[str, str], timeline: Timeline
) -> None:
    with timeline.step("the indexer fills the tenant's vector index"):
        vectors = eventually("a vector of each memory", lambda: _filled(stand_ins, both))
    assert {one["key"].partition("~")[0] for one in vectors} == set(both.values())


def test_recall_is_answered_with_what_the_vector_index_holds(
    stand_ins: Beside, caller: Caller, both: dict[str, str], timeline: Timeline
) -> None:
    eventually("a vector of each memory", lambda: _filled(stand_ins, both))
    with timeline.step("recall by meaning, from the vector index"):
        answer = caller.recall(ASKED)
        assert (_first(answer), answer["freshness"]["degraded"]) == (both[ADVICE], False)
        # Only who asks the engine sees that its vectors were exchanged.
        one, other = stand_ins.held(INDEX)
        stand_ins.put(INDEX, [{**one, "data": other["data"]}, {**other, "data": one["data"]}])
        answer = caller.recall(ASKED)
        stand_ins.put(INDEX, [one, other])
    assert (_first(answer), answer["freshness"]["degraded"]) == (both[CAR], False)
    assert _first(caller.recall(ASKED)) == both[ADVICE]


@pytest.mark.promise("P-SILENT-NEVER")
def test_recall_goes_on_from_the_shards_and_says_so_once_the_vector_engine_is_gone(
    stand_ins: Beside, caller: Caller, both: dict[str, str], timeline: Timeline
) -> None:
    with timeline.step("the vector engine ends: recall goes on, degraded"):
        stand_ins.end_the_engine()
        answer = caller.recall(ASKED)
        assert (_first(answer), answer["freshness"]["degraded"]) == (both[ADVICE], True)
    with timeline.step("remember and recall without the vector engine"):
        content = "said when the engine was gone: the kiln is in Ghent"
        stored = caller.call("remember", content=content)
        assert stored["status"] == "stored"
        answer = caller.recall(content)
    assert (_first(answer), answer["freshness"]["degraded"]) == (stored["id"], True)


def _first(answer: Answer) -> str:
    return str(answer["hits"][0]["id"])


def _filled(stand_ins: Beside, memories: dict[str, str]) -> list[dict[str, Any]] | None:
    vectors = stand_ins.held(INDEX)
    return vectors if len(vectors) >= len(memories) else None
