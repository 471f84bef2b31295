"""Every mutant, run: which test notices it.

Owns: the run and its table.
Guarantees: on an unbroken copy every selection passes; a mutant counts as noticed only where a test of its selection
failed, not where the tests could not run; exit 1 where one survives, or no longer applies.
Gives up: tests outside the selections; a mutant's selection is what is claimed to notice it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.catalog import BadPatch, Mutant, apply, copy_product, mutants

WORKERS = 2
# Of the tests of one selection, and of all selections together on an unbroken copy.
LIMIT_SECONDS, UNBROKEN_SECONDS = 180, 600
TESTS_FAILED = 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant. `noticed` is the test that noticed it; "" with the reason in `why`: none did."""

    mutant: Mutant
    noticed: str
    why: str
    seconds: float


def main(names: Sequence[str]) -> int:
    """Run the mutants of these names, or all; the exit code."""
    every = mutants()
    unknown = sorted(set(names) - {mutant.name for mutant in every})
    if unknown:
        sys.stderr.write(f"unknown: {', '.join(unknown)}\n")
        return 2
    chosen = [mutant for mutant in every if not names or mutant.name in names]
    began = time.perf_counter()
    sys.stdout.write(f"{len(chosen)} mutants; first, their tests on the product as it is\n")
    sys.stdout.flush()
    broken = unbroken(chosen)
    if broken:
        sys.stdout.write(f"The selections do not pass on the product as it is:\n{broken}\n")
        return 1
    verdicts = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for verdict in pool.map(judge, chosen):
            verdicts.append(verdict)
            sys.stdout.write(_row(verdict))
            sys.stdout.flush()
    survivors = [verdict for verdict in verdicts if not verdict.noticed]
    sys.stdout.write(
        f"\n{len(verdicts)} mutants of {len({verdict.mutant.promise for verdict in verdicts})} promises, "
        f"{len(verdicts) - len(survivors)} noticed, {len(survivors)} survivors, "
        f"{time.perf_counter() - began:.0f} seconds\n"
    )
    return 1 if survivors else 0


def unbroken(chosen: Sequence[Mutant]) -> str:
    """What fails on an unbroken copy, "" if nothing does."""
    with TemporaryDirectory(prefix="lodestore-mutant-") as folder:
        copy = copy_product(Path(folder))
        with ThreadPoolExecutor(WORKERS) as pool:
            said = pool.map(lambda item: _passes(copy, *item), enumerate(_together(chosen)))
            return "\n".join(filter(None, said))


def _together(chosen: Sequence[Mutant]) -> list[tuple[str, ...]]:
    """All selections in few runs: those that only name tests in one, each that has options in one of its own."""
    selections = dict.fromkeys(arguments for mutant in chosen for arguments in mutant.arguments)
    own = [arguments for arguments in selections if any(one.startswith("-") for one in arguments)]
    plain = dict.fromkeys(one for arguments in selections if arguments not in own for one in arguments)
    return [*own, *([tuple(plain)] if plain else [])]


def judge(mutant: Mutant) -> Verdict:
    """Break a copy and run the mutant's selections until one notices."""
    began = time.perf_counter()
    noticed, why = "", ""
    with TemporaryDirectory(prefix="lodestore-mutant-") as folder:
        copy = copy_product(Path(folder))
        try:
            apply(mutant, copy)
            for number, arguments in enumerate(mutant.arguments):
                noticed, why = _noticed(copy, number, arguments)
                if noticed:
                    break
        except BadPatch as bad:
            why = str(bad)
    return Verdict(mutant, noticed, why, time.perf_counter() - began)


def _passes(copy: Path, number: int, arguments: Sequence[str]) -> str:
    code, failed, said = _pytest(copy, number, arguments, UNBROKEN_SECONDS)
    return "" if code == 0 else f"{' '.join(arguments)}: {failed or said}"


def _noticed(copy: Path, number: int, arguments: Sequence[str]) -> tuple[str, str]:
    """The test that failed, or why none did."""
    code, failed, said = _pytest(copy, number, arguments, LIMIT_SECONDS)
    if code == 0:
        return "", "SURVIVED: every selected test passes"
    if code == TESTS_FAILED and failed:
        return failed, ""
    return "", f"the tests could not run (exit {code}): {said}"


def _pytest(copy: Path, number: int, arguments: Sequence[str], limit: int) -> tuple[int, str, str]:
    """Exit code, the first test that failed ("" if none did), the last words."""
    failed = copy / f"failed-{number}.txt"
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-p",
        "tests.mutants.copy_only",
        "-p",
        "no:cacheprovider",
    ]
    command += ["-x", "-q", f"--failed-to={failed}", f"--basetemp={copy / f'tmp-{number}'}", *arguments]
    outer = ("PYTEST", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(outer)}
    path = os.pathsep.join(str(copy / part) for part in ("layers/core/python", "functions"))
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=environment | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return -1, "", f"no end after {limit} seconds"
    said = " ".join((done.stdout + done.stderr).split())[-400:]
    return done.returncode, failed.read_text(encoding="utf-8") if failed.exists() else "", said


def _row(verdict: Verdict) -> str:
    mutant = verdict.mutant
    told = f"noticed by {verdict.noticed}" if verdict.noticed else verdict.why
    return f"{mutant.name} ({mutant.promise}) {mutant.says}\n    {told}, {verdict.seconds:.1f} s\n"
