"""The mutants as files: a few lines that say what is broken, then a unified diff.

Owns: the form of `patches/*.patch`, and copies of the product to apply one to.
Guarantees: a patch is applied to a copy, never to the work tree; one that does not fit is an error that names it.
Gives up: mutants that need more than the product's own code to change.

    P-DURABLE: an answer that was lost is taken for success
    tests/faults/test_every_fault_point.py -k update
    tests/services/test_update.py::test_an_update_whose_answer_was_lost_is_found_and_counts_once

    --- a/layers/core/python/lodestore/services/ledger.py
    +++ b/layers/core/python/lodestore/services/ledger.py
    ...

The first line names the promise and what breaks it; each line after it is a selection of tests that should notice.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).resolve().parent / "patches"
PRODUCT = ("layers", "functions")
# What tests read beside the product: the rules of the project, and the tests themselves.
BESIDE = ("tests", "pyproject.toml")
_HEAD = re.compile(r"(?P<promise>P-[A-Z-]+): (?P<says>.+)")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "node_modules")


class BadPatch(Exception):
    """A patch that says too little, or does not fit the product any more."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant. `selections` are arguments of pytest, each run for itself until one notices."""

    name: str
    promise: str
    says: str
    selections: tuple[str, ...]
    patch: Path

    @property
    def arguments(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(shlex.split(selection)) for selection in self.selections)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the patch changes, as paths from the root."""
        return tuple(re.findall(r"^\+\+\+ b/(\S+)$", self.patch.read_text(encoding="utf-8"), re.MULTILINE))


def mutants() -> tuple[Mutant, ...]:
    """All of them, by name. Raises BadPatch."""
    return tuple(read_mutant(path) for path in sorted(PATCHES.glob("*.patch")))


def read_mutant(path: Path) -> Mutant:
    """The mutant of this file. Raises BadPatch."""
    head, _, diff = path.read_text(encoding="utf-8").partition("\n\n")
    first, *selections = head.splitlines()
    said = _HEAD.fullmatch(first)
    if said is None or not selections or not diff.startswith("--- a/"):
        raise BadPatch(f"{path.name}: promise and words, selections, a blank line, a diff")
    return Mutant(path.stem, said["promise"], said["says"], tuple(selections), path)


def copy_product(into: Path) -> Path:
    """A copy of the product in an empty folder, with what its tests need."""
    for name in (*PRODUCT, *BESIDE):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, into / name, ignore=_LEFT_OUT)
        else:
            shutil.copy(source, into / name)
    return into


def copy_files(mutant: Mutant, into: Path) -> Path:
    """A copy, in a new folder, of those files alone that the mutant changes."""
    for name in mutant.files:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, into / name)
    return into


def apply(mutant: Mutant, copy: Path) -> None:
    """Break the copy. Raises BadPatch where the product has moved on."""
    command = ["git", "apply", "-C1", "--whitespace=nowarn", str(mutant.patch)]
    # Outside a repository of its own, git would take the copy for a part of the one around it.
    done = subprocess.run(
        command,
        cwd=copy,
        capture_output=True,
        text=True,
        env={"GIT_CEILING_DIRECTORIES": str(copy.parent), "PATH": os.environ["PATH"]},
    )
    if done.returncode:
        raise BadPatch(f"{mutant.name}: the patch no longer applies: {done.stderr.strip()}")
