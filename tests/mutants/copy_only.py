"""A pytest plugin: the run ends at once unless the product under test is the copy that lies beside the tests.

Owns: that one check. Guarantees: no mutant is taken for noticed, or for harmless, by tests of another code.
Gives up: programs that a test starts by the name under which they are installed; no selection does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

OTHER_CODE = 9


def pytest_sessionstart(session: pytest.Session) -> None:
    import lodestore
    import mcp_server

    root = Path(session.config.rootpath)
    for package in (lodestore, mcp_server):
        place = Path(str(package.__file__))
        if not place.is_relative_to(root):
            pytest.exit(f"{place} is not in {root}", returncode=OTHER_CODE)
