"""What a benchmark found, as values: tables, and bounds that hold or do not.

Owns: `Report` and how it is printed, for a terminal and for a document. Guarantees: a bound says what was measured and
what was allowed, and `holds` is computed from those two numbers alone.
Gives up: significance; ratios are taken from medians of runs that alternate, so that load meets both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` are headings, `rows` their texts; the first column is aligned left, the others right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """For a terminal."""
        cells = [self.columns, *self.rows]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        lines = ["  ".join(_aligned(row, widths)).rstrip() for row in cells]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])

    def markdown(self) -> str:
        """For a document."""
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.columns, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines])


@dataclass(frozen=True, slots=True)
class Bound:
    """`measured` may be at most `allowed`; where `below`, it must be less."""

    what: str
    measured: float
    allowed: float
    unit: str = ""
    below: bool = False

    @property
    def holds(self) -> bool:
        """Whether the measured value is allowed. NaN never is."""
        return self.measured < self.allowed or (self.measured == self.allowed and not self.below)

    def cells(self) -> tuple[str, str, str, str]:
        """What, measured, allowed, verdict."""
        sign = "<" if self.below else "≤"
        unit = f" {self.unit}" if self.unit else ""
        return (
            self.what,
            f"{number(self.measured)}{unit}",
            f"{sign} {number(self.allowed)}{unit}",
            "ok" if self.holds else "MISSED",
        )


@dataclass(frozen=True, slots=True)
class Report:
    """One benchmark's findings. `notes` say how to read them."""

    name: str
    notes: str
    tables: Sequence[Table]
    bounds: Sequence[Bound] = ()

    def text(self) -> str:
        """For a terminal."""
        return "\n\n".join([f"== {self.name}\n{self.notes}", *(table.text() for table in self.tables)])

    def markdown(self) -> str:
        """For a document."""
        return "\n\n".join([f"## {self.name}", self.notes, *(table.markdown() for table in self.tables)])


def bounds_table(reports: Iterable[Report]) -> Table:
    """Every bound of the reports, with its verdict."""
    rows = [bound.cells() for report in reports for bound in report.bounds]
    return Table("Figures and their bounds", ("what", "measured", "allowed", "verdict"), rows)


def number(value: float) -> str:
    """Three digits that count, thousands apart: 0.0123, 1.05, 12.3, 10,240."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if at == 0 else cell.rjust(width)
