"""One function: its code, its layers, a role of its own, its log.

Owns: what all three have alike. Guarantees: a role that names every permission (no managed policy); logs that end;
variables that hold no secret. Gives up: tracing (its SDK costs a second of a cold start).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.findings import accept
from infra.constructs.permissions import grant
from infra.settings import Environment
from infra.storage_stack import StorageStack

_NOT_CODE = ["local_runner", "local_runner/**", "**/__pycache__", "**/*.pyc", "*.egg-info"]
_RUNTIMES = {
    "3.11": lambda_.Runtime.PYTHON_3_11,
    "3.12": lambda_.Runtime.PYTHON_3_12,
    "3.13": lambda_.Runtime.PYTHON_3_13,
}
_ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPlan:
    """What tells one function from another. `name` is its folder under functions/."""

    name: str
    seconds: int
    memory_mb: int
    variables: Mapping[str, str]
    layers: Sequence[lambda_.ILayerVersion]
    concurrency: int | None = None
    dead_letters: sqs.Queue | None = None


class LodestoreFunction(Construct):
    """A function with its role and log group."""

    def __init__(
        self,
        scope: Construct,
        plan: FunctionPlan,
        environment: Environment,
        storage: StorageStack,
        root: Path,
    ) -> None:
        super().__init__(scope, "".join(word.title() for word in plan.name.split("_")))
        name = f"{environment.prefix}-{plan.name.replace('_', '-')}"
        log = logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/lodestore/{environment.name}/{plan.name}",
            retention=logs.RetentionDays[_retention(environment.log_days)],
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log.grant_write(self.role)
        grant(self.role, plan.name, storage, environment)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            runtime=_RUNTIMES[environment.python],
            architecture=_ARCHITECTURES[environment.architecture],
            handler=f"{plan.name}.handler.handler",
            code=lambda_.Code.from_asset(str(root / "functions"), exclude=_NOT_CODE),
            layers=list(plan.layers),
            role=self.role,
            timeout=cdk.Duration.seconds(plan.seconds),
            memory_size=plan.memory_mb,
            environment=dict(plan.variables),
            log_group=log,
            reserved_concurrent_executions=plan.concurrency,
            dead_letter_queue=plan.dead_letters,
        )
        accept(
            self.function,
            "AwsSolutions-L1",
            "The Python of the layers and of CI; a setting of the environment.",
        )


def _retention(days: int) -> str:
    return {
        1: "ONE_DAY",
        3: "THREE_DAYS",
        5: "FIVE_DAYS",
        7: "ONE_WEEK",
        14: "TWO_WEEKS",
        30: "ONE_MONTH",
        60: "TWO_MONTHS",
        90: "THREE_MONTHS",
        180: "SIX_MONTHS",
        365: "ONE_YEAR",
    }[days]
