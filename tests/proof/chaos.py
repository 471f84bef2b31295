"""`make chaos`: many runs of the chaos and of the model, each by its seed.

Owns: the command, its table and its exit code. Guarantees: a failure prints its seed and the command that runs it
again alone; the figures come last; the exit code is 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import format_exception_only

from hypothesis import settings

from tests.proof.chaos_run import ChaosResult, run_chaos
from tests.proof.test_model_service import IN_MEMORY, SHORT, run_model

STEPS = 150
MODEL_RUNS = 10
MODEL_STEPS = 80
SHOWN = 5
MODEL_PROMISE = "answers equal to the model's"


def run_seed(seed: int) -> ChaosResult:
    """The chaos and the model of one seed."""
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with TemporaryDirectory(dir=place, prefix="lodestore-chaos-") as folder:
        result = run_chaos(seed, Path(folder), STEPS)
    profile = settings(SHORT, derandomize=False, max_examples=MODEL_RUNS, stateful_step_count=MODEL_STEPS)
    try:
        reached = run_model(profile, seed)
    # Whatever the machine fails with is what it found; hypothesis has put the steps into its notes.
    except Exception as failure:  # noqa: BLE001
        result.violations.append("".join(format_exception_only(failure)).rstrip())
    else:
        result.checked[MODEL_PROMISE] += reached.total()
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the seeds that were asked for; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds, from 1 on")
    parser.add_argument("--seed", type=int, help="this one alone")
    asked = parser.parse_args(arguments)
    seeds = [asked.seed] if asked.seed is not None else list(range(1, asked.seeds + 1))
    results = []
    with ProcessPoolExecutor(min(len(seeds), os.cpu_count() or 1)) as processes:
        for result in processes.map(run_seed, seeds):
            print(line_of(result), flush=True)
            results.append(result)
    print("\n".join(summary(results)))
    return 1 if any(result.violations for result in results) else 0


def line_of(result: ChaosResult) -> str:
    """One run, with what it found."""
    line = (
        f"seed {result.seed}: {result.operations} operations, {result.faults.total()} faults, "
        f"{result.checked.total()} promises checked, violations {len(result.violations)}"
    )
    found = [f"    {violation}" for violation in result.violations[:SHOWN]]
    if len(result.violations) > SHOWN:
        found.append(f"    and {len(result.violations) - SHOWN} more")
    if found:
        found.append(f"    again: make chaos SEED={result.seed}")
    return "\n".join([line, *found])


def summary(results: Sequence[ChaosResult]) -> list[str]:
    """The figures of all runs."""
    faults, checked = Counter[str](), Counter[str]()
    for result in results:
        faults += result.faults
        checked += result.checked
    failed = [str(result.seed) for result in results if result.violations]
    return [
        "",
        *_table("faults injected", faults),
        "",
        *_table("promises checked", checked),
        "",
        f"seeds {len(results)}, operations {sum(result.operations for result in results):,}, "
        f"faults injected {faults.total():,}, promises checked {checked.total():,}, "
        f"violations {sum(len(result.violations) for result in results)}"
        + (f" in seeds {', '.join(failed)}" if failed else ""),
    ]


def _table(name: str, counts: Mapping[str, int]) -> list[str]:
    return [name, *(f"  {kind:<28} {count:>12,}" for kind, count in sorted(counts.items()))]


if __name__ == "__main__":
    sys.exit(main())
