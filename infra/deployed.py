"""What a deployment said about itself: `build/outputs-<env>.json`, written by `make deploy`.

Owns: reading it. `python -m infra.deployed ENV` prints the variables under which `lodestore` works on its data.
Guarantees: a deployment that was not made from this folder is an error that says so. Gives up: asking AWS.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class NotDeployed(Exception):
    """There are no outputs of that environment here."""


def outputs(environment: str, root: Path = ROOT) -> dict[str, str]:
    """Output name to value, of both stacks. Raises NotDeployed."""
    path = root / "build" / f"outputs-{environment}.json"
    try:
        stacks = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise NotDeployed(
            f"{path.name} is not in build/: run make deploy ENV={environment} here first"
        ) from None
    return {name: value for held in stacks.values() for name, value in held.items()}


def variables(environment: str, root: Path = ROOT) -> dict[str, str]:
    """STORE and INDEX_STORE of the deployment. Raises NotDeployed."""
    held = outputs(environment, root)
    return {"STORE": f"s3://{held['StateBucket']}", "INDEX_STORE": f"s3://{held['IndexBucket']}"}


def main(arguments: list[str]) -> int:
    """Print NAME=VALUE pairs on one line."""
    try:
        named = arguments[0] if arguments else ""
        print(" ".join(f"{name}={value}" for name, value in variables(named).items()))
    except NotDeployed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:2]))
