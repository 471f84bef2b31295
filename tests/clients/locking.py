"""Pins the npm packages of the tests anew: `make lock` runs it.

Owns: the locks below `locks/npm`. Guarantees: each holds the hash of every package and no registry's address; an
optional dependency that the registry does not give is not asked for, or `npm ci` would refuse the lock for lacking it.
Gives up: choosing versions; each `package.json` names its one package in the version that the tests ask for.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

from tests.clients.environments import LOCKS, NODE, NPM, node_variables

OPTIONS = (
    "--package-lock-only",
    "--omit-lockfile-registry-resolved",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
)


def main() -> None:
    """Write every lock anew. Raises CalledProcessError."""
    command = [str(NODE / "bin" / "node"), str(NPM), "install", *OPTIONS]
    for described in sorted((LOCKS / "npm").glob("*/package.json")):
        lock = described.with_name("package-lock.json")
        lock.unlink(missing_ok=True)
        subprocess.run(
            command, cwd=described.parent, env=node_variables(), check=True, stdout=subprocess.DEVNULL
        )
        whole = without_missing_options(json.loads(lock.read_text(encoding="utf-8")))
        lock.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def without_missing_options(lock: dict[str, Any]) -> dict[str, Any]:
    """A lock whose packages name no optional dependency that it does not hold."""
    packages: dict[str, dict[str, Any]] = lock["packages"]
    held = {place.rpartition("node_modules/")[2] for place in packages}

    def kept(described: dict[str, Any]) -> dict[str, Any]:
        if not (options := described.get("optionalDependencies")):
            return described
        left = {name: wanted for name, wanted in options.items() if name in held}
        return {**described, "optionalDependencies": left}

    return {**lock, "packages": {place: kept(described) for place, described in packages.items()}}


if __name__ == "__main__":
    main()
