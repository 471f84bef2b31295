"""OpenAI's `POST /chat/completions` and Bedrock's Converse as the services answer them, refusals included.

Owns: the wire formats, and models of both over a real socket. Guarantees: what is asked is checked as a service would;
what is answered is what the test's `Reply` says. Gives up: a mind.

Source: OpenAI API reference, "Create chat completion"; Amazon Bedrock API reference, "Converse".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal
from urllib.parse import unquote

import pytest

from lodestore.adapters.language_models import LanguageModelOptions, connect_language_model
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.ports.language_model import LanguageModel
from lodestore.settings import SleepModel
from tests.embedders.loopback_service import Answer, Respond, Seen, Service, json_answer, serving
from tests.stores.still_clock import StillClock

KEY = "sk-test-0123456789"
MODEL = "test-model-1"
Kind = Literal["openai", "bedrock"]
KINDS: tuple[Kind, ...] = ("openai", "bedrock")
# The instructions and the text, to the text of the answer.
Reply = Callable[[str, str], str]
READ, WRITTEN = 321, 45


def mark_of(text: str) -> str:
    """The mark that a question ends with."""
    found = re.search(r"The mark of this question is ([0-9a-f]{16})\.\Z", text)
    assert found is not None
    return found[1]


def saying(text: str) -> Reply:
    """A model that says this, whatever it is asked."""
    return lambda *_: text


def openai_error(status: int, code: str, **headers: str) -> Answer:
    """An error as OpenAI sends it."""
    error = {"message": "no", "type": code, "param": None, "code": code}
    return json_answer({"error": error}, status, **headers)


def bedrock_error(status: int, kind: str, **headers: str) -> Answer:
    """An error as Bedrock sends it."""
    return json_answer({"message": "no"}, status, x_amzn_ErrorType=f"{kind}:http://x/", **headers)


def completion(content: object, ended: str = "stop", *, refusal: str | None = None) -> Answer:
    """An answer as OpenAI sends it."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return json_answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": ended}],
            "usage": {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN},
        }
    )


def converse(text: str | None, ended: str = "end_turn") -> Answer:
    """An answer as Bedrock sends it."""
    content: list[object] = [] if text is None else [{"text": text}]
    return json_answer(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": ended,
            "usage": {"inputTokens": READ, "outputTokens": WRITTEN, "totalTokens": READ + WRITTEN},
            "metrics": {"latencyMs": 5},
        }
    )


def openai_service(reply: Reply, key: str | None = KEY) -> Respond:
    """A service of one model."""

    def respond(request: Seen) -> Answer:
        if request.path != "/v1/chat/completions":
            return openai_error(404, "invalid_url")
        if key is not None and request.headers["Authorization"] != f"Bearer {key}":
            return openai_error(401, "invalid_api_key")
        body = request.json
        system, user = body["messages"]  # type: ignore[misc]
        form = body["response_format"]
        assert isinstance(form, dict)
        assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
        assert (system["role"], user["role"], body["model"]) == ("system", "user", MODEL)  # type: ignore[has-type]
        return completion(reply(system["content"], user["content"]))  # type: ignore[has-type]

    return respond


def bedrock_service(reply: Reply) -> Respond:
    """Bedrock's runtime with one model."""

    def respond(request: Seen) -> Answer:
        start, model_id, end = map(unquote, request.path.removeprefix("/").split("/"))
        if (start, end) != ("model", "converse") or "AWS4-HMAC-SHA256" not in request.headers[
            "Authorization"
        ]:
            return bedrock_error(403, "AccessDeniedException")
        if model_id != MODEL:
            return bedrock_error(400, "ValidationException")
        body = request.json
        (system,), (message,) = body["system"], body["messages"]  # type: ignore[misc]
        assert message["role"] == "user"  # type: ignore[has-type]
        assert body["inferenceConfig"]["maxTokens"] > 0  # type: ignore[index]
        return converse(reply(system["text"], message["content"][0]["text"]))  # type: ignore[has-type]

    return respond


@contextmanager
def modelling(kind: Kind, reply: Reply) -> Iterator[tuple[LanguageModel, Service]]:
    """The real adapter, made as the factory makes it, and the service behind it."""
    with pytest.MonkeyPatch.context() as patch:
        respond = openai_service(reply) if kind == "openai" else bedrock_service(reply)
        patch.setattr("botocore.endpoint.time.sleep", lambda _: None)
        with serving(respond) as service:
            patch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", service.endpoint)
            patch.setenv("AWS_ACCESS_KEY_ID", "test")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
            patch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
            options = LanguageModelOptions(
                model_id=MODEL, openai_base_url=f"{service.endpoint}/v1", openai_api_key=KEY
            )
            found = connect_language_model(SleepModel(kind), options, StillClock(), SystemEntropy())
            assert found is not None
            yield found, service
