"""Pairs of statements, written for this project, that differ in one value; and pairs that say the same.

Owns: reading `twins/`. Guarantees: `{a|b}` stands for a in the first of a pair and for b in the second, all slots at
once, so that `{Anna|Ben} reports to {Ben|Anna}` swaps them. Gives up: pairs across languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("twins")
DUPLICATES = FOLDER / "duplicates.txt"
_SLOT = re.compile(r"\{([^|}]*)\|([^|}]*)\}")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, and the file's name, which is their language."""

    language: str
    one: str
    other: str


def twins() -> list[Pair]:
    """Pairs that differ in one value, or in who does what to whom."""
    return [
        Pair(path.stem, _SLOT.sub(r"\1", line), _SLOT.sub(r"\2", line))
        for path in sorted(FOLDER.glob("*.txt"))
        if path != DUPLICATES
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def duplicates() -> list[Pair]:
    """Pairs that say the same."""
    lines = DUPLICATES.read_text(encoding="utf-8").splitlines()
    return [Pair("duplicates", *line.split("\t")) for line in lines if not line.startswith("#")]
