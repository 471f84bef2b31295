"""No schedule breaks a promise: the quick scenarios in full. `make interleavings` explores them all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from unittest.mock import patch

import pytest

from lodestore.domain.memory import Record
from lodestore.services import indexing
from lodestore.services.ledger import Ledger, Standing
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


@pytest.fixture
def ledger_that_writes_over_whatever_stands() -> Iterator[None]:
    """A ledger that looks at the ETag just before it writes, and so never loses a race that it should lose."""
    attempt = Ledger._attempt

    def blind(
        self: Ledger, tenant: str, memory_id: str, over: Standing | None, record: Record, *, unsure: bool
    ) -> object:
        standing = self.read(tenant, memory_id) if over is not None else None
        return attempt(self, tenant, memory_id, standing, record, unsure=unsure)

    with patch.object(Ledger, "_attempt", blind):
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


@pytest.mark.usefixtures("ledger_that_writes_over_whatever_stands")
def test_a_lost_update_is_found_and_its_schedule_finds_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BrokenPromise, match="lost update: a commit does not continue the record") as found:
        explore(named("two-updates"))
    told = str(found.value)
    again = re.search(
        r"^again: make interleavings SCENARIOS=two-updates SCHEDULE=([\d.]+)$", told, re.MULTILINE
    )
    assert again is not None
    assert main(["two-updates", "--schedule", again[1]]) == 1
    assert capsys.readouterr().out == f"{told}\n"


@pytest.mark.usefixtures("ledger_that_writes_over_whatever_stands")
def test_the_command_fails_and_says_why_in_each_scenario_that_breaks_a_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with patch("tests.interleavings.full_run.ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1)):
        assert main(["two-updates", "successor-forgotten"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^two-updates +a promise is broken, see below +[12]/2$", out, re.MULTILINE)
    assert "again: make interleavings SCENARIOS=two-updates SCHEDULE=" in out
    figures = r"2 scenarios, [\d,]+ states, [\d,]+ schedules, depth \d+, violations 1"
    assert re.fullmatch(figures, out.splitlines()[-1])


def test_a_schedule_that_breaks_nothing_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["successor-forgotten", "--schedule", "0.0.0"]) == 0
    out = capsys.readouterr().out
    assert "successor-forgotten, 3 choices:" in out
    assert "no promise is broken" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["successor-forgotten", "--schedule", "0.99"], "not number 99"),
        (["successor-forgotten", "--schedule", "0,1"], "numbers with dots between"),
        (["--schedule", "0.1"], "of one scenario"),
    ],
)
def test_a_schedule_that_does_not_exist_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_the_same_scenario_is_explored_the_same_way_every_time() -> None:
    first, second = (explore(named("merge-beside-update")) for _ in range(2))
    assert first == second


def test_an_unknown_scenario_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-scenario"]) == 2
    assert "unknown: no-such-scenario" in capsys.readouterr().err
