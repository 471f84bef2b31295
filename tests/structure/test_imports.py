"""The import contracts of pyproject.toml refuse what they are there to refuse."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.structure.source_tree import ROOT

PYPROJECT = ROOT / "pyproject.toml"
PARTS = "settings errors domain ports format retrieval services adapters bootstrap".split()
FUNCTIONS = "mcp_server indexer maintenance local_runner".split()


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    return subprocess.run(
        [*command, "--no-cache", "--no-logo", "pyproject.toml"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The project's packages, empty, under its own contracts."""
    packages = [tmp_path / "lodestore", *(tmp_path / "lodestore" / part for part in PARTS)]
    for package in [*packages, *(tmp_path / name for name in FUNCTIONS)]:
        package.mkdir()
        (package / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_bytes(PYPROJECT.read_bytes())
    return tmp_path


def _break(tree: Path, importer: str, imported: str) -> None:
    path = tree.joinpath(*importer.split("."))
    path.mkdir(exist_ok=True)
    (path / "__init__.py").write_text(f"import {imported}\n", encoding="utf-8")


def test_the_layout_without_imports_is_kept(tree: Path) -> None:
    answer = _lint(tree)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("importer", "imported", "contract"),
    [
        ("lodestore.domain", "lodestore.services", "The core imports one way"),
        ("lodestore.format", "lodestore.ports", "The core imports one way"),
        ("lodestore.adapters", "lodestore.services", "The core imports one way"),
        ("lodestore.errors", "lodestore.settings", "The core imports one way"),
        ("lodestore.stray", "lodestore.domain", "The core imports one way"),
        ("lodestore.services", "lodestore.adapters", "Only bootstrap knows the adapters"),
        ("local_runner", "lodestore.adapters", "Only bootstrap knows the adapters"),
        ("lodestore.bootstrap", "boto3", "Only adapters know the AWS SDK"),
        ("mcp_server", "botocore", "Only adapters know the AWS SDK"),
        ("indexer", "mcp", "Only the MCP server knows MCP"),
        ("lodestore.services", "mcp_types", "Only the MCP server knows MCP"),
        ("local_runner", "mcp", "The local runner reaches MCP only through the server's handlers"),
        ("indexer", "maintenance", "Functions know the core"),
        ("lodestore.bootstrap", "local_runner", "Functions know the core"),
        ("lodestore.services", "aws_lambda_powertools", "Telemetry stays at the edge"),
    ],
)
def test_an_import_against_the_direction_is_refused(
    tree: Path, importer: str, imported: str, contract: str
) -> None:
    _break(tree, importer, imported)
    answer = _lint(tree)
    assert answer.returncode == 1
    broken = [line for line in answer.stdout.splitlines() if line.endswith("BROKEN")]
    assert [line for line in broken if line.startswith(contract)], answer.stdout


def test_adapters_may_know_the_sdk(tree: Path) -> None:
    _break(tree, "lodestore.adapters.s3_store", "boto3")
    assert _lint(tree).returncode == 0


def test_every_package_that_runs_is_under_a_contract() -> None:
    linter = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]
    functions = {path.parent.name for path in (ROOT / "functions").glob("*/__init__.py")}
    assert set(linter["root_packages"]) == functions | {"lodestore"}
