"""What a team may set that our own environments do not: each is synthesised, checked by cdk-nag, and may no more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.settings import Environment
from lodestore.settings import parse_settings
from tests.infra.iam_evaluator import FUNCTIONS, Policy
from tests.infra.synthesised import properties, resources, template
from tests.infra.variants import VARIANTS

FUNCTION = "AWS::Lambda::Function"
MODEL = "arn:<AWS::Partition>:bedrock:<AWS::Region>::foundation-model/"


def variables(variant: str) -> dict[str, dict[str, str]]:
    """Each function's variables, as Lambda would hand them over."""
    given = {"STORE": "s3://s", "INDEX_STORE": "s3://i", "MAINTENANCE_QUEUE_URL": "https://sqs.x/1/tasks"}
    given["VECTOR_BUCKET"] = "vectors"
    given["KMS_KEY"] = "arn:aws:kms:eu-west-1:123456789012:key/1"
    found: dict[str, dict[str, str]] = {}
    for _, body in resources(variant, "Service", FUNCTION):
        held: dict[str, Any] = body["Properties"]["Environment"]["Variables"]
        found[body["Properties"]["FunctionName"]] = {
            name: value if isinstance(value, str) else given[name] for name, value in held.items()
        }
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_function_takes_the_variables_that_it_is_given(variant: str) -> None:
    functions = variables(variant)
    assert len(functions) == 3
    for name, given in functions.items():
        settings = parse_settings({**given, "AWS_LAMBDA_FUNCTION_NAME": name})
        assert settings.auth == VARIANTS[variant].get("auth", "keys")


@pytest.mark.parametrize("variant", VARIANTS)
def test_functions_and_layers_are_of_the_processor_that_is_set(variant: str) -> None:
    wanted = VARIANTS[variant]["architecture"]
    for _, body in resources(variant, "Service", FUNCTION):
        assert body["Properties"]["Architectures"] == [wanted]
        assert body["Properties"]["Runtime"] == "python3.13"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_rights_to_data_do_not_depend_on_what_is_set(variant: str, function: str) -> None:
    policy = Policy(variant, function)
    assert policy.allows("s3:GetObject", "state/memories/acme/m1.json")
    assert policy.allows("s3:DeleteObject", "index/pending/acme/x")
    assert not policy.allows("s3:PutObject", "state/access/ab.json")
    assert not policy.allows("s3:DeleteObject", "state/memories/acme/m1.json")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_key_of_ones_own_is_used_by_every_function_and_administered_by_none(function: str) -> None:
    policy = Policy("kms-bedrock", function)
    assert policy.allows("kms:Decrypt", "key")
    assert policy.allows("kms:GenerateDataKey", "key")
    for action in ("kms:ScheduleKeyDeletion", "kms:PutKeyPolicy", "kms:CreateGrant", "kms:Encrypt"):
        assert not policy.allows(action, "key")
    assert not Policy("oauth-x86", function).allows("kms:Decrypt", "key")


def test_with_a_key_of_ones_own_both_buckets_and_every_write_name_it() -> None:
    for name, bucket in resources("kms-bedrock", "Storage", "AWS::S3::Bucket"):
        (rule,) = bucket["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        by_default = rule["ServerSideEncryptionByDefault"]
        assert (by_default["SSEAlgorithm"], rule["BucketKeyEnabled"]) == ("aws:kms", True), name
    key = properties("kms-bedrock", "Storage", "AWS::KMS::Key")
    assert key["EnableKeyRotation"] is True
    for given in variables("kms-bedrock").values():
        settings = parse_settings(given | {"AWS_LAMBDA_FUNCTION_NAME": "x"})
        assert (settings.encryption, settings.kms_key) == ("aws:kms", given["KMS_KEY"])


@pytest.mark.parametrize(
    ("function", "may"), [("mcp_server", True), ("maintenance", True), ("indexer", False)]
)
def test_who_makes_vectors_may_invoke_the_one_model_and_the_indexer_none(function: str, may: bool) -> None:
    policy = Policy("kms-bedrock", function)
    assert policy.allows("bedrock:InvokeModel", f"{MODEL}amazon.titan-embed-text-v2:0") is may
    assert not policy.allows("bedrock:InvokeModel", f"{MODEL}anthropic.claude-opus-5")
    assert not policy.allows("bedrock:InvokeModelWithResponseStream", f"{MODEL}amazon.titan-embed-text-v2:0")


@pytest.mark.promise("P-NO-LLM-ON-WRITE")
@pytest.mark.parametrize(
    ("function", "may"), [("mcp_server", False), ("maintenance", True), ("indexer", False)]
)
def test_maintenance_alone_knows_the_language_model_and_may_invoke_it(function: str, may: bool) -> None:
    policy = Policy("kms-bedrock", function)
    assert policy.allows("bedrock:InvokeModel", f"{MODEL}amazon.nova-lite-v1:0") is may
    named = function.replace("_", "-")
    (given,) = [held for name, held in variables("kms-bedrock").items() if named in name]
    settings = parse_settings(given | {"AWS_LAMBDA_FUNCTION_NAME": "x"})
    told = (
        settings.sleep_model,
        settings.sleep_model_id,
        settings.sleep_model_budget,
        settings.sleep_model_price,
    )
    assert told == (
        ("bedrock", "amazon.nova-lite-v1:0", 20_000, (0.06, 0.24)) if may else ("none", None, None, None)
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sleep_model_id": "x"}, "need sleep_model = bedrock"),
        ({"sleep_model_budget": 9_000}, "need sleep_model = bedrock"),
        ({"sleep_model": "bedrock"}, "needs sleep_model_id"),
        ({"sleep_model": "bedrock", "sleep_model_id": "eu.amazon.nova-lite-v1:0"}, "inference profile"),
    ],
)
def test_settings_of_the_language_model_go_together(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Environment(name="dev", **given)


def test_an_inference_profile_is_refused_where_no_permission_could_be_exact() -> None:
    with pytest.raises(ValueError, match="inference profile"):
        Environment(name="dev", embeddings="bedrock", embed_model="eu.cohere.embed-v4:0")


def test_in_iam_mode_nobody_is_let_in_without_a_signature() -> None:
    assert properties("iam-no-limit", "Service", "AWS::Lambda::Url")["AuthType"] == "AWS_IAM"
    granted = [
        body["Properties"] for _, body in resources("iam-no-limit", "Service", "AWS::Lambda::Permission")
    ]
    assert not [statement for statement in granted if statement["Principal"] == "*"]
    assert "ReservedConcurrentExecutions" not in properties("iam-no-limit", "Service", FUNCTION, "McpServer")


def test_in_oauth_mode_the_function_checks_tokens_itself() -> None:
    assert properties("oauth-x86", "Service", "AWS::Lambda::Url")["AuthType"] == "NONE"
    (given,) = [held for name, held in variables("oauth-x86").items() if "mcp-server" in name]
    assert (given["OAUTH_ISSUER"], given["OAUTH_AUDIENCE"]) == (
        "https://issuer.example",
        "https://memory.example/mcp",
    )
    assert given["ALLOWED_ORIGINS"] == "https://claude.ai"


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_secret_and_no_path_of_this_machine_is_in_a_template(variant: str) -> None:
    text = json.dumps([template(variant, stack) for stack in ("Storage", "Service")])
    assert "/tmp/" not in text
    assert "lode_" not in text
