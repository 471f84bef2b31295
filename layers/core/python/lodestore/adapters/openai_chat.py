"""A language model on any service that speaks OpenAI's `POST /chat/completions`: OpenAI, vLLM, Ollama, llama.cpp.

Owns: the request and the reading of the answer. Guarantees: one whole answer or `Failed`: what was cut at its longest,
refused, filtered or empty is none; no text of an answer is in a reason.
Gives up: streaming, and services that know no `response_format`.

Source: OpenAI API reference, "Create chat completion" and "Structured outputs".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lodestore.adapters.openai_endpoint import Endpoint, ServiceFailed
from lodestore.ports.language_model import Answered, Failed, Question, Tokens

# A token is seldom more than 16 bytes, and escaped at most six times that; the rest is the envelope.
_BYTES_A_TOKEN = 96
_BYTES_BESIDE = 65_536
# Such a request was refused for what it holds: too long, or not let through by a filter.
_OF_THIS_QUESTION = frozenset({400, 413, 422})


class OpenAIChat:
    """One model of one service. `limit_name`: how the service calls the most tokens of an answer."""

    def __init__(
        self, endpoint: Endpoint, model: str, limit_name: Literal["max_tokens", "max_completion_tokens"]
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._limit_name = limit_name

    @property
    def name(self) -> str:
        return f"openai/{self._model}"

    def ask(self, question: Question) -> Answered | Failed:
        """Ask once; the endpoint repeats what may be repeated."""
        most = _BYTES_BESIDE + _BYTES_A_TOKEN * question.most_tokens
        try:
            return _read(self._endpoint.post("chat/completions", self._body(question), most))
        except ServiceFailed as failure:
            return Failed(str(failure), lasting=failure.status not in _OF_THIS_QUESTION)

    def _body(self, question: Question) -> dict[str, object]:
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.text},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": dict(question.schema)},
            },
            self._limit_name: question.most_tokens,
        }


def _read(answer: Mapping[str, object]) -> Answered | Failed:
    tokens = _tokens(answer.get("usage"))
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        return Failed("the model's service sent no choice", tokens)
    ended = first.get("finish_reason")
    if message.get("refusal") or ended == "content_filter":
        return Failed("the model refused", tokens)
    if ended == "length":
        return Failed("the answer was longer than it may be", tokens)
    text = message.get("content")
    if not isinstance(text, str) or not text.strip():
        return Failed("the answer was empty", tokens)
    return Answered(text, tokens)


def _tokens(usage: object) -> Tokens:
    if not isinstance(usage, Mapping):
        return Tokens()
    return Tokens(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
