"""Every scenario in full, with its figures.

Owns: the table. Guarantees: exit 1 where any schedule breaks a promise, with the way there and the command that takes
it again; the figures of all come last.
Gives up: order; a scenario's line comes when it is done.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from tests.interleavings.explorer import BrokenPromise, Figures, explore, follow
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
    "done",
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


def main(arguments: Sequence[str]) -> int:
    """Explore the scenarios of these names, or all, or take one schedule of one again; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.interleavings")
    parser.add_argument("names", nargs="*", help="scenarios; all by default")
    parser.add_argument("--schedule", help="numbers of choices with dots between, as a violation prints them")
    given = parser.parse_args(arguments)
    known = [scenario.name for scenario in SCENARIOS]
    names: list[str] = given.names or known
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.stderr.write(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}\n")
        return 2
    if given.schedule is None:
        return _explored(names)
    if len(names) != 1 or not re.fullmatch(r"\d+(\.\d+)*", given.schedule):
        sys.stderr.write("a schedule is numbers with dots between, of one scenario\n")
        return 2
    return _followed(names[0], [int(number) for number in given.schedule.split(".")])


def _followed(name: str, schedule: Sequence[int]) -> int:
    scenario = next(one for one in SCENARIOS if one.name == name)
    try:
        said = follow(scenario, schedule)
    except BrokenPromise as violation:
        sys.stdout.write(f"{violation}\n")
        return 1
    except ValueError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 2
    lines = [f"{name}, {len(said)} choices:", *(f"  {line}" for line in said), "no promise is broken"]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _explored(names: Sequence[str]) -> int:
    _write(HEAD)
    outcomes = []
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(explored, name) for name in names]):
            outcomes.append(future.result())
            _write((*_row(outcomes[-1]), f"{len(outcomes)}/{len(names)}"))
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
    widths = (28, 11, 11, 24, 7, 8, 8, 9, 10, 9, 7)
    first, *rest = (
        cell.ljust(width) if at == 0 else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=False))
    )
    sys.stdout.write("".join([first, *rest]).rstrip() + "\n")
    sys.stdout.flush()
