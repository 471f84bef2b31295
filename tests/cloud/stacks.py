"""The CDK's own command line against the emulator: bootstrap, deploy, destroy.

Owns: which version of it, and its environment. Guarantees: the version is the one that `make deploy` asks npx for;
nothing of it calls home. Where npm does not give it, `NotInstallable` says so.
Gives up: synths of its own; what it deploys is written beforehand (`assemblies`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from tests.clients.environments import NODE, npm_package
from tests.cloud.emulator import ACCOUNT, REGION, Emulator
from tests.cloud.processes import run
from tests.structure.source_tree import ROOT

CDK_SECONDS = 180.0
OFFLINE = {
    "CI": "1",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
    "CDK_DISABLE_VERSION_CHECK": "1",
    "CDK_VALIDATION": "false",
}
Outputs = Mapping[str, str]


def pinned_cdk() -> str:
    """`aws-cdk@<version>` as the Makefile has it."""
    found = set(re.findall(r"aws-cdk@[\d.]+", (ROOT / "Makefile").read_text(encoding="utf-8")))
    (pin,) = map(str, found)
    return pin


class Cdk:
    """The command line. Raises NotInstallable where npm does not give it."""

    def __init__(self, emulator: Emulator, folder: Path) -> None:
        script = npm_package("cdk", pinned_cdk()) / "bin" / "cdk"
        self._command = [str(NODE / "bin" / "node"), str(script)]
        self._emulator = emulator
        self._folder = folder
        self._log = folder / "cdk.log"
        (folder / "home").mkdir()

    def bootstrap(self) -> None:
        """What `cdk deploy` needs in an account: a bucket for assets, and roles."""
        self._run("bootstrap", f"aws://{ACCOUNT}/{REGION}")

    def deploy(self, assembly: Path, *stacks: str) -> Outputs:
        """Deploy these stacks, or all; their outputs by name."""
        outputs = self._folder / "outputs.json"
        told = ("--require-approval", "never", "--outputs-file", str(outputs))
        self._run("deploy", *(stacks or ("--all",)), *told, assembly=assembly)
        held = json.loads(outputs.read_text(encoding="utf-8"))
        return {name: value for stack in held.values() for name, value in stack.items()}

    def destroy(self, assembly: Path, *stacks: str) -> str:
        """Destroy these stacks, or all; what the command said. Raises CommandFailed."""
        return self._run("destroy", *(stacks or ("--all",)), "--force", assembly=assembly)

    def _run(self, verb: str, *arguments: str, assembly: Path | None = None) -> str:
        app = [] if assembly is None else ["--app", str(assembly)]
        # A home of its own: it remembers there which account an access key belongs to.
        variables = {**OFFLINE, **self._emulator.environment, "HOME": str(self._folder / "home")}
        command = [*self._command, *app, verb, *arguments]
        return run(command, variables, self._folder, self._log, seconds=CDK_SECONDS)
