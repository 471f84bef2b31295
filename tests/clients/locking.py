"""Pins the npm packages of the tests anew: `make lock` runs it.

Owns: the locks below `locks/npm`. Guarantees: each holds the hash of every package and no registry's address.
Gives up: choosing versions; each `package.json` names its one package in the version that the tests ask for.
"""

from __future__ import annotations

import subprocess

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
    for described in sorted((LOCKS / "npm").glob("*/package.json")):
        described.with_name("package-lock.json").unlink(missing_ok=True)
        command = [str(NODE / "bin" / "node"), str(NPM), "install", *OPTIONS]
        subprocess.run(
            command, cwd=described.parent, env=node_variables(), check=True, stdout=subprocess.DEVNULL
        )


if __name__ == "__main__":
    main()
