"""What runs, who may call it, and who hears when it fails."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from infra.settings import ENVIRONMENTS
from lodestore.settings import parse_settings
from mcp_server.origins import parse_origins
from tests.infra.synthesised import assembly, properties, resources, template

FUNCTION = "AWS::Lambda::Function"
MCP = "McpServerFunction"


def _functions(environment: str) -> dict[str, dict[str, Any]]:
    found = resources(environment, "Service", FUNCTION)
    return {body["Properties"]["FunctionName"]: body["Properties"] for _, body in found}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_handler_string_names_something_that_can_be_called(environment: str) -> None:
    functions = _functions(environment)
    assert len(functions) == 3
    for held in functions.values():
        module, _, name = held["Handler"].rpartition(".")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_variables_of_a_function_are_settings_that_it_takes(environment: str) -> None:
    for held in _functions(environment).values():
        variables = {name: str(value) for name, value in held["Environment"]["Variables"].items()}
        variables |= {"STORE": "s3://state-bucket", "INDEX_STORE": "s3://index-bucket"}
        if "VECTOR_BUCKET" in variables:
            # The name is what stands in the ARN behind `:bucket/`.
            assert ":bucket/" in variables["VECTOR_BUCKET"]
            variables["VECTOR_BUCKET"] = "vector-bucket"
        if "MAINTENANCE_QUEUE_URL" in variables:
            variables["MAINTENANCE_QUEUE_URL"] = "https://sqs.eu-west-1.amazonaws.com/123456789012/tasks"
        if "VECTOR_BUCKET" in variables:
            variables["VECTOR_BUCKET"] = "vector-bucket"
        settings = parse_settings({**variables, "AWS_LAMBDA_FUNCTION_NAME": held["FunctionName"]})
        assert settings.auth == variables["AUTH"]
        parse_origins(variables.get("ALLOWED_ORIGINS", ""))
        assert not [name for name in variables if "SECRET" in name or "API_KEY" in name]


@pytest.mark.case("B95")
def test_a_public_url_has_both_permissions_and_no_more() -> None:
    granted = [body["Properties"] for _, body in resources("prod", "Service", "AWS::Lambda::Permission")]
    public = [statement for statement in granted if statement["Principal"] == "*"]
    assert {statement["Action"] for statement in public} == {
        "lambda:InvokeFunctionUrl",
        "lambda:InvokeFunction",
    }
    for statement in public:
        conditions = {"FunctionUrlAuthType": "NONE"}, {"InvokedViaFunctionUrl": True}
        assert any(condition.items() <= statement.items() for condition in conditions)
    url = properties("prod", "Service", "AWS::Lambda::Url")
    assert (url["AuthType"], url["InvokeMode"]) == ("NONE", "BUFFERED")


def test_the_endpoint_can_cost_no_more_than_its_reserved_concurrency() -> None:
    assert properties("prod", "Service", FUNCTION, MCP)["ReservedConcurrentExecutions"] == 50


def test_a_burst_of_writes_is_few_invocations() -> None:
    mapping = properties("prod", "Service", "AWS::Lambda::EventSourceMapping", "Indexer")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 1000
    assert mapping["MaximumBatchingWindowInSeconds"] == 5
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_maintenance_is_scheduled_and_a_run_that_failed_is_kept() -> None:
    schedules = [body["Properties"] for _, body in resources("prod", "Service", "AWS::Scheduler::Schedule")]
    tasks = [json.loads(schedule["Target"]["Input"]) for schedule in schedules]
    assert {"task": "dispatch"} in tasks
    assert {"task": "dispatch", "all": True} in tasks
    assert all("DeadLetterConfig" in schedule["Target"] for schedule in schedules)


def test_a_tenant_that_has_something_to_do_is_a_message_that_is_not_handed_out_twice() -> None:
    mapping = properties("prod", "Service", "AWS::Lambda::EventSourceMapping", "Maintenance")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert (mapping["BatchSize"], mapping["ScalingConfig"]) == (10, {"MaximumConcurrency": 4})
    queue = properties("prod", "Service", "AWS::SQS::Queue", "TasksQueue")
    timeout = properties("prod", "Service", FUNCTION, "MaintenanceFunction")["Timeout"]
    assert queue["VisibilityTimeout"] >= 6 * timeout
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 5
    assert (
        properties("prod", "Service", "AWS::SQS::Queue", "TasksDead")["MessageRetentionPeriod"] == 14 * 86_400
    )


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_only_who_may_put_a_task_on_the_queue_knows_its_address(environment: str) -> None:
    (address,) = [name for name, _ in resources(environment, "Service", "AWS::SQS::Queue") if "Queue" in name]
    knowing = {
        name.removeprefix(f"lodestore-{environment}-")
        for name, held in _functions(environment).items()
        if held["Environment"]["Variables"].get("MAINTENANCE_QUEUE_URL") == {"Ref": address}
    }
    assert knowing == {"mcp-server", "maintenance"}


def test_prod_has_an_alarm_for_everything_that_can_go_wrong() -> None:
    names = {
        body["Properties"]["AlarmName"] for _, body in resources("prod", "Service", "AWS::CloudWatch::Alarm")
    }
    assert names == {
        *(f"lodestore-prod-{function}-errors" for function in ("mcp-server", "indexer", "maintenance")),
        *(f"lodestore-prod-{function}-throttles" for function in ("mcp-server", "indexer", "maintenance")),
        *(f"lodestore-prod-{queue}-dead-letters" for queue in ("changes", "schedule", "tasks")),
        *(f"lodestore-prod-{queue}-age" for queue in ("changes", "tasks")),
        "lodestore-prod-maintenance-missed",
        "lodestore-prod-sleeps-cut-again",
        "lodestore-prod-sleeps-given-up",
        "lodestore-prod-misconfigured",
    }
    assert not list(resources("dev", "Service", "AWS::CloudWatch::Alarm"))


def test_names_let_every_environment_live_in_one_account() -> None:
    names = [set(_functions(environment)) for environment in ENVIRONMENTS]
    assert len(set().union(*names)) == 9


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_template_holds_a_path_or_a_look_up_of_this_machine(environment: str) -> None:
    text = json.dumps([template(environment, stack) for stack in ("Storage", "Service")])
    assert str(assembly(environment)) not in text
    assert "/tmp/" not in text
    manifest = json.loads((assembly(environment) / "manifest.json").read_text(encoding="utf-8"))
    assert "missing" not in manifest
