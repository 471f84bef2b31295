"""What runs: layers, three functions, the function URL, the schedules, maintenance's queue, and the alarms.

Owns: which function has which layers, variables, triggers and time. Guarantees: nothing runs while no one calls but
the schedule; open mode can't be deployed. Gives up: a domain name and a firewall in front (docs/operations.md).
"""

from __future__ import annotations

import json
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.alarms import Alarms
from infra.constructs.dashboard import Dashboard
from infra.constructs.findings import accept
from infra.constructs.function import FunctionPlan, LodestoreFunction
from infra.constructs.permissions import grant_send
from infra.constructs.task_queue import TaskQueue, dead_letters
from infra.layers import Layer, Layers, check_size
from infra.settings import INDEXER_SECONDS, Auth, Environment
from infra.storage_stack import StorageStack

# A read is tried three times, 12 s each at most; an answer that says so has to fit after that.
MCP_SECONDS = 60
MAINTENANCE_SECONDS = 900
BATCH_MOST = 1000
WINDOW_SECONDS = 5
INDEXERS_MOST = 2
DISPATCH = {"task": "dispatch"}
DISPATCH_ALL = {"task": "dispatch", "all": True}


class ServiceStack(cdk.Stack):
    """The functions of one environment over its data."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        environment: Environment,
        storage: StorageStack,
        layers: Layers,
        root: Path,
    ) -> None:
        super().__init__(scope, name, description=f"Lodestore {environment.name}: functions")
        self._environment = environment
        self._storage = storage
        self._root = root
        self._layers: dict[str, lambda_.LayerVersion] = {}
        self.notes: list[str] = []
        shared = [layers.libraries("layer-core"), layers.code()]
        if environment.embeddings == "local":
            shared.append(layers.libraries("embed"))
        self._variables = variables_of(environment, storage)
        tasks = TaskQueue(self, MAINTENANCE_SECONDS, environment.receives_most)
        served = self._function("mcp_server", MCP_SECONDS, [*shared, layers.libraries("layer-mcp")], tasks)
        indexer = self._function("indexer", INDEXER_SECONDS, shared)
        maintenance = self._function("maintenance", MAINTENANCE_SECONDS, shared, tasks)
        self._url(served)
        self._feed(indexer)
        tasks.feed(maintenance, environment.maintenance_workers)
        missed = self._schedule(maintenance)
        functions = {"mcp_server": served, "indexer": indexer, "maintenance": maintenance}
        queues = {"changes": storage.changes, "tasks": tasks.queue}
        if environment.alarms:
            dead = {"changes": storage.changes_dead, "schedule": missed, "tasks": tasks.dead}
            Alarms(self, environment, functions, queues, dead)
        if environment.dashboard:
            Dashboard(self, environment, functions, queues)

    def _function(
        self, name: str, seconds: int, layers: list[Layer], tasks: TaskQueue | None = None
    ) -> lambda_.Function:
        total = check_size(name, layers)
        self.notes.append(
            f"function {name}: layers of {total / 1024 / 1024:.0f} MB unzipped; Lambda takes 250"
        )
        plan = FunctionPlan(
            name=name,
            seconds=seconds,
            memory_mb=self._environment.memory_mb,
            variables={
                **self._variables,
                **({} if tasks is None else tasks.variables),
                **(self._environment.model_variables if name == "maintenance" else {}),
            },
            layers=[self._layer(layer) for layer in layers],
            concurrency=self._environment.concurrency if name == "mcp_server" else None,
        )
        built = LodestoreFunction(self, plan, self._environment, self._storage, self._root)
        if tasks is not None:
            grant_send(built.role, tasks.queue, self._environment)
        return built.function

    def _layer(self, layer: Layer) -> lambda_.LayerVersion:
        if layer.name not in self._layers:
            self.notes.append(layer.note)
            self._layers[layer.name] = lambda_.LayerVersion(
                self,
                f"Layer-{layer.name}",
                layer_version_name=f"{self._environment.prefix}-{layer.name}",
                code=lambda_.Code.from_asset(
                    str(layer.folder), asset_hash=layer.digest, asset_hash_type=cdk.AssetHashType.CUSTOM
                ),
            )
        return self._layers[layer.name]

    def _url(self, function: lambda_.Function) -> None:
        iam_only = self._environment.auth is Auth.IAM
        auth = lambda_.FunctionUrlAuthType.AWS_IAM if iam_only else lambda_.FunctionUrlAuthType.NONE
        # Of type NONE it comes with both permissions that a public URL needs (InvokeFunctionUrl and InvokeFunction);
        # of type AWS_IAM with none: callers of this account need both in their own policies.
        url = function.add_function_url(auth_type=auth, invoke_mode=lambda_.InvokeMode.BUFFERED)
        cdk.CfnOutput(self, "Url", value=f"{url.url}mcp")
        cdk.CfnOutput(self, "McpFunction", value=function.function_name)

    def _feed(self, indexer: lambda_.Function) -> None:
        indexer.add_event_source(
            sources.SqsEventSource(
                self._storage.changes,
                batch_size=BATCH_MOST,
                max_batching_window=cdk.Duration.seconds(WINDOW_SECONDS),
                max_concurrency=INDEXERS_MOST,
                report_batch_item_failures=True,
            )
        )

    def _schedule(self, maintenance: lambda_.Function) -> sqs.Queue:
        missed = dead_letters(self, "ScheduleDead")
        minutes = cdk.Duration.minutes(self._environment.maintenance_minutes)
        for name, expression, task in (
            ("Dispatch", scheduler.ScheduleExpression.rate(minutes), DISPATCH),
            ("DispatchAll", scheduler.ScheduleExpression.rate(cdk.Duration.days(7)), DISPATCH_ALL),
        ):
            scheduler.Schedule(
                self,
                name,
                schedule=expression,
                target=targets.LambdaInvoke(
                    maintenance,
                    input=scheduler.ScheduleTargetInput.from_text(json.dumps(task)),
                    dead_letter_queue=missed,
                    retry_attempts=2,
                    max_event_age=cdk.Duration.hours(1),
                ),
            )
        low = maintenance.node.default_child
        assert isinstance(low, lambda_.CfnFunction)
        versions = f"AwsSolutions-IAM5[Resource::<{self.get_logical_id(low)}.Arn>:*]"
        accept(self, versions, "The CDK lets the schedule invoke any version of this one function.")
        return missed


def variables_of(environment: Environment, storage: StorageStack) -> dict[str, str]:
    """What every function reads (lodestore.settings). No secret is among them."""
    variables = {
        "STORE": f"s3://{storage.state.bucket_name}",
        "INDEX_STORE": f"s3://{storage.index.bucket_name}",
        "AUTH": str(environment.auth),
        "EMBEDDINGS": environment.embeddings,
        "REQUESTS_PER_SECOND": f"{environment.requests_per_second:g}",
        "BURST": str(environment.burst),
        "ALLOWED_ORIGINS": ",".join(environment.allowed_origins),
        **environment.upkeep_variables,
    }
    if environment.embeddings == "bedrock":
        variables["EMBED_MODEL"] = environment.embed_model
    bucket = environment.vector_bucket
    if storage.shared_vectors is not None:
        bucket = cdk.Fn.select(1, cdk.Fn.split(":bucket/", storage.shared_vectors.arn))
    if bucket is not None:
        variables |= {
            "VECTOR_BUCKET": bucket,
            "VECTOR_INDEX_THRESHOLD": str(environment.vector_index_threshold),
            "VECTOR_TEXT": str(int(environment.vector_text)),
        }
    if storage.key is not None:
        variables |= {"ENCRYPTION": "aws:kms", "KMS_KEY": storage.key.key_arn}
    if environment.oauth is not None:
        variables |= {
            "OAUTH_ISSUER": environment.oauth.issuer,
            "OAUTH_AUDIENCE": environment.oauth.audience,
            "OAUTH_TENANT_CLAIM": environment.oauth.tenant_claim,
            "OAUTH_CLIENT_IDS": ",".join(environment.oauth.client_ids),
        }
    if environment.principals:
        shown = {arn: principal.model_dump() for arn, principal in environment.principals.items()}
        variables["IAM_PRINCIPALS"] = json.dumps(shown, separators=(",", ":"))
    return {name: value for name, value in variables.items() if value}
