"""What every language model keeps, and what it makes of each answer that its service can give."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from lodestore.adapters import bedrock_converse, language_models
from lodestore.adapters.language_models import LanguageModelOptions, connect_language_model
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.errors import SettingsError
from lodestore.ports.language_model import Answered, Failed, LanguageModel, Question, Tokens
from lodestore.settings import SleepModel
from tests.embedders.loopback_service import Answer, Service
from tests.language_models.services import (
    KINDS,
    MODEL,
    READ,
    WRITTEN,
    Kind,
    bedrock_error,
    completion,
    converse,
    modelling,
    openai_error,
    saying,
)
from tests.stores.still_clock import StillClock

SECRET = "the vault's number is 4711"
QUESTION = Question(instructions="Say tea.", text=SECRET, schema={"type": "object"}, most_tokens=50)
SPENT = Tokens(READ, WRITTEN)
HEAVY = ("botocore", "boto3", "urllib3")
PROGRAM = f"""
import sys
from lodestore.adapters import language_models
print(*sorted({set(HEAVY)} & set(sys.modules)))
"""


@pytest.fixture(params=KINDS)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Kind, LanguageModel, Service]]:
    """A model of every kind in turn, which says back what it was told."""
    with modelling(request.param, lambda told, text: f"{told} {text}") as (model, service):
        yield request.param, model, service


def test_an_answer_comes_whole_with_its_tokens(served: tuple[Kind, LanguageModel, Service]) -> None:
    kind, model, _ = served
    assert model.name == f"{kind}/{MODEL}"
    assert model.ask(QUESTION) == Answered(f"Say tea. {SECRET}", SPENT)


NOT_WHOLE = {
    "openai": [
        (completion("half an answ", "length"), "longer than it may be"),
        (completion(None, refusal="I can't"), "refused"),
        (completion("x", "content_filter"), "refused"),
        (completion(""), "empty"),
        (completion(None), "empty"),
        (completion(["x"]), "empty"),
    ],
    "bedrock": [
        (converse("half an answ", "max_tokens"), "longer than it may be"),
        (converse("no", "guardrail_intervened"), "refused"),
        (converse("no", "content_filtered"), "refused"),
        (converse("x", "tool_use"), "not known"),
        (converse(" \n"), "empty"),
        (converse(None), "empty"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "answer", "reason"), [(kind, *one) for kind in KINDS for one in NOT_WHOLE[kind]]
)
def test_what_is_no_whole_answer_has_failed_and_its_tokens_count(
    kind: Kind, answer: Answer, reason: str
) -> None:
    with modelling(kind, saying("")) as (model, service):
        service.will(answer)
        outcome = model.ask(QUESTION)
        assert isinstance(outcome, Failed)
        assert reason in outcome.reason
        assert (outcome.tokens, outcome.lasting) == (SPENT, False)


def test_what_may_be_repeated_is_repeated(served: tuple[Kind, LanguageModel, Service]) -> None:
    kind, model, service = served
    if kind == "openai":
        service.will(
            openai_error(429, "rate_limit_exceeded", Retry_After="1"), openai_error(503, "overloaded")
        )
    else:
        service.will(
            bedrock_error(429, "ThrottlingException"), bedrock_error(503, "ServiceUnavailableException")
        )
    assert isinstance(model.ask(QUESTION), Answered)
    assert len(service.seen) == 3


def test_a_service_that_stays_away_has_failed_for_the_next_question_too(
    served: tuple[Kind, LanguageModel, Service],
) -> None:
    kind, model, service = served
    for answer in (
        openai_error(500, "server_error")
        if kind == "openai"
        else bedrock_error(500, "InternalServerException"),
        openai_error(401, "invalid_api_key")
        if kind == "openai"
        else bedrock_error(403, "AccessDeniedException"),
        Answer(hang_up=True),
    ):
        service.next = [answer] * 3
        outcome = model.ask(QUESTION)
        assert isinstance(outcome, Failed)
        assert outcome.lasting
        assert SECRET not in outcome.reason
        assert "4711" not in outcome.reason


def test_a_question_that_is_refused_for_what_it_holds_says_nothing_of_the_next(
    served: tuple[Kind, LanguageModel, Service],
) -> None:
    kind, model, service = served
    if kind == "openai":
        service.will(openai_error(400, "content_filter"))
    else:
        service.will(bedrock_error(400, "ValidationException"))
    outcome = model.ask(QUESTION)
    assert isinstance(outcome, Failed)
    assert (outcome.lasting, len(service.seen)) == (False, 1)


def test_an_answer_that_is_no_json_or_without_a_choice_has_failed(
    served: tuple[Kind, LanguageModel, Service],
) -> None:
    _, model, service = served
    for body in (b"<html>not the service</html>", b"{}", b'{"choices": []}', b"[" * 60_000, b"\xff\xfe"):
        service.next = [Answer(body=body, headers={"Content-Type": "application/json"})] * 3
        assert isinstance(model.ask(QUESTION), Failed), body[:20]


def test_an_answer_of_more_bytes_than_the_tokens_can_be_is_not_read() -> None:
    with modelling("openai", saying("x" * 200_000)) as (model, _):
        outcome = model.ask(QUESTION)
        assert isinstance(outcome, Failed)
        assert "more than" in outcome.reason


@pytest.mark.parametrize("kind", KINDS)
def test_a_silent_service_has_failed(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_models, "READ_SECONDS", 0.05)
    monkeypatch.setattr(bedrock_converse, "READ_SECONDS", 0.05)
    with modelling(kind, saying("")) as (model, service):
        service.will(*[Answer(silent=True)] * 3)
        outcome = model.ask(QUESTION)
        assert isinstance(outcome, Failed)
        assert outcome.lasting


def test_no_library_of_a_model_is_imported_before_it_is_chosen() -> None:
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, "")


KEYED = "sk-secret-0123456789"
REFUSED = [
    (SleepModel.NONE, LanguageModelOptions(model_id="x"), "SLEEP_MODEL_ID has no meaning"),
    (SleepModel.NONE, LanguageModelOptions(budget=9_000), "SLEEP_MODEL_BUDGET has no meaning"),
    (SleepModel.NONE, LanguageModelOptions(price=(1.0, 2.0)), "SLEEP_MODEL_PRICE has no meaning"),
    (SleepModel.OPENAI, LanguageModelOptions(), "SLEEP_MODEL=openai needs SLEEP_MODEL_ID"),
    (SleepModel.BEDROCK, LanguageModelOptions(), "SLEEP_MODEL=bedrock needs SLEEP_MODEL_ID"),
    (SleepModel.OPENAI, LanguageModelOptions(model_id="x"), "SLEEP_MODEL=openai needs OPENAI_API_KEY"),
    (
        SleepModel.OPENAI,
        LanguageModelOptions(model_id="x", openai_base_url=f"http://user:{KEYED}@host/v1"),
        "OPENAI_BASE_URL must be",
    ),
]


@pytest.mark.parametrize(("choice", "options", "said"), REFUSED)
def test_what_goes_not_together_is_refused_by_name(
    choice: SleepModel, options: LanguageModelOptions, said: str
) -> None:
    with pytest.raises(SettingsError, match=said) as refused:
        connect_language_model(choice, options, StillClock(), SystemEntropy())
    assert KEYED not in str(refused.value)


def test_none_is_a_choice() -> None:
    none = LanguageModelOptions(openai_base_url="http://x/v1", openai_api_key=KEYED)
    assert connect_language_model(SleepModel.NONE, none, StillClock(), SystemEntropy()) is None
    assert KEYED not in repr(none)
