"""No schedule breaks a promise: the quick scenarios in full. `make interleavings` explores them all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

import pytest

from lodestore.services import indexing
from tests.interleavings.explorer import BrokenPromise, explore
from tests.interleavings.full_run import main
from tests.interleavings.scenario import Scenario
from tests.interleavings.scenarios import SCENARIOS
from tests.interleavings.steps import COLLECT, INDEX, MERGE, REBUILD

REPLAYS = 3


def named(name: str) -> Scenario:
    return next(scenario for scenario in SCENARIOS if scenario.name == name)


@pytest.fixture
def without_marker_lag() -> Iterator[None]:
    """An indexer that deletes markers as soon as the index shows them."""
    with patch.object(indexing, "MARKER_LAG", timedelta(0)):
        yield


@pytest.mark.promise(
    "P-DURABLE", "P-READ-YOUR-WRITES", "P-TRUTH", "P-FORGOTTEN", "P-IDEMPOTENT", "P-NO-LOST-UPDATE"
)
def test_no_schedule_breaks_a_promise(scenario: Scenario) -> None:
    figures = explore(scenario, replays=REPLAYS)
    assert figures.schedules > figures.states > 1_000
    assert figures.replayed > 0


def test_every_write_meets_every_kind_of_upkeep() -> None:
    writes, upkeep = ("remember", "update_memory", "forget"), (INDEX, MERGE, REBUILD, COLLECT)
    for tool in (*writes, *upkeep):
        assert any(scenario.does(tool) for scenario in SCENARIOS), tool
    for work in (INDEX, MERGE, REBUILD):
        met = {
            tool for scenario in SCENARIOS if scenario.does(work) for tool in writes if scenario.does(tool)
        }
        assert met == set(writes), work
    assert {len(scenario.programs) for scenario in SCENARIOS} <= {2, 3, 4}
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


@pytest.mark.usefixtures("without_marker_lag")
def test_a_broken_rule_is_found_and_the_way_to_it_told() -> None:
    with pytest.raises(BrokenPromise) as found:
        explore(named("markers-of-a-new-memory"))
    told = str(found.value)
    assert "is not shown, though it is there" in told
    assert "reader: list pending/acme/" in told
    assert "indexer: delete pending/acme/" in told


def test_the_same_scenario_is_explored_the_same_way_every_time() -> None:
    first, second = (explore(named("merge-beside-update")) for _ in range(2))
    assert first == second


def test_an_unknown_scenario_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-scenario"]) == 2
    assert "unknown: no-such-scenario" in capsys.readouterr().err
