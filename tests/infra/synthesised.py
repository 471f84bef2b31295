"""Stacks as the templates that CloudFormation would read.

Owns: one synth for each environment and process, and one for all variants, with the real layers. Guarantees: what is
read is what `python app.py` writes. Gives up: CloudFormation's own judgement; the emulator is asked for that by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.infra.variants import BASE, VARIANTS
from tests.structure.source_tree import ROOT

Resource = Mapping[str, Any]


@cache
def variants() -> Path:
    """The folder with an assembly for each of the variants."""
    folder = Path(tempfile.mkdtemp(prefix="lodestore-variants-"))
    answer = _run([sys.executable, "-m", "tests.infra.variants", str(folder)], {})
    assert answer.returncode == 0, answer.stderr
    return folder


def base(environment: str) -> str:
    """The environment's name in its template; a variant has that of dev."""
    return BASE if environment in VARIANTS else environment


@cache
def assembly(environment: str) -> Path:
    """The folder that `python app.py` wrote for the environment, or that of a variant."""
    if environment in VARIANTS:
        return variants() / environment
    outdir = Path(tempfile.mkdtemp(prefix=f"lodestore-{environment}-"))
    answer = synth({"ENV": environment, "CDK_OUTDIR": str(outdir)})
    assert answer.returncode == 0, answer.stderr
    (outdir / "said.txt").write_text(answer.stderr, encoding="utf-8")
    return outdir


def synth(variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """`python app.py` without credentials or region."""
    return _run([sys.executable, "app.py"], variables)


def _run(command: list[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return subprocess.run(command, cwd=ROOT, env={**kept, **variables}, capture_output=True, text=True)


def template(environment: str, stack: str) -> dict[str, Any]:
    """A stack's template; `stack` is Storage or Service."""
    path = assembly(environment) / f"Lodestore-{base(environment)}-{stack}.template.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def resources(environment: str, stack: str, kind: str) -> Iterator[tuple[str, Resource]]:
    """Logical id and body of every resource of a type, as `AWS::S3::Bucket`."""
    for name, resource in template(environment, stack)["Resources"].items():
        if resource["Type"] == kind:
            yield name, resource


def only(environment: str, stack: str, kind: str, start: str = "") -> Resource:
    """The one resource of a type whose logical id begins with `start`."""
    (found,) = [body for name, body in resources(environment, stack, kind) if name.startswith(start)]
    return found


def properties(environment: str, stack: str, kind: str, start: str = "") -> dict[str, Any]:
    """Its properties."""
    found: dict[str, Any] = only(environment, stack, kind, start)["Properties"]
    return found
