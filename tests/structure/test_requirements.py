"""What is installed is pinned, hashed and the same wherever it is installed."""

from __future__ import annotations

import re

import pytest

from tests.structure.source_tree import ROOT

SETS = ["run", "dev", "emulators", "embed", "cdk", "layer-core", "layer-mcp", "supply"]


def _entries(name: str) -> list[str]:
    """The requirements of a pinned file, each with its continuation lines."""
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    return re.sub(r"\\\n", "", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)).splitlines()


def _pins(name: str) -> dict[str, str]:
    pairs = (entry.split()[0].split("==") for entry in _entries(name))
    return {re.sub(r"\[.*\]", "", package): version for package, version in pairs}


@pytest.mark.parametrize("name", SETS)
def test_every_requirement_is_one_version_with_hashes(name: str) -> None:
    form = re.compile(r"[a-z0-9.-]+(\[[a-z0-9,-]+\])?==[^ ]+ ( ?; [^\\]+? )?( *--hash=sha256:[0-9a-f]{64})+")
    assert _entries(name)
    assert not [entry[:80] for entry in _entries(name) if not form.fullmatch(entry.rstrip())]


@pytest.mark.parametrize("name", SETS)
def test_what_is_asked_for_is_pinned(name: str) -> None:
    lines = (ROOT / f"requirements/{name}.in").read_text(encoding="utf-8").splitlines()
    asked = {re.split(r"[<>=!~\[]", line)[0].lower() for line in lines if line and line[0] not in "#-"}
    assert asked <= set(_pins(name))


def test_tests_run_with_the_very_versions_that_are_served() -> None:
    assert _pins("run").items() <= _pins("dev").items()


@pytest.mark.parametrize("name", ["layer-core", "layer-mcp"])
def test_functions_run_with_the_very_versions_that_are_tested(name: str) -> None:
    assert _pins(name).items() <= _pins("run").items()
