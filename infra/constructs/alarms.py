"""Who is told when something is wrong.

Owns: the alarms, each with a name that docs/operations.md explains. Guarantees: silence is an alarm too: maintenance is
missed where no run of it said that it was whole, whatever was invoked. Gives up: paging; the topic is where a team puts
its own subscription.
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
# A change waits seconds; a task waits for its turn, and one that failed for its visibility timeout of 90 minutes.
BACKLOG_SECONDS = {"changes": 900, "tasks": 6 * 3600}
MISSED_RUNS = 3
# Metrics that the functions write (EMF), with the service whose dimension they have; one is enough for an alarm.
COUNTED = {
    "sleeps-cut-again": ("sleeps_cut_again", ("maintenance",)),
    "sleeps-given-up": ("sleeps_given_up", ("maintenance",)),
    "misconfigured": ("misconfigured", ("mcp_server", "indexer", "maintenance")),
}
_FIVE_MINUTES = cdk.Duration.minutes(5)


class Alarms(Construct):
    """Alarms on functions and queues by their short names, and a topic."""

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        functions: Mapping[str, lambda_.Function],
        queues: Mapping[str, sqs.Queue],
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
        for name, queue in queues.items():
            age = queue.metric_approximate_age_of_oldest_message(period=_FIVE_MINUTES, statistic="Maximum")
            self._over(f"{name}-age", age, BACKLOG_SECONDS[name])
        for name, (metric_name, services) in COUNTED.items():
            self._over(name, _counted(metric_name, services), 1)
        self._missed()

    def _over(self, name: str, metric: cloudwatch.IMetric, threshold: float) -> None:
        self._alarm(
            name,
            metric,
            threshold,
            cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _missed(self) -> None:
        """By success: an invocation that failed, or left tenants out, is as good as none."""
        period = cdk.Duration.minutes(max(5, MISSED_RUNS * self._environment.maintenance_minutes))
        metric = counted("dispatches_whole", "maintenance", period)
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


def counted(
    name: str, service: str, period: cdk.Duration = _FIVE_MINUTES, statistic: str = "Sum"
) -> cloudwatch.Metric:
    """A metric that a function writes."""
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"service": service},
        statistic=statistic,
        period=period,
    )


def _counted(name: str, services: tuple[str, ...]) -> cloudwatch.IMetric:
    if len(services) == 1:
        return counted(name, services[0])
    metrics: dict[str, cloudwatch.IMetric] = {f"m{i}": counted(name, one) for i, one in enumerate(services)}
    parts = "+".join(f"FILL({one},0)" for one in metrics)
    return cloudwatch.MathExpression(
        expression=parts, using_metrics=metrics, period=_FIVE_MINUTES, label=name
    )
