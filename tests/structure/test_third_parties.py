"""Each part imports the libraries that it was granted, and the pure ones do no I/O."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.metadata import packages_distributions

import pytest

from tests.structure.source_tree import ROOT, Module, imports_of, product_modules

OURS = {"lodestore", "mcp_server", "indexer", "maintenance", "local_runner"}
GRANTED: Mapping[str, frozenset[str]] = {
    "lodestore.errors": frozenset(),
    "lodestore.settings": frozenset(),
    "lodestore.domain": frozenset(),
    "lodestore.ports": frozenset({"numpy"}),
    "lodestore.format": frozenset(),
    "lodestore.retrieval": frozenset({"numpy", "safetensors", "simsimd", "Stemmer"}),
    "lodestore.services": frozenset({"numpy"}),
    "lodestore.adapters": frozenset(
        {"boto3", "botocore", "numpy", "onnxruntime", "threadpoolctl", "tokenizers", "urllib3", "jwt"}
    ),
    "lodestore.bootstrap": frozenset(),
    "mcp_server": frozenset({"mcp", "mcp_types", "anyio", "aws_lambda_powertools"}),
    "indexer": frozenset({"aws_lambda_powertools"}),
    "maintenance": frozenset({"aws_lambda_powertools"}),
    "local_runner": frozenset({"h11", "markdown_it", "rich", "uvicorn", "watchfiles", "yaml"}),
}
PURE = (
    "lodestore.errors",
    "lodestore.settings",
    "lodestore.domain",
    "lodestore.format",
    "lodestore.retrieval",
)
INPUT_AND_OUTPUT = frozenset(
    "asyncio fcntl fileinput glob http io logging mmap multiprocessing os pathlib select shutil signal socket"
    " socketserver sqlite3 ssl subprocess sys tempfile threading time urllib".split()
)


def _part(module: Module) -> str | None:
    return next((part for part in GRANTED if module.name == part or module.name.startswith(f"{part}.")), None)


def _imported(module: Module) -> set[str]:
    return {name.partition(".")[0] for _, name in imports_of(module.tree)}


def _normal(distribution: str) -> str:
    return distribution.strip().lower().replace("_", "-")


def test_every_module_belongs_to_a_part() -> None:
    assert [
        module.place for module in product_modules() if _part(module) is None and module.name != "lodestore"
    ] == []


@pytest.mark.parametrize("part", GRANTED)
def test_a_part_imports_only_the_libraries_it_was_granted(part: str) -> None:
    allowed = GRANTED[part] | OURS | sys.stdlib_module_names
    strays = {
        module.place: sorted(_imported(module) - allowed)
        for module in product_modules()
        if _part(module) == part and _imported(module) - allowed
    }
    assert not strays


@pytest.mark.parametrize("part", PURE)
def test_a_pure_part_reaches_for_no_input_or_output(part: str) -> None:
    reaching = {
        module.place: sorted(_imported(module) & INPUT_AND_OUTPUT)
        for module in product_modules()
        if _part(module) == part and _imported(module) & INPUT_AND_OUTPUT
    }
    assert not reaching


def test_a_library_that_is_imported_is_asked_for_by_name() -> None:
    asked = {
        _normal(re.split(r"[<>=!~\[]", line)[0])
        for name in ("run", "embed", "multilingual")
        for line in (ROOT / f"requirements/{name}.in").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
    imported = (
        set().union(*(_imported(module) for module in product_modules())) - OURS - sys.stdlib_module_names
    )
    distributions = packages_distributions()
    # What embed.in and multilingual.in ask for need not be installed; there a distribution has the name of its module.
    missing = [
        name for name in imported if not asked & {_normal(found) for found in distributions.get(name, [name])}
    ]
    assert not missing, "only there because another library needs it: add it to requirements/run.in"
