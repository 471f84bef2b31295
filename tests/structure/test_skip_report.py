"""A skip is counted by its reason, and an unlisted reason fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.structure.skip_report import ALLOWED_SKIPS, load_allowed, unlisted
from tests.structure.source_tree import ROOT


def _run(tmp_path: Path, body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n{body}", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.structure.skip_report",
        "--rootdir",
        str(tmp_path),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, "-c", os.devnull, *arguments, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
    )


LISTED = "this is no git checkout"
SKIP = "def test_{name}():\n    pytest.skip({reason!r})\n\n\n"


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "with xdist"])
def test_an_unlisted_reason_fails_a_run_in_which_all_else_passed(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    body = "def test_good():\n    pass\n\n\n" + SKIP.format(name="bad", reason="not today")
    answer = _run(tmp_path, body, *workers)
    assert answer.returncode == 1
    assert "1 passed, 1 skipped" in answer.stdout
    assert "  1 x not today (UNLISTED)" in answer.stdout.splitlines()[-2]


def test_listed_reasons_are_counted_in_the_last_lines(tmp_path: Path) -> None:
    body = "".join(SKIP.format(name=name, reason=LISTED) for name in "ab")
    answer = _run(tmp_path, body + "@pytest.mark.xfail\ndef test_known():\n    raise ValueError\n")
    assert answer.returncode == 0
    assert answer.stdout.splitlines()[-2:] == ["skips by reason:", f"  2 x {LISTED}"]


def test_a_module_that_skips_itself_is_counted(tmp_path: Path) -> None:
    answer = _run(tmp_path, "pytest.skip('no such machine', allow_module_level=True)\n")
    assert answer.returncode == 1
    assert "1 x no such machine (UNLISTED)" in answer.stdout


def test_a_star_stands_for_any_text_and_nothing_else_does(tmp_path: Path) -> None:
    listing = tmp_path / "listed.txt"
    listing.write_text("# a comment\n\nneeds *, found none\n", encoding="utf-8")
    allowed = load_allowed(listing)
    assert unlisted(["needs a [disk], found none", "needs"], allowed) == ["needs"]


def test_the_list_in_force_is_read() -> None:
    assert unlisted([LISTED], load_allowed(ALLOWED_SKIPS)) == []
