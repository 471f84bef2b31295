"""Both stacks of one environment, and what a synth says about them.

Owns: the application, its context and its checks. Guarantees: the checks of cdk-nag (AwsSolutions) run in every
synth. Gives up: deploying; that is `cdk deploy` on what is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.layers import Layers
from infra.service_stack import ServiceStack
from infra.settings import Environment, WrongSettings, load
from infra.storage_stack import StorageStack
from infra.wheels import Target


@dataclass(frozen=True, slots=True)
class Application:
    """The application before it is written."""

    app: cdk.App
    storage: StorageStack
    service: ServiceStack


def build(root: Path, environment: Environment, app: cdk.App) -> Application:
    """The stacks of one environment. Raises BundlingFailed."""
    layers = Layers(root, Target(environment.architecture, environment.python))
    storage = StorageStack(app, f"Lodestore-{environment.name}-Storage", environment)
    service = ServiceStack(app, f"Lodestore-{environment.name}-Service", environment, storage, layers, root)
    for stack in (storage, service):
        cdk.Tags.of(stack).add("lodestore:environment", environment.name)
    return Application(app, storage, service)


def synthesise(root: Path, variables: Mapping[str, str]) -> list[str]:
    """Write the assembly; the lines to print. Raises WrongSettings, BundlingFailed."""
    # The CDK's command line sets CDK_OUTDIR to its own choice.
    outdir = variables.get("CDK_OUTDIR", str(root / "build" / "cdk.out"))
    app = cdk.App(outdir=outdir, analytics_reporting=False)
    name = app.node.try_get_context("env") or variables.get("ENV")
    if not name:
        raise WrongSettings("ENV is missing: dev | test | prod (ENV=dev, or -c env=dev)")
    python = app.node.try_get_context("python") or variables.get("LAYER_PYTHON")
    environment = load(root / "infra" / "environments", str(name), python=python and str(python))
    return [*write(root, environment, app), f"assembly of {environment.name}: {outdir}"]


def write(root: Path, environment: Environment, app: cdk.App) -> list[str]:
    """Check and write the stacks of one environment; what is said of its layers. Raises BundlingFailed."""
    built = build(root, environment, app)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return built.service.notes
