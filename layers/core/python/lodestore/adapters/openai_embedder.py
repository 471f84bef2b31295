"""An embedder on any service that speaks OpenAI's `POST /embeddings`: OpenAI, vLLM, Ollama, llama.cpp, TEI.

Owns: the request and the reading of the answer. Guarantees: vectors in the order of the texts, whatever the order of
the answer; numbers as lists or as base64 are both read; the prefixes that a model was trained with are put before
every passage and every query, and are part of the model's name.
Gives up: knowing the model behind the name. Two services that give two models one name must not share an index.

Source: OpenAI API reference, "Create embeddings"; base64 holds little-endian float32.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lodestore.adapters.embedding_checks import mean_row, most_answer_bytes, unit_rows
from lodestore.adapters.openai_endpoint import Endpoint, ServiceFailed
from lodestore.ports.embedder import EmbeddingFailed, Vectors
from lodestore.retrieval.spans import Span, byte_units, split

# Of the services named above, TEI takes the fewest texts in one request.
BATCH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIModel:
    """What is asked of the service.

    span_bytes       UTF-8 bytes of one text, its prefix included
    ask_dim          whether `dim` is sent; a model of one dimension only may refuse to be asked
    encoding         the form of the numbers that is asked for
    """

    name: str
    dim: int
    span_bytes: int
    ask_dim: bool = False
    encoding: Literal["float", "base64"] = "float"
    query_prefix: str = ""
    passage_prefix: str = ""


class OpenAIEmbedder:
    """One model of one service."""

    def __init__(self, endpoint: Endpoint, model: OpenAIModel) -> None:
        self._endpoint = endpoint
        self._model = model

    @property
    def model(self) -> str:
        name = f"openai/{self._model.name}/{self._model.dim}"
        prefixes = f"{self._model.query_prefix}\0{self._model.passage_prefix}"
        return name if prefixes == "\0" else f"{name}+{hashlib.sha256(prefixes.encode()).hexdigest()[:8]}"

    @property
    def dim(self) -> int:
        return self._model.dim

    def reads(self, text: str) -> bool:
        """Any text: these models are multilingual, or the operator chose one for the language at hand."""
        return bool(text)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Spans that are at most `span_bytes` UTF-8 bytes with the longer of the two prefixes."""
        longest = max(
            self._model.query_prefix, self._model.passage_prefix, key=lambda text: len(text.encode())
        )
        return split(text, byte_units(text), self._model.span_bytes - len(longest.encode()))

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found."""
        return self._embed([self._model.passage_prefix + text for text in texts])

    def query(self, text: str) -> Vectors:
        """The vector of a query; the mean of its spans where it has several."""
        return mean_row(
            self._embed([self._model.query_prefix + text[start:end] for start, end in self.spans(text)])
        )

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._ask(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        return np.concatenate(rows) if rows else unit_rows([], 0, self._model.dim)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        body: dict[str, object] = {
            "model": self._model.name,
            "input": list(texts),
            "encoding_format": self._model.encoding,
        }
        if self._model.ask_dim:
            body["dimensions"] = self._model.dim
        try:
            answer = self._endpoint.post("embeddings", body, most_answer_bytes(texts, self._model.dim))
        except ServiceFailed as failure:
            raise EmbeddingFailed(str(failure)) from None
        return unit_rows(_vectors(answer, len(texts)), len(texts), self._model.dim)


def _vectors(answer: Mapping[str, object], count: int) -> list[object]:
    """The vectors by their index, each index once."""
    found: dict[int, object] = {}
    data = answer.get("data")
    for entry in data if isinstance(data, list) else []:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("index"), int):
            raise EmbeddingFailed("the embedding service sent a vector without its index")
        found[entry["index"]] = _numbers(entry.get("embedding"))
    if found.keys() != set(range(count)) or not isinstance(data, list) or len(data) != count:
        raise EmbeddingFailed(f"the embedding service did not send one vector for each of {count} texts")
    return [found[index] for index in range(count)]


def _numbers(embedding: object) -> object:
    if not isinstance(embedding, str):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except (binascii.Error, ValueError):
        raise EmbeddingFailed("the embedding service sent a vector that is no base64 of float32") from None
