"""Every scenario in full, with its figures.

Owns: the table. Guarantees: exit 1 where any schedule breaks a promise, with the shortest words for the way there.
Gives up: order of finishing; lines come in the order of the scenarios.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from tests.interleavings.explorer import BrokenPromise, Figures, explore
from tests.interleavings.scenarios import SCENARIOS

WORKERS = 2
REPLAYS = 20
HEAD = (
    "scenario",
    "states",
    "choices",
    "schedules",
    "depth",
    "local",
    "probes",
    "endings",
    "replayed",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One scenario's figures, or how it broke a promise."""

    name: str
    figures: Figures | None
    broken: str
    seconds: float


def explored(name: str) -> Outcome:
    """The scenario of this name, explored."""
    scenario = next(one for one in SCENARIOS if one.name == name)
    began = time.perf_counter()
    figures, broken = None, ""
    try:
        figures = explore(scenario, replays=REPLAYS)
    except BrokenPromise as violation:
        broken = str(violation)
    return Outcome(name, figures, broken, time.perf_counter() - began)


def main(names: Sequence[str]) -> int:
    """Explore the scenarios of these names, or all; the exit code."""
    known = [scenario.name for scenario in SCENARIOS]
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.stderr.write(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}\n")
        return 2
    _write(HEAD)
    outcomes = []
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        for outcome in pool.map(explored, list(names) or known):
            outcomes.append(outcome)
            _write(_row(outcome))
    broken = [outcome.broken for outcome in outcomes if outcome.broken]
    sys.stdout.write("".join(f"\n{text}\n" for text in broken) + f"\n{_summary(outcomes)}\n")
    return 1 if broken else 0


def _row(outcome: Outcome) -> tuple[str, ...]:
    f = outcome.figures
    if f is None:
        return (outcome.name, "a promise is broken, see below")
    numbers = (f.states, f.choices, f.schedules, f.depth, f.locals, f.probes, f.endings, f.replayed)
    return (outcome.name, *(f"{number:,}" for number in numbers), f"{outcome.seconds:.1f}")


def _summary(outcomes: Sequence[Outcome]) -> str:
    figures = [outcome.figures for outcome in outcomes if outcome.figures is not None]
    return (
        f"{len(outcomes)} scenarios, {sum(f.states for f in figures):,} states, "
        f"{sum(f.schedules for f in figures):,} schedules, depth {max((f.depth for f in figures), default=0)}, "
        f"violations {len(outcomes) - len(figures)}"
    )


def _write(cells: Sequence[str]) -> None:
    widths = (28, 11, 11, 24, 7, 8, 8, 9, 10, 9)
    first, *rest = (
        cell.ljust(width) if at == 0 else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=False))
    )
    sys.stdout.write("".join([first, *rest]).rstrip() + "\n")
    sys.stdout.flush()
