"""The tables of `make cost`: for a terminal, for README.md, for docs/cost.md.

Owns: what is shown and how it is rounded. Guarantees: both documents are made here, and a test holds them to it.
Gives up: cents below one.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.cost.bill import Terms, bill, total, total_beyond_free
from benchmarks.cost.elsewhere import VectorIndexes, agentcore_month, vectors_month
from benchmarks.cost.prices import Price
from benchmarks.cost.workloads import IDLE, SIZES, Workload
from benchmarks.performance.report import Table
from benchmarks.performance.synthetic import DIM

NUMBER_BYTES = 4
ENGINE_SIZES = (100_000, 1_000_000)
ENGINE_RECALLS = 1_000_000
ENGINE_WRITES = 100_000


def comparison(terms: Terms) -> Table:
    """A month of each size, here and in AgentCore Memory."""
    rows = []
    for work in (IDLE, *SIZES):
        lines = bill(work, terms)
        elsewhere = [agentcore_month(work, terms.prices, built_in=built_in) for built_in in (False, True)]
        ours = (total(lines), total_beyond_free(lines))
        rows.append((work.name, work.described(), *map(usd, (*ours, *elsewhere))))
    columns = (
        "US dollars a month",
        "work",
        "Lodestore",
        "less AWS's free tier",
        "AgentCore Memory, self-managed",
        "built-in",
    )
    return Table("What a month costs", columns, rows)


def bills(terms: Terms) -> Table:
    """Every line of every bill, by price."""
    works = (IDLE, *SIZES)
    lines = [{line.name: line.usd for line in bill(work, terms)} for work in works]
    rows = [(terms.prices[name].what, *(usd(held[name]) for held in lines)) for name in lines[0]]
    rows.append(("in all", *(usd(sum(held.values())) for held in lines)))
    beyond = [usd(total_beyond_free(bill(work, terms))) for work in works]
    rows.append(("less AWS's free tier, which every account has", *beyond))
    return Table("The bills", ("US dollars a month", *(work.name for work in works)), rows)


def calls(terms: Terms) -> Table:
    """What was measured."""
    rows = [
        (
            call.name,
            f"{call.writes:.2f}",
            f"{call.reads:.2f}",
            f"{call.kept:,.0f}",
            f"{call.answer:,.0f}",
            f"{call.log:,.0f}",
        )
        for call in terms.found.calls
    ]
    columns = ("call", "PUT, LIST", "GET", "bytes written", "bytes answered", "bytes logged")
    return Table("Measured, the mean of each call", columns, rows)


def processor(terms: Terms) -> Table:
    """Processor time on this machine; shown only, for it is another on every machine."""
    assumed = terms.assumed["cpu_ms_call"].value
    rows = [(call.name, f"{call.cpu_ms:.1f}", f"{assumed:.0f}") for call in terms.found.calls]
    return Table("CPU ms of a call here, without an embedding model", ("call", "here", "reckoned with"), rows)


def engine(terms: Terms) -> Table:
    """What a tenant on the S3 Vectors engine pays besides, by its size."""
    size = NUMBER_BYTES * DIM + terms.assumed["vector_metadata_bytes"].value
    held = [VectorIndexes(1, count, size, size) for count in ENGINE_SIZES]
    months = [vectors_month(one, ENGINE_WRITES, ENGINE_RECALLS, terms.prices) for one in held]
    rows = [(terms.prices[name].what, *(usd(month[name]) for month in months)) for name in months[0]]
    rows.append(("in all", *(usd(sum(month.values())) for month in months)))
    columns = ("US dollars a month", *(f"{count:,} memories" for count in ENGINE_SIZES))
    title = f"A tenant on S3 Vectors pays besides, at {ENGINE_WRITES:,} writes and {ENGINE_RECALLS:,} recalls"
    return Table(title, columns, rows)


def assumed(terms: Terms) -> Table:
    """What was not measured."""
    rows = [(held.why, f"{held.value:g}") for held in terms.assumed.values()]
    return Table("Taken as given", ("why", "value"), rows)


def sources(prices: Mapping[str, Price]) -> Table:
    """Every price with its source and date."""
    rows = [
        (
            price.what,
            f"{price.usd:.10g}",
            f"{price.per:,.0f}",
            f"{price.free:,.0f}",
            price.source,
            str(price.date),
        )
        for price in prices.values()
    ]
    return Table("Prices", ("what", "US dollars", "for", "free a month", "read in", "on"), rows)


def works() -> Table:
    """The sizes."""

    def cells(work: Workload) -> tuple[str, ...]:
        share = f"{work.cold:.0%}"
        return work.name, str(work.tenants), work.described(), f"{work.hours:g}", share

    columns = ("size", "tenants", "a month", "hours with a call", "recalls by a new instance")
    return Table("The sizes", columns, [cells(work) for work in SIZES])


def usd(amount: float) -> str:
    """Dollars and cents."""
    return f"{amount:,.2f}"
