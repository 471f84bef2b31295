"""Clock, randomness, environment and the AWS SDK are reached only where they are owned.

ruff resolves names and holds the bans (pyproject.toml, TID251). Here: each ban works, and a file that is
exempt from the rule uses only what it owns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.structure.source_tree import ROOT, product_modules

PYPROJECT = ROOT / "pyproject.toml"
ADAPTERS = "layers/core/python/lodestore/adapters"
# Which kinds of banned names (first word of the ban's message) a product file may use.
OWNED: Mapping[str, str] = {
    f"{ADAPTERS}/system_clock.py": "clock",
    f"{ADAPTERS}/system_entropy.py": "randomness",
    f"{ADAPTERS}/s3_*.py": "sdk",
    f"{ADAPTERS}/s3vectors_*.py": "sdk",
    f"{ADAPTERS}/bedrock_*.py": "sdk",
    f"{ADAPTERS}/sqs_*.py": "sdk",
    "layers/core/python/lodestore/bootstrap.py": "environment",
}


def _bans() -> dict[str, str]:
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    banned: dict[str, dict[str, str]] = settings["flake8-tidy-imports"]["banned-api"]
    return {name: ban["msg"] for name, ban in banned.items()}


def _ruff(arguments: Sequence[str], config: Path) -> list[dict[str, str]]:
    base = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "json"]
    command = [*base, "--config", str(config), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert answer.returncode in (0, 1), answer.stderr
    findings: list[dict[str, str]] = json.loads(answer.stdout)
    return findings


def _use_of(name: str) -> str:
    package, _, attribute = name.partition(".")
    return f"import {package}\n\n{package}.{attribute or 'anything'}\n"


@pytest.fixture
def strict_config(tmp_path: Path) -> Path:
    """The project's bans with no file exempt."""
    text = PYPROJECT.read_text(encoding="utf-8")
    head, _, rest = text.partition("[tool.ruff.lint.per-file-ignores]\n")
    _, _, tail = rest.partition("\n[")
    config = tmp_path / "pyproject.toml"
    config.write_text(f"{head}[{tail}", encoding="utf-8")
    return config


def test_ruff_refuses_each_banned_name_in_ordinary_code(tmp_path: Path, strict_config: Path) -> None:
    for number, name in enumerate(_bans()):
        (tmp_path / f"use_{number}.py").write_text(_use_of(name), encoding="utf-8")
    findings = _ruff(["--select", "TID251", str(tmp_path)], strict_config)
    reported = {finding["message"].split("`")[1] for finding in findings}
    assert reported == set(_bans())


def test_a_name_taken_out_of_its_module_is_refused_too(tmp_path: Path, strict_config: Path) -> None:
    source = "from datetime import datetime as moment\nfrom os import environ\n\nmoment.now()\nenviron\n"
    (tmp_path / "aliased.py").write_text(source, encoding="utf-8")
    findings = _ruff(["--select", "TID251", str(tmp_path)], strict_config)
    assert {finding["message"].split("`")[1] for finding in findings} == {
        "datetime.datetime.now",
        "os.environ",
    }


def test_product_code_uses_only_what_its_file_owns(strict_config: Path) -> None:
    places = [str(module.path) for module in product_modules()]
    findings = _ruff(["--select", "TID251", "--ignore-noqa", *places], strict_config)
    strays = [
        f"{place}: {finding['message']}"
        for finding in findings
        for place in [Path(finding["filename"]).relative_to(ROOT).as_posix()]
        if _kind(finding["message"])
        not in [kind for pattern, kind in OWNED.items() if fnmatch(place, pattern)]
    ]
    assert not strays


def _kind(message: str) -> str:
    """`clock` of "`time.time` is banned: clock: take ..."."""
    return message.split(": ")[1]
