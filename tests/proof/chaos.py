"""`make chaos`: every fault point of every step, then many runs of the chaos and of the model, each by its seed.

Owns: the command, its tables and its exit code. Guarantees: a failure prints its seed or its step, and the command that
runs it again alone; the figures come last; the exit code is 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import format_exception_only

from hypothesis import settings

from tests.faults import test_every_fault_point as writes
from tests.faults import test_indexer_fault_points as upkeep
from tests.proof.chaos_run import ChaosResult, run_chaos
from tests.proof.test_model_service import IN_MEMORY, SHORT, run_model

STEPS = 80
MODEL_RUNS = 3
MODEL_STEPS = 60
SHOWN = 5
MODEL_PROMISE = "answers equal to the model's"
WRITES = {f"write {scenario.name}": scenario for scenario in writes.SCENARIOS}
UPKEEP = {f"upkeep {scenario.name}": scenario for scenario in upkeep.SCENARIOS}
FAULT_POINTS = (*WRITES, *UPKEEP)


@dataclass(slots=True)
class Visited:
    """The fault points of one step, by fault; `broken`: what went wrong at one of them, and ended the visits."""

    step: str
    points: Counter[str] = field(default_factory=Counter)
    broken: str = ""


def visit(step: str) -> Visited:
    """Every fault point of one step."""
    with _folder() as folder:
        try:
            if step in WRITES:
                return Visited(step, writes.visit(folder, WRITES[step]))
            return Visited(step, upkeep.visit(folder, UPKEEP[step]))
        # Whatever a fault brought about is what was found.
        except Exception as failure:  # noqa: BLE001
            return Visited(step, broken=_in_words(failure))


def run_seed(seed: int) -> ChaosResult:
    """The chaos and the model of one seed."""
    with _folder() as folder:
        result = run_chaos(seed, folder, STEPS)
    profile = settings(SHORT, derandomize=False, max_examples=MODEL_RUNS, stateful_step_count=MODEL_STEPS)
    try:
        reached = run_model(profile, seed)
    # Whatever the machine fails with is what it found; hypothesis has put the steps into its notes.
    except Exception as failure:  # noqa: BLE001
        result.violations.append(_in_words(failure))
    else:
        result.checked[MODEL_PROMISE] += reached.total()
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds, from 1 on")
    parser.add_argument("--seed", type=int, help="this one alone, and no fault points")
    parser.add_argument(
        "--step", choices=FAULT_POINTS, help="the fault points of this step alone, and no seed"
    )
    asked = parser.parse_args(arguments)
    if asked.seeds < 1:
        parser.error(f"--seeds is at least 1, not {asked.seeds}")
    seeds = [asked.seed] if asked.seed is not None else list(range(1, asked.seeds + 1))
    steps = [asked.step] if asked.step is not None else list(FAULT_POINTS)
    visits, results = [], []
    with ProcessPoolExecutor(os.cpu_count() or 1) as processes:
        for visited in processes.map(visit, [] if asked.seed is not None else steps):
            print(line_of_step(visited), flush=True)
            visits.append(visited)
        for result in processes.map(run_seed, [] if asked.step is not None else seeds):
            print(line_of(result), flush=True)
            results.append(result)
    print("\n".join(summary(results, visits)))
    return 1 if _broken(results, visits) else 0


def line_of_step(visited: Visited) -> str:
    """The fault points of one step."""
    if visited.broken:
        return f'{visited.step}: {visited.broken}\n    again: make chaos STEP="{visited.step}"'
    return f"{visited.step}: {visited.points.total()} fault points visited, violations 0"


def line_of(result: ChaosResult) -> str:
    """One run, with what it found."""
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(result.faults.items()))
    line = (
        f"seed {result.seed}: {result.operations} operations, {result.faults.total()} faults ({faults}), "
        f"{result.checked.total()} promises checked, violations {len(result.violations)}"
    )
    found = [f"    {violation}" for violation in result.violations[:SHOWN]]
    if len(result.violations) > SHOWN:
        found.append(f"    and {len(result.violations) - SHOWN} more")
    if found:
        found.append(f"    again: make chaos SEED={result.seed}")
    return "\n".join([line, *found])


def summary(results: Sequence[ChaosResult], visits: Sequence[Visited]) -> list[str]:
    """The figures of all runs."""
    faults, checked, points = Counter[str](), Counter[str](), Counter[str]()
    for result in results:
        faults += result.faults
        checked += result.checked
    for visited in visits:
        points += visited.points
    seeds = [str(result.seed) for result in results if result.violations]
    steps = [visited.step for visited in visits if visited.broken]
    where = [f" in seeds {', '.join(seeds)}"] * bool(seeds) + [f" in {', '.join(steps)}"] * bool(steps)
    return [
        *_table("fault points visited, by step", {one.step: one.points.total() for one in visits}),
        *_table("fault points visited, by fault", {_plain(name): count for name, count in points.items()}),
        *_table("faults injected by seed", faults),
        *_table("promises checked", checked),
        "",
        f"steps {len(visits)}, fault points visited {points.total():,}, "
        f"seeds {len(results)}, operations {sum(result.operations for result in results):,}, "
        f"faults injected {faults.total():,}, promises checked {checked.total():,}, "
        f"violations {_broken(results, visits)}" + "".join(where),
    ]


def _broken(results: Sequence[ChaosResult], visits: Sequence[Visited]) -> int:
    return sum(len(result.violations) for result in results) + sum(bool(visited.broken) for visited in visits)


def _table(name: str, counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return []
    return ["", name, *(f"  {kind:<32} {count:>12,}" for kind, count in sorted(counts.items()))]


def _plain(name: str) -> str:
    return name.lower().replace("_", " ")


def _in_words(failure: Exception) -> str:
    return "".join(format_exception_only(failure)).rstrip()


@contextmanager
def _folder() -> Iterator[Path]:
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with TemporaryDirectory(dir=place, prefix="lodestore-chaos-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main())
