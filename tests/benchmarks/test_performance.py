"""Every benchmark of `make bench` runs, at a size that proves nothing but that."""

from __future__ import annotations

import math
from functools import cache

import pytest

from benchmarks.performance import beside_one_index, cold_start, flat_writes, recall_work, round_trips
from benchmarks.performance.__main__ import FULL, QUICK, main
from benchmarks.performance.document import document
from benchmarks.performance.layouts import left_by_batches, most_segments
from benchmarks.performance.report import Bound, Report, Table, bounds_table
from lodestore.services.merge_plan import FAN_IN


@cache
def tiny(name: str) -> Report:
    """The benchmark of this name at a size that takes a second or few."""
    match name:
        case "writes":
            return flat_writes.measure(flat_writes.Sizes((10, 100), (100,), (60, 10)))
        case "round-trips":
            # Long beside what a busy machine lets a thread wait.
            return round_trips.measure(60, 2, delay=0.2)
        case "recall-work":
            return recall_work.measure((60,), 3)
        case "cold-start":
            return cold_start.measure(("indexer.handler",), 60, 1)
        case _:
            return beside_one_index.measure((20, 200), 1)


def held(report: Report) -> dict[str, bool]:
    return {bound.what: bound.holds for bound in report.bounds}


@pytest.mark.promise("P-FLAT-WRITES")
@pytest.mark.case("B96")
def test_writes_and_their_indexing_keep_their_bounds() -> None:
    report = tiny("writes")
    assert len(report.bounds) == 4
    assert all(held(report).values()), bounds_table([report]).text()


def test_a_warm_recall_is_as_deep_and_sends_as_much_as_is_stated() -> None:
    report = tiny("round-trips")
    counted = {what: holds for what, holds in held(report).items() if not what.startswith("wall clock")}
    assert len(counted) == 6
    assert all(counted.values()), bounds_table([report]).text()


def test_the_work_of_a_recall_is_measured_beside_theirs_and_by_step() -> None:
    report = tiny("recall-work")
    times, steps, memory = report.tables
    assert all(float(cell) >= 0 for row in times.rows for cell in row[2:])
    assert [len(row) for row in steps.rows] == [2 + len(recall_work.STEPS)] * 2
    assert [row[0] for row in memory.rows] == ["60"]


def test_a_cold_start_is_measured_and_the_indexer_loads_no_protocol_library() -> None:
    report = tiny("cold-start")
    assert held(report) == {"MCP libraries that indexer.handler loads": True}
    imports, _, first = report.tables
    assert float(imports.rows[0][2]) > float(imports.rows[0][1]) > 0
    assert int(first.rows[0][-1]) > 0


def test_one_index_object_moves_more_with_every_memory_and_ours_does_not() -> None:
    report = tiny("one-index-object")
    rows = [(row[1], int(row[3].replace(",", ""))) for row in report.tables[0].rows]
    theirs = [moved for name, moved in rows if name == "one index object, words"]
    ours = [moved for name, moved in rows if name == "Lodestore, words and vectors"]
    assert theirs[1] > 5 * theirs[0]
    assert ours[1] == ours[0]


def test_round_trips_are_the_longest_chain_of_requests_that_waited_for_each_other() -> None:
    assert round_trips.depth([]) == 0
    assert round_trips.depth([(0, 2), (0, 2), (1, 3)]) == 1
    assert round_trips.depth([(0, 2), (0, 5), (2, 4), (4, 6), (5, 7)]) == 3


def test_layouts_are_such_as_merging_leaves() -> None:
    for rows in (1, 100, 10_000, 100_000):
        for layout in (left_by_batches(rows, 100), most_segments(rows)):
            assert sum(layout) == rows
            tiers = [int(math.log(size, FAN_IN) + 1e-9) for size in layout]
            assert max(tiers.count(tier) for tier in tiers) < FAN_IN


def test_a_bound_that_is_missed_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("One", ("what", "value"), [("a", "1")])
    for bound, code in ((Bound("kept", 1, 1), 0), (Bound("missed", 1, 1, below=True), 1)):
        report = Report("Some", "Notes.", [table], [bound])
        monkeypatch.setitem(QUICK, "writes", lambda report=report: report)  # type: ignore[misc]
        assert main(["--quick", "--only", "writes"]) == code
    assert not Bound("not a number", math.nan, 1).holds


def test_only_a_full_run_is_written_down(capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["--write", "--quick"], ["--write", "--only", "writes"]):
        with pytest.raises(SystemExit):
            main(given)
    assert "full run" in capsys.readouterr().err
    assert list(FULL) == list(QUICK)


def test_the_document_says_of_every_table_how_it_was_measured() -> None:
    report = Report("Some", "Notes.", [Table("One", ("what", "value"), [("a", "1")])], [Bound("b", 1, 2)])
    page = document({"writes": report})
    assert "## Some\n\n*`python -m benchmarks.performance --only writes`: commit " in page
    assert "| b | 1 | ≤ 2 | ok |" in page
