"""A month's bill of one workload: measured calls times dated prices.

Owns: which call is made how often, and what each costs. Guarantees: every line names the price that it is reckoned by;
where a number can't be known it is the dearer one: no two writes share a run of the indexer, every request waits for
the one before, a new instance loads the whole index. Gives up: discounts, KMS, alarms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.cost.calls import Findings, Measured
from benchmarks.cost.prices import GB, Assumption, Price
from benchmarks.cost.workloads import Workload
from infra.settings import Environment

WEEKS_A_MONTH = 365 / 12 / 7
# What is in the settings of every environment unless its file says otherwise.
SETTINGS = Environment(name="dev")


@dataclass(frozen=True, slots=True)
class Line:
    """A price's name and US dollars a month. `beyond_free`: less what AWS gives every account."""

    name: str
    usd: float
    beyond_free: float


@dataclass(frozen=True, slots=True)
class Terms:
    """What every bill is reckoned by."""

    found: Findings
    prices: Mapping[str, Price]
    assumed: Mapping[str, Assumption]

    def seconds(self, called: Measured, round_trips: float | None = None) -> float:
        """How long the call runs. `round_trips` None: one for each request."""
        trips = called.requests if round_trips is None else round_trips
        return (trips * self.assumed["round_trip_ms"].value + self.assumed["cpu_ms_call"].value) / 1000


@dataclass(frozen=True, slots=True)
class _Called:
    """A kind of call, how often it is made, and for how many seconds each time."""

    measured: Measured
    count: float
    seconds: float


def bill(work: Workload, terms: Terms) -> Sequence[Line]:
    """The lines of a month, one a price."""
    amounts = _amounts(work, terms)
    return [
        Line(name, terms.prices[name].of(amount), terms.prices[name].beyond_free(amount))
        for name, amount in amounts.items()
    ]


def total(lines: Sequence[Line]) -> float:
    """US dollars a month, by the list."""
    return sum(line.usd for line in lines)


def total_beyond_free(lines: Sequence[Line]) -> float:
    """US dollars a month in an account that uses its free tier for nothing else."""
    return sum(line.beyond_free for line in lines)


def _amounts(work: Workload, terms: Terms) -> dict[str, float]:
    calls = _calls(work, terms)
    invocations = sum(called.count for called in calls)
    gigabytes = SETTINGS.memory_mb / 1024
    found = terms.found
    logged = sum(called.count * called.measured.log for called in calls)
    answered = sum(called.count * called.measured.answer for called in calls)
    dispatches = _dispatches(terms)
    # A message is sent, received and deleted: of each write, and of each sleep.
    messages = 3 * (work.writes + _sleeps(work) + _weekly_sleeps(work))
    hours = terms.assumed["hours_a_month"].value
    polls = hours * 60 * terms.assumed["polls_a_minute"].value * terms.assumed["queues"].value
    return {
        "s3_write": sum(called.count * called.measured.writes for called in calls),
        "s3_read": sum(called.count * called.measured.reads for called in calls),
        "s3_storage": work.memories * (found.object_bytes + found.index_bytes) / GB,
        "lambda_request": invocations,
        "lambda_gb_second": gigabytes * sum(called.count * called.seconds for called in calls),
        "sqs_request": messages + polls,
        "scheduler": dispatches,
        "logs": (logged + invocations * terms.assumed["platform_log_bytes"].value) / GB,
        "metric": found.metrics_at_rest + (found.metrics - found.metrics_at_rest) * work.hours / hours,
        "transfer": answered / GB,
    }


def _calls(work: Workload, terms: Terms) -> list[_Called]:
    found, assumed = terms.found, terms.assumed
    cold = work.cold * work.recalls
    # Of a tenant's weekly sleep, every 1,000 memories are a share like that of the tenant that was measured.
    thousands = max(1.0, work.memories / work.tenants / 1_000)
    trips = assumed["round_trips_recall"].value
    return [
        _Called(found.remember, work.writes, terms.seconds(found.remember)),
        _Called(found.index, work.writes, terms.seconds(found.index)),
        _Called(found.recall, work.recalls - cold, terms.seconds(found.recall, trips)),
        _Called(found.cold, cold, terms.seconds(found.cold, trips) + assumed["cold_seconds"].value),
        _Called(found.hourly, _sleeps(work), terms.seconds(found.hourly)),
        _Called(found.weekly, _weekly_sleeps(work) * thousands, terms.seconds(found.weekly)),
        _Called(found.idle, _dispatches(terms), terms.seconds(found.idle)),
    ]


def _sleeps(work: Workload) -> float:
    """A tenant sleeps after an hour in which something of it was written."""
    return min(float(work.writes), work.hours * work.tenants)


def _weekly_sleeps(work: Workload) -> float:
    return WEEKS_A_MONTH * work.tenants if work.memories else 0.0


def _dispatches(terms: Terms) -> float:
    """By the hour, or what the settings say, and once a week."""
    minutes = terms.assumed["hours_a_month"].value * 60
    return minutes / SETTINGS.maintenance_minutes + WEEKS_A_MONTH
