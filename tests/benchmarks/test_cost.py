"""The bills: made from measured calls and dated prices, and the documents are what the command writes."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.cost.__main__ import DOCUMENT, README
from benchmarks.cost.bill import Terms, bill, total, total_beyond_free
from benchmarks.cost.calls import measure
from benchmarks.cost.documents import BEGIN, document, readme
from benchmarks.cost.elsewhere import VectorIndexes, agentcore_month, vectors_month
from benchmarks.cost.prices import Price, assumptions, prices
from benchmarks.cost.workloads import DEVELOPER, IDLE, MILLION, SIZES, Workload
from lodestore.domain.sleep_report import PRICES


@cache
def terms() -> Terms:
    return Terms(measure(), prices(), assumptions())


def test_the_readme_and_the_page_are_what_the_command_writes() -> None:
    shown = README.read_text(encoding="utf-8")
    assert shown == readme(shown, terms()), "run: python -m benchmarks.cost --write"
    assert DOCUMENT.read_text(encoding="utf-8") == document(terms())


def test_a_readme_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="README"):
        readme("# Lodestore\n", terms())
    with pytest.raises(ValueError, match="README"):
        readme(BEGIN + BEGIN, terms())


@pytest.mark.promise("P-FLAT-WRITES")
def test_a_write_and_a_recall_are_the_requests_that_the_design_says() -> None:
    found = terms().found
    # The memory and its marker; the caller's key, once a minute.
    assert (found.remember.writes, found.remember.reads) == (2, 1)
    # A listing and at most one flush of counts; the key, the manifest, and a hit each.
    assert found.recall.writes <= 2
    assert found.recall.reads <= 1 + 1 + 5
    assert (found.idle.writes, found.idle.reads) == (3, 0)


def test_a_month_in_which_nobody_calls_is_paid_for_the_schedule_and_the_queues_alone() -> None:
    lines = {line.name: line.usd for line in bill(IDLE, terms())}
    assert lines["s3_storage"] == lines["transfer"] == lines["s3_read"] == 0
    assert lines["sqs_request"] > 0
    assert lines["metric"] > 0


def test_more_of_anything_never_costs_less() -> None:
    less = Workload(name="less", tenants=1, memories=1, writes=1, recalls=1, hours=1, cold=0)
    costs = [total(bill(work, terms())) for work in (IDLE, less, *SIZES)]
    assert costs == sorted(costs)
    assert all(total_beyond_free(bill(work, terms())) < total(bill(work, terms())) for work in SIZES)


def test_agentcore_is_reckoned_for_the_same_work() -> None:
    # Its page's own example: 100,000 events, 10,000 records, 100,000 retrievals.
    work = Workload(name="", tenants=1, memories=10_000, writes=100_000, recalls=100_000, hours=730, cold=0)
    assert agentcore_month(work, prices(), built_in=True) == pytest.approx(82.50)
    assert agentcore_month(DEVELOPER, prices(), built_in=False) == pytest.approx(0.25 + 1.25 + 1.50)
    assert agentcore_month(MILLION, prices(), built_in=True) == pytest.approx(25 + 750 + 500)


def test_the_engines_prices_give_the_sum_of_amazons_example() -> None:
    # 10 million vectors in 40 indexes, 6.17 KB each of which 1 KB can't be filtered by, a sixth put anew, a million
    # queries: the sum was read second-hand; that it comes out so is why the prices of a scan are taken for right.
    held = VectorIndexes(40, 250_000, 6.17 * 1024, 5.17 * 1024)
    month = vectors_month(held, 10_000_000 / 6, 1_000_000, prices())
    assert sum(month.values()) == pytest.approx(11.38, abs=0.02)


def test_small_puts_to_the_engine_are_paid_as_128_kilobytes_a_batch() -> None:
    tiny = VectorIndexes(1, 500, 1.0, 1.0)
    assert vectors_month(tiny, 500, 0, prices())["vectors_put"] == pytest.approx(0.20 * 128 / 1024 / 1024)


def test_the_report_of_a_sleep_reckons_by_the_same_prices() -> None:
    held = prices()
    assert PRICES["create"] == pytest.approx(held["s3_write"].of(1))
    assert PRICES["get"] == pytest.approx(held["s3_read"].of(1))


def test_a_price_without_a_source_or_a_date_is_refused() -> None:
    for price in prices().values():
        assert price.source
        assert price.date.year >= 2026
    with pytest.raises(TypeError, match="source"):
        Price(usd=1.0, per=1.0, what="x")  # type: ignore[call-arg]
