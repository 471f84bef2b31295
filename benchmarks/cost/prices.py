"""The dated prices and the assumptions, read from the files beside this one.

Owns: their form. Guarantees: a price without a source and a date, or an assumption without a reason, is an error; a
name that no file has is one too. Gives up: asking AWS; whoever changes a price dates it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).parent
GB = 2**30
TB = 2**40


@dataclass(frozen=True, slots=True)
class Price:
    """`usd` US dollars for every `per` of what it is. `free`: so many a month are given to every account."""

    usd: float
    per: float
    what: str
    source: str
    date: date
    free: float = 0.0

    def of(self, amount: float) -> float:
        """US dollars for so many, by the list."""
        return self.usd * amount / self.per

    def beyond_free(self, amount: float) -> float:
        """US dollars for so many, less what is free."""
        return self.of(max(0.0, amount - self.free))


@dataclass(frozen=True, slots=True)
class Assumption:
    """A number that was not measured, and why it is taken."""

    value: float
    why: str


def prices() -> dict[str, Price]:
    """Every price by name. Raises TypeError where a field is missing or unknown."""
    held = tomllib.loads((FOLDER / "prices.toml").read_text(encoding="utf-8"))
    return {name: Price(**fields) for name, fields in held.items()}


def assumptions() -> dict[str, Assumption]:
    """Every assumption by name. Raises TypeError where a field is missing or unknown."""
    held = tomllib.loads((FOLDER / "assumptions.toml").read_text(encoding="utf-8"))
    return {name: Assumption(**fields) for name, fields in held.items()}
