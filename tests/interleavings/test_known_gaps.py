"""Schedules that are known to end wrongly. Each is an exploration that must go through once the gap is closed."""

from __future__ import annotations

import pytest

from tests.interleavings.actors import Program
from tests.interleavings.explorer import BrokenPromise, explore
from tests.interleavings.scenario import End, Scenario
from tests.interleavings.staging import TWO_SEGMENTS
from tests.interleavings.steps import call


def _no_cycle(end: End) -> list[str]:
    office, lunch = end.records["office"], end.records["lunch"]
    both = office["supersedes"] == ["lunch"] and lunch["supersedes"] == ["office"]
    return ["two memories supersede each other, and neither is found"] if both else []


EACH_OTHER = Scenario(
    name="supersede-each-other",
    says="two updates at once, each of which makes its memory supersede the other's",
    ids=("office", "lunch"),
    beginning=TWO_SEGMENTS,
    programs=(
        Program("one", (call("update_memory", id="office", supersedes=("lunch",)),)),
        Program("other", (call("update_memory", id="lunch", supersedes=("office",)),)),
    ),
    may_fail=True,
    judge=_no_cycle,
)


@pytest.mark.xfail(raises=BrokenPromise, reason="both look for a cycle before either writes")
@pytest.mark.promise("P-NO-LOST-UPDATE")
def test_of_two_memories_that_would_supersede_each_other_one_is_refused() -> None:
    explore(EACH_OTHER)
