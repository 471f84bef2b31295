"""`--scenarios=name,name` explores others than the quick ones."""

from __future__ import annotations

import pytest

from tests.interleavings.scenarios import SCENARIOS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scenarios", help="names of scenarios, by commas, instead of the quick ones")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "scenario" in metafunc.fixturenames:
        # Without a path below this folder on the command line the option is not there.
        named = (metafunc.config.getoption("scenarios", default=None) or "").split(",")
        chosen = [one for one in SCENARIOS if (one.name in named if any(named) else one.quick)]
        metafunc.parametrize("scenario", chosen, ids=lambda one: one.name)
