"""What the proof found and the product does not do yet; each goes when it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.test_every_fault_point import Scenario, superseding, visit

WITHDRAWN = Scenario("withdraw", "update_memory", superseding(lambda i: {"id": i, "clear": ["supersedes"]}))


@pytest.mark.xfail(
    raises=AssertionError, strict=True, reason="a repeat takes back no note that a process left when it died"
)
@pytest.mark.promise("P-IDEMPOTENT")
def test_a_repeated_withdrawal_takes_back_the_note_on_what_was_superseded(folder: Path) -> None:
    visit(folder, WITHDRAWN)
