"""The command: run the benchmarks, print their tables, then every figure with its bound.

Owns: sizes of the full run and the quick one. Guarantees: exits 1 where a bound is missed; `--write` writes what was
just measured, and only after a full run.

    python -m benchmarks.performance [--quick] [--only NAME ...] [--write]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.performance import beside_one_index, cold_start, flat_writes, recall_work, round_trips
from benchmarks.performance.document import document, where_and_when
from benchmarks.performance.report import Report, bounds_table

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
FULL: Mapping[str, Callable[[], Report]] = {
    "writes": lambda: flat_writes.measure(flat_writes.Sizes()),
    "round-trips": lambda: round_trips.measure(10_000, 20),
    "recall-work": lambda: recall_work.measure((1_000, 10_000, 100_000), 200),
    "cold-start": lambda: cold_start.measure(cold_start.HANDLERS, 10_000, 5),
    "one-index-object": lambda: beside_one_index.measure((200, 2_000, 20_000), 7),
}
QUICK: Mapping[str, Callable[[], Report]] = {
    "writes": lambda: flat_writes.measure(flat_writes.Sizes((100, 2_000), (100, 2_000), (1_000, 100))),
    "round-trips": lambda: round_trips.measure(2_000, 5),
    "recall-work": lambda: recall_work.measure((1_000, 10_000), 50),
    "cold-start": lambda: cold_start.measure(cold_start.HANDLERS, 2_000, 1),
    "one-index-object": lambda: beside_one_index.measure((200, 2_000), 3),
}


def main(arguments: Sequence[str]) -> int:
    """0: every bound holds."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.performance", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about a minute")
    parser.add_argument("--only", nargs="+", choices=list(FULL), help="these benchmarks alone")
    parser.add_argument("--write", action="store_true", help=f"write docs/{DOCUMENT.name}; a full run only")
    given = parser.parse_args(arguments)
    if given.write and (given.quick or given.only):
        parser.error("--write goes with a full run: without --quick and --only")
    benchmarks = QUICK if given.quick else FULL
    reports: dict[str, Report] = {}
    for name in given.only or benchmarks:
        reports[name] = benchmarks[name]()
        print(reports[name].text(), end="\n\n", flush=True)
    print(where_and_when())
    print(bounds_table(reports.values()).text())
    if given.write:
        DOCUMENT.write_text(document(reports), encoding="utf-8")
    return 0 if all(bound.holds for report in reports.values() for bound in report.bounds) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
