"""Every threat of SECURITY.md is tied to tests that exist."""

from __future__ import annotations

import ast
import re

from tests.structure.source_tree import ROOT

TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?!threat |---)(.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
NAMED = re.compile(r"`(tests/[a-z_/]+\.py)::(test_[A-Za-z0-9_]+)`")


def names_in(path: str) -> set[str]:
    """The names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_threat_names_tests_and_nothing_else() -> None:
    rows = ROW.findall(TEXT)
    assert len(rows) >= 15
    for threat, defence, tests in rows:
        assert defence, threat
        assert NAMED.sub("", tests).strip(", ") == "", threat


def test_every_test_that_a_threat_names_exists() -> None:
    named = NAMED.findall(TEXT)
    assert not [f"{path}::{name}" for path, name in named if name not in names_in(path)]


def test_every_file_of_security_tests_stands_against_a_threat() -> None:
    files = {f"tests/security/{path.name}" for path in (ROOT / "tests/security").glob("test_*.py")}
    assert files - {path for path, _ in NAMED.findall(TEXT)} - {"tests/security/test_oauth_flow.py"} == set()
