"""The tables of docs/interleavings.md are those of the scenarios and the mutants."""

from __future__ import annotations

import re

from tests.interleavings.scenarios import SCENARIOS
from tests.mutants.catalog import mutants
from tests.structure.source_tree import ROOT

DOCUMENT = (ROOT / "docs/interleavings.md").read_text(encoding="utf-8")


def scenario_rows() -> list[str]:
    return [
        f"| `{one.name}` | {', '.join(program.name for program in one.programs)} | {one.says} |"
        for one in SCENARIOS
    ]


def mutant_rows() -> list[str]:
    return [f"| `{one.name}` | {one.promise} | {one.says} |" for one in mutants()]


def _rows_after(head: str) -> list[str]:
    _, _, rest = DOCUMENT.partition(f"{head}\n|---|---|---|\n")
    return rest.partition("\n\n")[0].splitlines()


def test_the_document_lists_every_scenario_that_is_explored() -> None:
    assert _rows_after("| Scenario | Processes | What happens |") == scenario_rows()


def test_the_document_lists_every_mutant() -> None:
    assert _rows_after("| Mutant | Promise | What is broken |") == mutant_rows()


def test_the_names_in_the_examples_are_names_of_scenarios_and_mutants() -> None:
    known = {one.name for one in SCENARIOS} | {one.name for one in mutants()}
    named = re.findall(r'(?:SCENARIOS|MUTANTS)=(?:"([^"]+)"|(\S+))', DOCUMENT)
    assert named
    assert {name for quoted, plain in named for name in (quoted or plain).split()} <= known
