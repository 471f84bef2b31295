"""docs/performance.md states the tables and bounds that `make bench` prints."""

from __future__ import annotations

import re

from benchmarks.performance import cold_start, recall_work
from benchmarks.performance.__main__ import DOCUMENT, FULL
from benchmarks.performance.report import Bound
from tests.benchmarks.test_performance import tiny

_SIZED = re.compile(r"\d[\d,.]*")


def cells(line: str) -> tuple[str, ...]:
    """The cells of a line of a markdown table."""
    return tuple(cell.strip() for cell in line.strip("| ").split(" | "))


def unsized(text: str) -> str:
    """The text without the sizes that it was measured at."""
    return _SIZED.sub("#", text)


def in_short() -> list[tuple[str, ...]]:
    """The bounds that the document states: what, measured, allowed, verdict."""
    section = DOCUMENT.read_text(encoding="utf-8").split("## In short")[1].split("\n## ")[0]
    return [cells(line) for line in section.splitlines() if line.startswith("| ")][2:]


def test_the_document_holds_every_table_that_the_command_prints() -> None:
    page = unsized(DOCUMENT.read_text(encoding="utf-8"))
    for name in FULL:
        assert f"## {tiny(name).name}\n" in page
        for table in tiny(name).tables:
            assert unsized(f"| {' | '.join(table.columns)} |") in page, table.title


def test_the_document_states_every_bound_and_its_verdict_follows_from_its_figures() -> None:
    rows = in_short()
    stated = {(unsized(what), allowed) for what, _, allowed, _ in rows}
    for name in ("writes", "round-trips"):
        assert {(unsized(bound.what), bound.cells()[2]) for bound in tiny(name).bounds} <= stated
    for size, (most, below) in recall_work.BOUNDS.items():
        bound = Bound("", 0, most, below=below).cells()[2]
        compared = [row for row in rows if f", {size:,} memories, " in row[0] and row[2] == bound]
        assert [row[0].split(" of ")[0] for row in compared] == ["CPU ms", "CPU ms", "MB held"]
    without = {what for what, *_ in rows if what.startswith("MCP libraries")}
    assert without == {f"MCP libraries that {handler} loads" for handler in cold_start.WITHOUT_MCP}
    for what, measured, allowed, verdict in rows:
        figure, limit = (float(re.sub(r"[^\d.]", "", text)) for text in (measured, allowed))
        assert verdict == ("ok" if figure < limit or (figure == limit and "≤" in allowed) else "MISSED"), what
