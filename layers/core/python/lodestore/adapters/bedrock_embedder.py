"""An embedder on Amazon Bedrock: Titan Text Embeddings v2 and Cohere Embed.

Owns: asking the model, one request for each batch, up to 8 side by side. Guarantees: an attempt takes at most
CONNECT_SECONDS + READ_SECONDS between two bytes and is made at most ATTEMPTS times, on throttling, 5xx and lost
connections only; an answer is read up to a bound; no error holds anything of a text.
Gives up: choosing region, endpoint and credentials, which come from the SDK's own environment.

botocore without boto3 on top: the same client, in less of a cold start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, cast

import numpy as np
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from botocore.session import get_session

from lodestore.adapters.bedrock_models import BedrockModel, Purpose
from lodestore.adapters.embedding_checks import mean_row, most_answer_bytes, unit_rows
from lodestore.adapters.s3_store_answers import FAILURES, cause_of
from lodestore.adapters.sdk_logs import keep_content_out
from lodestore.ports.embedder import EmbeddingFailed, Vectors
from lodestore.retrieval.spans import Span, byte_units, split

CONNECT_SECONDS = 2
READ_SECONDS = 10
ATTEMPTS = 3
PARALLEL = 8


class BedrockClient(Protocol):
    """The one operation that is used, as botocore's client has it."""

    def invoke_model(self, **arguments: object) -> Mapping[str, Any]:
        """InvokeModel."""
        ...


def make_client() -> BedrockClient:
    """A client of Bedrock's runtime; no request is made yet. Raises EmbeddingFailed."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        max_pool_connections=PARALLEL,
        tcp_keepalive=True,
    )
    try:
        keep_content_out()
        return cast(BedrockClient, get_session().create_client("bedrock-runtime", config=config))
    except BotoCoreError as failure:
        raise EmbeddingFailed(f"no client: {type(failure).__name__}") from failure


class BedrockEmbedder:
    """One Bedrock model. Its name leaves out through which region's profile it is called."""

    def __init__(
        self, client: BedrockClient, model_id: str, model: BedrockModel, dim: int, span_bytes: int
    ) -> None:
        self._client = client
        self._model_id = model_id
        self._model = model
        self._dim = dim
        self._span_bytes = span_bytes
        self._parallel = ThreadPoolExecutor(PARALLEL, thread_name_prefix="bedrock")

    @property
    def model(self) -> str:
        return f"bedrock/{self._model.name}/{self._dim}"

    @property
    def dim(self) -> int:
        return self._dim

    def reads(self, text: str) -> bool:
        """Any text: these models are multilingual, or the operator chose one for the language at hand."""
        return bool(text)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Spans of at most `span_bytes` UTF-8 bytes each."""
        return split(text, byte_units(text), self._span_bytes)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found."""
        return self._embed(texts, Purpose.PASSAGE)

    def query(self, text: str) -> Vectors:
        """The vector of a query; the mean of its spans where it has several."""
        return mean_row(self._embed([text[start:end] for start, end in self.spans(text)], Purpose.QUERY))

    def _embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        batches = [texts[at : at + self._model.batch] for at in range(0, len(texts), self._model.batch)]
        if len(batches) <= 1:
            rows = [self._ask(batch, purpose) for batch in batches]
        else:
            rows = list(self._parallel.map(lambda batch: self._ask(batch, purpose), batches))
        return np.concatenate(rows) if rows else unit_rows([], 0, self._dim)

    def _ask(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        answer = self._invoke(
            self._model.request(texts, purpose, self._dim), most_answer_bytes(texts, self._dim)
        )
        try:
            vectors = self._model.vectors(answer)
        except (KeyError, TypeError):
            raise EmbeddingFailed(f"{self._model.name} answered without vectors") from None
        return unit_rows(vectors, len(texts), self._dim)

    def _invoke(self, body: Mapping[str, object], most_bytes: int) -> Mapping[str, object]:
        try:
            response = self._client.invoke_model(
                modelId=self._model_id,
                body=json.dumps(body).encode(),
                contentType="application/json",
                accept="application/json",
            )
            content = response["body"].read(most_bytes + 1)
        except FAILURES as failure:
            raise EmbeddingFailed(f"Bedrock: {cause_of(failure)}") from None
        if len(content) > most_bytes:
            raise EmbeddingFailed(f"{self._model.name} answered more than {most_bytes} bytes")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise EmbeddingFailed(f"{self._model.name} answered something else than JSON") from None
        if not isinstance(answer, Mapping):
            raise EmbeddingFailed(f"{self._model.name} answered something else than an object")
        return answer
