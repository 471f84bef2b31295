"""What a read may cost is bounded, and an answer that a bound cut says so."""

from __future__ import annotations

import pytest

from lodestore.domain import limits
from lodestore.format import keys
from tests.services.world import Instance, World

OVER = 5


@pytest.fixture
def short_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TAIL_LIMIT", OVER - 2)


def _pending(world: World, contents: list[str]) -> None:
    """Memories that no indexer has seen, one newer than the other."""
    world.indexing = "off"
    writer = world.instance()
    for content in contents:
        writer.stored(content)
        world.clock.pause(1)


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER")
@pytest.mark.usefixtures("short_tail")
def test_of_a_tail_over_the_limit_the_newest_are_read_and_the_answer_says_that_it_is_cut(
    world: World,
) -> None:
    contents = [f"Office number {number} has a plant" for number in range(OVER)]
    _pending(world, contents)
    world.state.reset()
    answer = world.instance().call("recall", query="plant", limit=50)
    assert answer["freshness"]["tail_truncated"] is True  # type: ignore[index]
    assert sorted(hit["content"] for hit in answer["hits"]) == contents[2:]  # type: ignore[attr-defined]
    assert world.state.count("get", "memories/*") == OVER - 2


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.usefixtures("short_tail")
def test_a_tail_within_the_limit_is_not_said_to_be_cut(world: World) -> None:
    _pending(world, ["The office has a plant", "The hall has a plant"])
    answer = world.instance().call("recall", query="plant")
    assert answer["freshness"]["tail_truncated"] is False  # type: ignore[index]
    assert answer["count"] == 2


@pytest.mark.promise("P-BOUNDED", "P-SILENT-NEVER")
def test_an_object_larger_than_any_record_is_kept_in_no_memory_and_shown_by_nothing(
    world: World, acme: Instance
) -> None:
    acme.stored("The office has a plant", id="plant")
    world.state.inner.create(keys.memory("acme", "huge"), b" " * (limits.OBJECT_BYTES + 1))
    world.state.reset()
    assert acme.error("get_memory", id="huge")["error"] == "unavailable"
    acme.lodestore.indexing.run("acme", ["huge"])
    assert acme.listed() == ["plant"]
    received = [request.received for request in world.state.requests if request.key.endswith("huge.json")]
    assert received
    assert max(received) == 0
