"""`make audit`: known vulnerabilities among the pinned requirements, by pip-audit.

Owns: the reading of pip-audit's report and the exit code. Guarantees: 1 where a vulnerability is known, or where some
packages were looked up and others were not; a database that can't be reached is said as skipped, with its number,
since pip-audit itself calls a package that it could not look up no known vulnerability.
Gives up: judging a vulnerability; each is named with the version that mends it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]

PROGRAM = Path(f"{sys.prefix}-supply") / "bin" / "pip-audit"
OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
SECONDS = 240
UNREACHABLE = "skipped: the vulnerability database can't be reached"


def main(files: Sequence[str]) -> int:
    """Look at the pinned files; 1 where something is known or was left out."""
    try:
        report = _report(files)
    except FileNotFoundError:
        report, why = None, "pip-audit is not installed"
    except subprocess.TimeoutExpired:
        report, why = None, f"no answer within {SECONDS} s"
    else:
        why = "no report"
    lines, code = ([f"{UNREACHABLE} ({why})"], 0) if report is None else judged(report)
    print("\n".join(lines))
    return code


def _report(files: Sequence[str]) -> Json | None:
    named = [part for file in files for part in ("--requirement", file)]
    done = subprocess.run([PROGRAM, *OPTIONS, *named], capture_output=True, text=True, timeout=SECONDS)
    try:
        report: Json = json.loads(done.stdout)
    except ValueError:
        # What it writes before it gives up is a stack; its last line says what it could not do.
        print("\n".join(done.stderr.splitlines()[-1:]))
        return None
    return report


def judged(report: Json) -> tuple[list[str], int]:
    """The lines to print, and the exit code."""
    packages = {package["name"]: package for package in report["dependencies"]}
    left = [name for name, package in packages.items() if "skip_reason" in package]
    if left and len(left) == len(packages):
        return [f"{UNREACHABLE} ({len(left)} packages not looked up)"], 0
    known = [
        f"{name} {package['version']}: {found['id']}, mended in {', '.join(found['fix_versions']) or 'no version'}"
        for name, package in packages.items()
        for found in package.get("vulns", ())
    ]
    missed = [f"{name}: not looked up" for name in left]
    figures = f"packages {len(packages)}, known vulnerabilities {len(known)}, not looked up {len(left)}"
    return [*known, *missed, figures], 1 if known or missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
