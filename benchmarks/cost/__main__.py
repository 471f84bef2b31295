"""The command: measure, reckon, print; with `--write` also into README.md and docs/cost.md.

Owns: its argument. Guarantees: what is written is what was just measured. Gives up: judging a price.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cost import tables
from benchmarks.cost.bill import Terms
from benchmarks.cost.calls import measure
from benchmarks.cost.documents import document, readme
from benchmarks.cost.prices import assumptions, prices

ROOT = Path(__file__).resolve().parents[2]
README, DOCUMENT = ROOT / "README.md", ROOT / "docs" / "cost.md"


def main(arguments: Sequence[str]) -> int:
    """0, or an exception."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description="What a month costs.")
    parser.add_argument("--write", action="store_true", help="write README.md's table and docs/cost.md")
    given = parser.parse_args(arguments)
    terms = Terms(measure(), prices(), assumptions())
    every = (
        tables.sources(terms.prices),
        tables.assumed(terms),
        tables.calls(terms),
        tables.processor(terms),
        tables.works(),
        tables.bills(terms),
        tables.engine(terms),
        tables.comparison(terms),
    )
    print("\n\n".join(table.text() for table in every))
    if given.write:
        README.write_text(readme(README.read_text(encoding="utf-8"), terms), encoding="utf-8")
        DOCUMENT.write_text(document(terms), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
