"""An audit that looked at nothing says so, and the bill of materials names what is served."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import pytest

from tests.structure.source_tree import ROOT
from tests.supply import audit
from tests.supply.audit import UNREACHABLE, judged, main

SAFE: dict[str, Any] = {"name": "a", "version": "1", "vulns": []}
LEFT: dict[str, Any] = {"name": "b", "skip_reason": "not found"}
BROKEN: dict[str, Any] = {
    "name": "c",
    "version": "2",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}, {"id": "PYSEC-2", "fix_versions": []}],
}


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_database_that_could_not_be_asked_is_said_and_is_no_clean_bill() -> None:
    assert judged({"dependencies": [LEFT]}) == ([f"{UNREACHABLE} (1 packages not looked up)"], 0)


def test_a_package_that_was_left_out_among_others_fails() -> None:
    lines, code = judged({"dependencies": [SAFE, LEFT]})
    assert (lines[0], code) == ("b: not looked up", 1)


def test_a_known_vulnerability_fails_and_names_the_version_that_mends_it() -> None:
    lines, code = judged({"dependencies": [SAFE, BROKEN]})
    assert lines == [
        "c 2: PYSEC-1, mended in 3",
        "c 2: PYSEC-2, mended in no version",
        "packages 2, known vulnerabilities 2, not looked up 0",
    ]
    assert code == 1


def test_what_is_clean_passes_with_its_figures() -> None:
    assert judged({"dependencies": [SAFE]}) == (["packages 1, known vulnerabilities 0, not looked up 0"], 0)


def test_an_audit_that_is_not_installed_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(audit, "PROGRAM", ROOT / "no-such-program"):
        assert main(["requirements/run.txt"]) == 0
    assert capsys.readouterr().out == f"{UNREACHABLE} (pip-audit is not installed)\n"


def test_ci_audits_and_every_pinned_file_that_is_served_is_looked_at() -> None:
    assert "make audit" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    (audited,) = re.findall(
        r"^AUDITED := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    (listed,) = re.findall(r"^SERVED := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(listed.split()) <= set(audited.replace("$(SERVED)", listed).split())
    served = {f"requirements/{name}.txt" for name in ("run", "embed", "multilingual")}
    assert served == set(listed.split())
