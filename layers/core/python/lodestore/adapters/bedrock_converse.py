"""A language model on Amazon Bedrock, by Converse, which is one form for all of its models.

Owns: the request and the reading of the answer. Guarantees: as the port says; an attempt takes at most CONNECT_SECONDS
and READ_SECONDS between two bytes and is made at most ATTEMPTS times, on throttling, 5xx and lost connections only.
Gives up: a bound on the bytes of an answer other than `maxTokens`; choosing region and credentials, which come from
the SDK's own environment.

Source: Amazon Bedrock API reference, "Converse".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from lodestore.adapters.s3_store_answers import FAILURES, cause_of, code_of
from lodestore.adapters.sdk_logs import keep_content_out
from lodestore.errors import SettingsError
from lodestore.ports.language_model import Answered, Failed, Question, Tokens

CONNECT_SECONDS: Final = 2
# The first byte comes with the last of the answer.
READ_SECONDS: Final = 50
ATTEMPTS: Final = 3
_ENDED: Final = frozenset({"end_turn", "stop_sequence"})
_REFUSED: Final = frozenset({"guardrail_intervened", "content_filtered"})
_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})


class ConverseClient(Protocol):
    """The one operation that is used, as botocore's client has it."""

    def converse(self, **arguments: object) -> Mapping[str, Any]:
        """Converse."""
        ...


def make_client() -> ConverseClient:
    """A client of Bedrock's runtime; no request is made yet. Raises SettingsError."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        tcp_keepalive=True,
    )
    try:
        keep_content_out()
        return cast(ConverseClient, get_session().create_client("bedrock-runtime", config=config))
    except BotoCoreError as failure:
        raise SettingsError(
            f"SLEEP_MODEL=bedrock: no client: {type(failure).__name__}; is AWS_REGION set?"
        ) from failure


class BedrockConverse:
    """One model, or inference profile."""

    def __init__(self, client: ConverseClient, model_id: str) -> None:
        self._client = client
        self._model_id = model_id

    @property
    def name(self) -> str:
        return f"bedrock/{self._model_id}"

    def ask(self, question: Question) -> Answered | Failed:
        """Ask once; the SDK repeats what may be repeated."""
        try:
            answer = self._client.converse(
                modelId=self._model_id,
                system=[{"text": question.instructions}],
                messages=[{"role": "user", "content": [{"text": question.text}]}],
                inferenceConfig={"maxTokens": question.most_tokens},
            )
        except (*FAILURES, ValueError, RecursionError) as failure:
            # The SDK lets some bytes that are no JSON raise what its parser raises.
            # Refused for what it holds, such as its length; anything else would meet the next question, too.
            ours = isinstance(failure, ClientError) and code_of(failure) == "ValidationException"
            return Failed(f"Bedrock: {cause_of(failure)}", lasting=not ours)
        return _read(answer)


def _read(answer: Mapping[str, Any]) -> Answered | Failed:
    usage = answer.get("usage") or {}
    tokens = Tokens(usage.get("inputTokens"), usage.get("outputTokens"))
    ended = answer.get("stopReason")
    if ended in _REFUSED:
        return Failed("the model refused", tokens)
    if ended in _CUT:
        return Failed("the answer was longer than it may be", tokens)
    if ended not in _ENDED:
        return Failed("the answer ended in a way that is not known here", tokens)
    content = ((answer.get("output") or {}).get("message") or {}).get("content") or ()
    # A model may think first; what it thought is no part of its answer.
    text = "".join(block["text"] for block in content if "text" in block)
    return Answered(text, tokens) if text.strip() else Failed("the answer was empty", tokens)
