"""The table of client x step that a run ends with."""

from __future__ import annotations

import pytest

from tests.clients.steps import STEPS, TABLE


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a client: what it did, or why it could not be tried."""
    if not TABLE:
        return
    widths = [max(len(name) for name in TABLE), *(len(step) for step in STEPS)]
    rows = [("client", *STEPS), *((name, *cells) for name, cells in TABLE.items())]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        terminalreporter.write_line("  ".join(cells).rstrip())
