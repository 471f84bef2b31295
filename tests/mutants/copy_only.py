"""A pytest plugin for runs in a copy: only the copy's code is tested, and the test that failed is written down.

Owns: both. Guarantees: the run ends at once unless the product under test is the copy that lies beside the tests, so
no mutant is taken for noticed, or for harmless, by tests of another code; a set-up that fails is no test that failed.
Gives up: programs that a test starts by the name under which they are installed; no selection does.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

OTHER_CODE = 9


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failed-to", type=Path, help="a file for the name of the first test that failed")


def pytest_sessionstart(session: pytest.Session) -> None:
    import lodestore
    import mcp_server

    root = Path(session.config.rootpath)
    for package in (lodestore, mcp_server):
        place = Path(str(package.__file__))
        if not place.is_relative_to(root):
            pytest.exit(f"{place} is not in {root}", returncode=OTHER_CODE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    to: Path | None = item.config.getoption("--failed-to")
    if to is not None and report.failed and report.when == "call" and not to.exists():
        to.write_text(item.nodeid, encoding="utf-8")
    return report
