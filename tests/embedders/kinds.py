"""Every kind of embedder, ready to embed.

Owns: how a test gets an embedder of each kind. Guarantees: each is the real adapter, made as the factory makes it, and
talks to a real socket where it talks at all; a local model that isn't installed is a skip that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lodestore.adapters.embedder_options import EmbedderOptions
from lodestore.adapters.embedders import MULTILINGUAL, Unavailable, connect_embedder
from lodestore.adapters.openai_embedder import OpenAIEmbedder, OpenAIModel
from lodestore.adapters.openai_endpoint import Endpoint
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.ports.embedder import Embedder
from lodestore.settings import Embeddings
from tests.embedders.bedrock_service import COHERE_V3, COHERE_V4, TITAN, invoke_model
from tests.embedders.loopback_service import Service, serving
from tests.embedders.openai_service import KEY, embeddings
from tests.stores.still_clock import StillClock

BEDROCK_MODELS = {
    "titan": TITAN,
    "cohere-v3": COHERE_V3,
    "cohere-v4": f"eu.{COHERE_V4}",
}
KINDS = ("local", "multilingual", *BEDROCK_MODELS, "openai", "openai-base64", "openai-prefixed")


def connect(choice: Embeddings, options: EmbedderOptions | None = None) -> Embedder | Unavailable:
    """What the factory makes, on a clock that stands still."""
    return connect_embedder(choice, options or EmbedderOptions(), StillClock(), SystemEntropy())


def local(model: str | None = None) -> Embedder:
    """A local model, by default the default one, or a skip."""
    found = connect(Embeddings.LOCAL, EmbedderOptions(model=model))
    if isinstance(found, Unavailable):
        pytest.skip(found.reason)
    return found


@contextmanager
def bedrock(model_id: str, dim: int | None = None) -> Iterator[tuple[Embedder, Service]]:
    """A Bedrock model and the service behind it."""
    with serving(invoke_model) as service, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", service.endpoint)
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        found = connect(Embeddings.BEDROCK, EmbedderOptions(model=model_id, dim=dim))
        assert not isinstance(found, Unavailable)
        yield found, service


@contextmanager
def openai(options: EmbedderOptions, *, reducible: bool = True) -> Iterator[tuple[Embedder, Service]]:
    """A model of an OpenAI-compatible service, and the service."""
    with serving(embeddings(options.dim or 1536, reducible=reducible)) as service:
        there = EmbedderOptions(
            model=options.model,
            dim=options.dim,
            ask_dim=options.ask_dim,
            span_bytes=options.span_bytes,
            query_prefix=options.query_prefix,
            passage_prefix=options.passage_prefix,
            openai_base_url=f"{service.endpoint}/v1",
            openai_api_key=KEY,
        )
        found = connect(Embeddings.OPENAI, there)
        assert not isinstance(found, Unavailable)
        yield found, service


@contextmanager
def openai_base64(dim: int) -> Iterator[tuple[Embedder, Service]]:
    """As `openai`, asking for base64 as it is done at OpenAI's own address."""
    with serving(embeddings(dim)) as service:
        endpoint = Endpoint(f"{service.endpoint}/v1", KEY, StillClock(), SystemEntropy())
        model = OpenAIModel(name="text-embedding-3-small", dim=dim, span_bytes=2_000, encoding="base64")
        yield OpenAIEmbedder(endpoint, model), service


@contextmanager
def embedding(kind: str) -> Iterator[Embedder]:
    """An embedder of one kind."""
    if kind == "local":
        yield local()
    elif kind == "multilingual":
        yield local(MULTILINGUAL)
    elif kind in BEDROCK_MODELS:
        with bedrock(BEDROCK_MODELS[kind]) as (found, _):
            yield found
    elif kind == "openai-base64":
        with openai_base64(1536) as (found, _):
            yield found
    else:
        prefixes = ("query: ", "passage: ") if kind == "openai-prefixed" else (None, None)
        options = EmbedderOptions(
            model="e5-small", dim=384, query_prefix=prefixes[0], passage_prefix=prefixes[1]
        )
        with openai(options) as (found, _):
            yield found
