"""The one page that shows how a deployment goes.

Owns: the dashboard. Guarantees: every metric on it is one that AWS or a function of ours writes (tested by name).
Gives up: history beyond CloudWatch's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.alarms import NAMESPACE, counted
from infra.settings import Environment

WIDTH = 6
# Title, the service whose metric it is, and the metrics (EMF) themselves.
WRITTEN = (
    ("Contention of writers", "mcp_server", ("write_lost", "write_contended", "write_unknown")),
    ("Contention of indexers", "indexer", ("manifest_lost", "manifest_contended")),
    ("Manifests: held, loaded", "mcp_server", ("manifest_held", "manifest_loaded")),
    ("Segments: held, loaded", "mcp_server", ("segment_held", "segment_loaded")),
    ("Index: messages, failed", "indexer", ("indexer_messages", "indexer_tenants_failed")),
    ("Sleeps", "maintenance", ("sleeps_whole", "sleeps_skipped", "sleeps_cut", "sleeps_failed")),
    ("Dispatch", "maintenance", ("dispatches_whole", "tenants_queued", "tenants_not_queued")),
    ("Cost of sleeps (millionths of a dollar)", "maintenance", ("request_cost_microusd",)),
)
INDEX_AGE = "indexer_index_age_seconds"


class Dashboard(Construct):
    """Functions and queues by their short names, and what the functions write."""

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        functions: Mapping[str, lambda_.Function],
        queues: Mapping[str, sqs.Queue],
    ) -> None:
        super().__init__(scope, "Board")
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=environment.prefix)
        board.add_widgets(
            _graph("Duration, p95", [f.metric_duration(statistic="p95") for f in functions.values()]),
            _graph("Errors", [function.metric_errors() for function in functions.values()]),
            _graph("Throttles", [function.metric_throttles() for function in functions.values()]),
            _graph("Latency by tool, p95 (ms)", [_by_tool("Latency", "p95")]),
        )
        board.add_widgets(
            _graph("Requests by tool", [_by_tool("Requests", "Sum")]),
            _graph("Storage requests by tool, p95", [_by_tool("StorageRequests", "p95")]),
            _graph("Cost by tool (millionths of a dollar)", [_by_tool("RequestCostMicroUsd", "Sum")]),
            _graph("Index age, highest (s)", [counted(INDEX_AGE, "indexer", statistic="Maximum")]),
        )
        board.add_widgets(
            _graph("Backlog", [q.metric_approximate_number_of_messages_visible() for q in queues.values()]),
            _graph(
                "Backlog age (s)", [q.metric_approximate_age_of_oldest_message() for q in queues.values()]
            ),
        )
        board.add_widgets(
            *(_graph(title, [counted(name, service) for name in names]) for title, service, names in WRITTEN)
        )


def _graph(title: str, metrics: list[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=WIDTH)


def _by_tool(metric: str, statistic: str) -> cloudwatch.MathExpression:
    dimensions = f"{{{NAMESPACE},service,operation,outcome}}"
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{dimensions} MetricName=\"{metric}\"', '{statistic}', 300)",
        using_metrics={},
        label="",
    )
