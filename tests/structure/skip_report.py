"""Counts skips by reason, and fails a run that skips for a reason that nobody listed.

Owns: the last lines of a run's output.
Guarantees: a skip can't hide; its reason stands in `allowed_skips.txt`, or the run exits 1.
Gives up: deciding which skips are right; whoever lists a reason does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")


def load_allowed(path: Path) -> list[re.Pattern[str]]:
    """One pattern for each line that is neither blank nor a `#` comment; `*` stands for any text."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [
        re.compile(".*".join(re.escape(part) for part in line.split("*")))
        for line in lines
        if line and not line.startswith("#")
    ]


def unlisted(reasons: Iterable[str], allowed: Iterable[re.Pattern[str]]) -> list[str]:
    """The reasons that no pattern matches whole, sorted."""
    patterns = list(allowed)
    return sorted(reason for reason in reasons if not any(pattern.fullmatch(reason) for pattern in patterns))


class SkipReport:
    """Gathers skips on the process that reports (with xdist: the controller)."""

    def __init__(self, allowed: list[re.Pattern[str]]) -> None:
        self.allowed = allowed
        self.reasons: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._count(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._count(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        # Outermost wrapper: what follows the yield is printed after pytest's own summary line.
        refused = unlisted(self.reasons, self.allowed)
        if refused and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        yield
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            for line in self.lines(refused):
                terminal.write_line(line)

    def lines(self, refused: list[str]) -> list[str]:
        """The report, most frequent reason first."""
        if not self.reasons:
            return ["skips by reason: none"]
        counted = [
            f"  {count} x {reason}{' (UNLISTED)' if reason in refused else ''}"
            for reason, count in self.reasons.most_common()
        ]
        lines = ["skips by reason:", *counted]
        if refused:
            lines.append(
                f"{len(refused)} reason(s) not in tests/structure/{ALLOWED_SKIPS.name}: the run fails"
            )
        return lines

    def _count(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        # An expected failure is reported as skipped too; it is no skip.
        if report.skipped and not hasattr(report, "wasxfail"):
            _, _, reason = (
                report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
            )
            self.reasons[reason.removeprefix("Skipped: ")] += 1


def pytest_configure(config: pytest.Config) -> None:
    """Registers the report where results arrive: not on an xdist worker."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipReport(load_allowed(ALLOWED_SKIPS)), "lodestore-skip-report")
