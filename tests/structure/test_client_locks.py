"""Foreign programs of the tests are pinned whole: each package that comes along by version and hash."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.clients.environments import LOCKS, npm_package, python_environment
from tests.cloud.stacks import pinned_cdk

NPM = sorted((LOCKS / "npm").glob("*/package-lock.json"))
PYTHON = sorted((LOCKS / "python").glob("*.txt"))
PINNED = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,-]+\])?==\S+")


@pytest.mark.parametrize("lock", NPM, ids=lambda lock: lock.parent.name)
def test_an_npm_lock_holds_the_hash_of_every_package_and_no_address(lock: Path) -> None:
    held = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    root = held.pop("")
    assert root["dependencies"] == json.loads((lock.parent / "package.json").read_text())["dependencies"]
    assert all(re.fullmatch(r"[\d.]+(-[a-z]+\.\d+)?", version) for version in root["dependencies"].values())
    assert held
    # What a package brings along inside of itself is under that package's hash.
    hashed = [one for one in held.values() if not one.get("inBundle")]
    assert [one for one in hashed if not one.get("integrity", "").startswith("sha512-")] == []
    assert [one for one in held.values() if "resolved" in one] == []
    names = {place.rpartition("node_modules/")[2] for place in held}
    assert {name for one in held.values() for name in one.get("optionalDependencies", {})} <= names


@pytest.mark.parametrize("lock", PYTHON, ids=lambda lock: lock.stem)
def test_a_python_lock_holds_hashes_of_every_package(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert lines
    assert [line for line in lines if not PINNED.match(line) or "--hash=sha256:" not in line] == []
    pins = {line.split()[0] for line in lines}
    asked = lock.with_suffix(".in").read_text(encoding="utf-8").split()
    assert {re.sub(r"\[.*\]", "", one) for one in asked} <= pins


def test_the_command_line_of_the_cdk_is_the_one_that_is_locked() -> None:
    name, _, version = pinned_cdk().rpartition("@")
    described = json.loads((LOCKS / "npm" / "cdk" / "package.json").read_text(encoding="utf-8"))
    assert described["dependencies"] == {name: version}


def test_a_version_that_no_lock_pins_is_refused_before_anything_is_installed() -> None:
    with pytest.raises(ValueError, match=r"tokenizer: the lock pins .* not gpt-tokenizer@0\.0\.1"):
        npm_package("tokenizer", "gpt-tokenizer@0.0.1")
    with pytest.raises(ValueError, match=r"fastmcp\.txt: the lock pins"):
        python_environment("clients/fastmcp", "fastmcp==0.0.1")
