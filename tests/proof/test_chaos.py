"""A short chaos: a few seeds of what `make chaos` runs by the hundred."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.proof import chaos
from tests.proof.chaos_run import ChaosResult, run_chaos

SEEDS = range(1, 7)
STEPS = 120
EVERY_KIND = {
    "lost",
    "contended",
    "gone",
    "unknown before",
    "unknown after",
    "unknown late",
    "unavailable",
    "unavailable after",
    "crash before",
    "crash after",
    "slow answer",
    "another process between",
    "delete lands late",
    "outage",
}


@pytest.mark.case("B12", "B16", "B19", "B80")
@pytest.mark.promise(
    "P-DURABLE", "P-READ-YOUR-WRITES", "P-TRUTH", "P-FORGOTTEN", "P-IDEMPOTENT", "P-NO-LOST-UPDATE"
)
def test_in_any_storm_what_was_answered_holds_and_the_index_comes_to_show_the_truth(folder: Path) -> None:
    faults: Counter[str] = Counter()
    for seed in SEEDS:
        result = run_chaos(seed, folder / str(seed), STEPS)
        assert result.violations == [], f"again: make chaos SEED={seed}"
        assert result.operations > 200
        faults += result.faults
    assert set(faults) == EVERY_KIND


def test_the_same_seed_is_the_same_storm(folder: Path) -> None:
    first, second = (run_chaos(3, folder / name, 60) for name in ("first", "second"))
    assert first == second


def test_a_broken_promise_is_printed_with_the_command_that_runs_it_again() -> None:
    result = ChaosResult(17, operations=3, violations=["P-DURABLE: it is gone"])
    assert chaos.line_of(result).splitlines() == [
        "seed 17: 3 operations, 0 faults (), 0 promises checked, violations 1",
        "    P-DURABLE: it is gone",
        "    again: make chaos SEED=17",
    ]
    assert chaos.summary([result], [])[-1].endswith("violations 1 in seeds 17")


def test_a_fault_point_that_breaks_a_promise_is_printed_with_the_command_that_visits_it_again() -> None:
    visited = chaos.Visited("upkeep merge", broken="AssertionError: merge: LOST at request 4 on index")
    assert chaos.line_of_step(visited).splitlines() == [
        "upkeep merge: AssertionError: merge: LOST at request 4 on index",
        '    again: make chaos STEP="upkeep merge"',
    ]
    assert chaos.summary([], [visited])[-1].endswith("violations 1 in upkeep merge")


def test_the_command_fails_where_a_promise_was_broken(capsys: pytest.CaptureFixture[str]) -> None:
    with (
        patch.object(chaos, "visit", _broken),
        patch.object(chaos, "ProcessPoolExecutor", ThreadPoolExecutor),
    ):
        assert chaos.main(["--step", "write forget"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "write forget: it is gone"


def _broken(step: str) -> chaos.Visited:
    return chaos.Visited(step, broken="it is gone")
