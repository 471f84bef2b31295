"""Who is told when something is wrong, and the one page that shows how it goes.

Owns: the alarms, each with a name that docs/operations.md explains, and the dashboard. Guarantees: silence of the
schedule is an alarm too. Gives up: paging; the topic is where a team puts its own subscription.
"""

from __future__ import annotations

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.settings import Environment

NAMESPACE = "Lodestore"
BACKLOG_SECONDS = 900
MISSED_RUNS = 3
_FIVE_MINUTES = cdk.Duration.minutes(5)


class Alarms(Construct):
    """Alarms on functions and queues by their short names, a topic, and a dashboard."""

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        functions: Mapping[str, lambda_.Function],
        changes: sqs.Queue,
        dead: Mapping[str, sqs.Queue],
    ) -> None:
        super().__init__(scope, "Alarms")
        self._environment = environment
        self._topic = sns.Topic(self, "Topic", enforce_ssl=True, display_name=f"Lodestore {environment.name}")
        if environment.alarm_email:
            self._topic.add_subscription(subscriptions.EmailSubscription(environment.alarm_email))
        for name, function in functions.items():
            self._over(f"{name}-errors", function.metric_errors(period=_FIVE_MINUTES), 1)
            self._over(f"{name}-throttles", function.metric_throttles(period=_FIVE_MINUTES), 1)
        for name, queue in dead.items():
            metric = queue.metric_approximate_number_of_messages_visible(
                period=_FIVE_MINUTES, statistic="Maximum"
            )
            self._over(f"{name}-dead-letters", metric, 1)
        age = changes.metric_approximate_age_of_oldest_message(period=_FIVE_MINUTES, statistic="Maximum")
        self._over("backlog-age", age, BACKLOG_SECONDS)
        self._missed(functions["maintenance"])
        self._dashboard(functions, changes)

    def _over(self, name: str, metric: cloudwatch.IMetric, threshold: float) -> None:
        self._alarm(
            name,
            metric,
            threshold,
            cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _missed(self, maintenance: lambda_.Function) -> None:
        period = cdk.Duration.minutes(max(5, MISSED_RUNS * self._environment.maintenance_minutes))
        metric = maintenance.metric_invocations(period=period, statistic="Sum")
        below = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
        self._alarm("maintenance-missed", metric, 1, below, cloudwatch.TreatMissingData.BREACHING)

    def _alarm(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        threshold: float,
        comparison: cloudwatch.ComparisonOperator,
        missing: cloudwatch.TreatMissingData,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{self._environment.prefix}-{name.replace('_', '-')}",
            alarm_description="What to do: docs/operations.md, Alarms.",
            metric=metric,
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=comparison,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))

    def _dashboard(self, functions: Mapping[str, lambda_.Function], changes: sqs.Queue) -> None:
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=self._environment.prefix)
        board.add_widgets(
            _graph("Duration, p95", [f.metric_duration(statistic="p95") for f in functions.values()]),
            _graph("Errors", [function.metric_errors() for function in functions.values()]),
            _graph("Throttles", [function.metric_throttles() for function in functions.values()]),
        )
        board.add_widgets(
            _graph("Latency by tool, p95 (ms)", [_by_tool("Latency", "p95")]),
            _graph("Requests by tool", [_by_tool("Requests", "Sum")]),
            _graph("Backlog", [changes.metric_approximate_number_of_messages_visible()]),
            _graph("Backlog age (s)", [changes.metric_approximate_age_of_oldest_message()]),
        )


def _graph(title: str, metrics: list[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=6)


def _by_tool(metric: str, statistic: str) -> cloudwatch.MathExpression:
    dimensions = f"{{{NAMESPACE},service,operation,outcome}}"
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{dimensions} MetricName=\"{metric}\"', '{statistic}', 300)",
        using_metrics={},
        label="",
    )
