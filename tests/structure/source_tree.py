"""The repository as data: its modules, their syntax trees, its tracked files.

Owns: where code lies and how it is read. Guarantees: a module that does not parse fails the test that asks.
Gives up: caching between runs.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "layers/core/python"
FUNCTIONS = ROOT / "functions"
TESTS = ROOT / "tests"
BENCHMARKS = ROOT / "benchmarks"
INFRA = ROOT / "infra"


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its place, dotted name, number of lines and syntax tree."""

    path: Path
    name: str
    lines: int
    tree: ast.Module

    @property
    def place(self) -> str:
        """The path from the root of the repository, with `/`."""
        return self.path.relative_to(ROOT).as_posix()


@cache
def modules_under(base: Path) -> tuple[Module, ...]:
    """Every module below `base`, named from there."""
    return tuple(_load(path, base) for path in sorted(base.rglob("*.py")))


def product_modules() -> tuple[Module, ...]:
    """What runs in production: the core and the functions."""
    return modules_under(CORE) + modules_under(FUNCTIONS)


def modules_of_tests() -> tuple[Module, ...]:
    """Everything under tests/."""
    return modules_under(TESTS)


def benchmark_modules() -> tuple[Module, ...]:
    """Everything under benchmarks/."""
    return modules_under(BENCHMARKS)


def deployment_modules() -> tuple[Module, ...]:
    """Everything under infra/."""
    return modules_under(INFRA)


def strings_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and value of every string constant, parts of f-strings too; docstrings excepted."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def imports_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every module that the tree imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def tracked_files() -> tuple[Path, ...]:
    """Every file that git tracks or would add. Skips where there is no git checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = (ROOT / name for name in listing.stdout.decode().split("\0") if name)
    return tuple(path for path in paths if path.is_file())


def _load(path: Path, base: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    parts = path.relative_to(base).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(path, name, len(text.splitlines()), ast.parse(text, str(path)))
