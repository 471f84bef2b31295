"""Writers in several processes at once lose nothing, and a fresh process sees what another was just answered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from local_runner.child_server import child_server
from lodestore.services.events import event_source, parse_batch
from tests.stores.fixtures import PLAIN_BUCKET, buckets_of, fresh_prefix, seaweedfs_server
from tests.stores.servers import Server
from tests.system.processes import (
    RECORDED_SERVER,
    Answer,
    RecordedEvents,
    ToolProcess,
    fresh_call,
    tool_process,
    tool_processes,
    variables,
)

__all__ = ["seaweedfs_server"]

PROCESSES = 5
DISTINCT = 10
IDENTICAL = 4
SAME = "Standup is at 09:15"
CITIES = (
    "Oslo Cairo Lima Quito Perth Osaka Turin Delhi Basel Accra Hanoi Malmo Tunis Porto Sofia Minsk Lagos Dakar Davos"
    " Haifa Aspen Miami Dover Leeds Derby Essen Ghent Bruges Namur Nantes Rennes Lyon Nice Dijon Tours Metz Brest Caen"
    " Rouen Reims Lille Arles Autun Bern Chur Zug Sion Biel Genk Hasselt"
).split()


@pytest.fixture
def folder(tmp_path: Path) -> Mapping[str, str]:
    return variables(tmp_path / "data")


@pytest.fixture
def seaweedfs_store(tmp_path: Path, seaweedfs_server: Server) -> dict[str, str]:
    buckets_of(seaweedfs_server)
    store = f"s3://{PLAIN_BUCKET}/{fresh_prefix()}several"
    return variables(tmp_path / "unused", STORE=store, **seaweedfs_server.environment)


def all_written_at_once(environment: Mapping[str, str]) -> list[Answer]:
    """50 distinct and 20 identical memories from five processes; every answer."""
    with tool_processes(PROCESSES, environment) as processes:
        for number, process in enumerate(processes):
            own = CITIES[number * DISTINCT : (number + 1) * DISTINCT]
            texts = [f"The office in {city} has a code of its own" for city in own] + [SAME] * IDENTICAL
            process.send(*(("remember", {"content": text}) for text in texts))
        return [answer for process in processes for answer in process.receive()]


def check_51_memories(environment: Mapping[str, str]) -> None:
    answers = all_written_at_once(environment)
    assert {answer.get("status") for answer in answers} == {"stored", "already_known"}
    assert sum(answer["status"] == "stored" for answer in answers) == 51
    same = {answer["id"] for answer in answers if answer["content"] == SAME}
    assert len(same) == 1
    with tool_process(environment) as reader:
        assert reader.call("list_memories", limit=100)["total"] == 51
        reader.send(*(("recall", {"query": f"office in {city}", "limit": 1}) for city in CITIES))
        found = [[hit["content"] for hit in answer["hits"]] for answer in reader.receive()]
        assert found == [[f"The office in {city} has a code of its own"] for city in CITIES]
        assert found_by(reader, "standup") == [SAME]


def found_by(reader: ToolProcess, query: str) -> list[str]:
    """What is found for sure, best first."""
    return [hit["content"] for hit in reader.call("recall", query=query, mode="precision")["hits"]]


@pytest.mark.case("B12")
@pytest.mark.case("B16")
@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_50_distinct_and_20_identical_memories_from_five_processes_are_51_on_a_folder(
    folder: Mapping[str, str],
) -> None:
    check_51_memories(folder)


@pytest.mark.case("B12")
@pytest.mark.case("B16")
@pytest.mark.promise("P-NO-LOST-UPDATE")
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_50_distinct_and_20_identical_memories_from_five_processes_are_51_on_seaweedfs(
    seaweedfs_store: Mapping[str, str],
) -> None:
    check_51_memories(seaweedfs_store)


def test_a_server_over_a_bucket_hears_of_changes_by_their_markers(
    seaweedfs_store: dict[str, str], tmp_path: Path
) -> None:
    events = RecordedEvents(tmp_path)
    environment = {**seaweedfs_store, "RECORDED": str(events.folder), "INDEX_EVERY": "0.05"}
    with child_server(environment, RECORDED_SERVER) as server:
        events.wait_for("http", 1)
        with tool_process(seaweedfs_store) as writer:
            stored = writer.call("remember", content="Nora leads the Oslo migration")
        (batch, *_) = events.wait_for("changes", 1)
        assert server.process.poll() is None
    (notice,) = parse_batch(batch, event_source(environment["STORE"]))
    assert [(name.tenant, name.id) for name in notice.names] == [("default", stored["id"])]


@pytest.mark.case("B81")
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_what_one_process_remembered_a_fresh_one_recalls_lists_and_gets(folder: Mapping[str, str]) -> None:
    stored = fresh_call(folder, "remember", content="Nora leads the Oslo migration")
    with tool_process(folder) as reader:
        assert [hit["id"] for hit in reader.call("recall", query="who leads Oslo?")["hits"]] == [stored["id"]]
    assert fresh_call(folder, "list_memories")["total"] == 1
    assert fresh_call(folder, "get_memory", id=stored["id"])["memory"]["content"].startswith("Nora leads")


@pytest.mark.case("B81")
@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_what_one_process_updated_superseded_or_forgot_a_fresh_one_sees_so(folder: Mapping[str, str]) -> None:
    with tool_process(folder) as writer:
        updated = writer.call("remember", content="The cut-over is on 12 March")["id"]
        replaced = writer.call("remember", content="The budget is 10,000")["id"]
        forgotten = writer.call("remember", content="Nora's badge number is 4471")["id"]
    with tool_process(folder) as writer:
        writer.call("update_memory", id=updated, content="The cut-over is on 19 March")
        writer.call("remember", content="The budget is 12,000", supersedes=[replaced])
        assert writer.call("forget", id=forgotten)["deleted"] is True
    with tool_process(folder) as reader:
        assert found_by(reader, "cut-over March") == ["The cut-over is on 19 March"]
        assert found_by(reader, "what is the budget?") == ["The budget is 12,000"]
        everything = reader.call("recall", query="badge number", mode="exploratory", min_score=0)["hits"]
        assert {hit["content"] for hit in everything} <= {
            "The cut-over is on 19 March",
            "The budget is 12,000",
        }
        assert reader.call("list_memories")["total"] == 2
        assert reader.call("get_memory", id=forgotten)["error"] == "not_found"
