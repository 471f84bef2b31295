"""docs/performance.md, from what a run found.

Owns: the document. Guarantees: every table says by which command, at which commit, when and on what it was measured; no
number in it is written by hand.
Gives up: prose about the numbers; `notes` of each benchmark say how to read them.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.performance.report import Report, bounds_table

ROOT = Path(__file__).resolve().parents[2]
_CPU_INFO = Path("/proc/cpuinfo")
_INTRODUCTION = """# What it costs

Requests, bytes, milliseconds and memory, each beside its bound or beside a competitor in the same run. This page is
written by `python -m benchmarks.performance --write` and by nothing else; `make bench` prints the same tables, in a
minute with `make bench QUICK=1`, and fails where a bound is missed. Counts are exact. Milliseconds depend on the
machine, and are taken as CPU time by turns with what they are compared with, so compare ratios."""


def document(reports: Mapping[str, Report]) -> str:
    """The page. `reports` are by the name that `--only` takes."""
    sections = [
        report.markdown().replace("\n\n", f"\n\n{_measured(name)}\n\n", 1) for name, report in reports.items()
    ]
    bounds = bounds_table(reports.values()).markdown()
    return "\n\n".join([_INTRODUCTION, f"## In short\n\n{_measured('')}", bounds, *sections]) + "\n"


def where_and_when() -> str:
    """Commit, date, machine, and how busy it is: runnable processes, the mean of the last minute."""
    return (
        f"commit {_commit()}, {datetime.now(UTC).date().isoformat()}, Python {platform.python_version()},"
        f" {os.cpu_count()} CPUs ({_processor()}), load {os.getloadavg()[0]:.1f}"
    )


def _measured(name: str) -> str:
    only = f" --only {name}" if name else ""
    return f"*`python -m benchmarks.performance{only}`: {where_and_when()}.*"


def _commit() -> str:
    short = _git("rev-parse", "--short", "HEAD")
    if not short:
        return "unknown"
    changed = _git("status", "--porcelain", "--", "layers", "functions", "benchmarks", "requirements")
    return f"{short} and changes" if changed else short


def _git(*arguments: str) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    done = subprocess.run([git, *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    lines = _CPU_INFO.read_text().splitlines() if _CPU_INFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
