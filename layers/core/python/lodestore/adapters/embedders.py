"""From settings to an embedder.

Owns: which adapter serves which choice, the defaults of a service's model, and the checks of what goes together.
Guarantees: a setting that the chosen embedder would ignore is refused by name; only the chosen adapter and its
libraries are imported; no request is made and no model loaded.
Gives up: a local model that isn't installed is no error but an `Unavailable`, for recall by keywords needs none.
"""

from __future__ import annotations

from dataclasses import dataclass

from lodestore.adapters.embedder_options import EmbedderOptions, check_options
from lodestore.adapters.openai_address import OPENAI_BASE, check_base
from lodestore.errors import SettingsError
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.embedder import Embedder, EmbeddingFailed
from lodestore.settings import Embeddings

OPENAI_DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
DEFAULT_MODELS = {
    Embeddings.BEDROCK: "amazon.titan-embed-text-v2:0",
    Embeddings.OPENAI: "text-embedding-3-small",
}
MULTILINGUAL = "multilingual-e5-small"
# The first is the default.
LOCAL_MODELS = ("all-MiniLM-L6-v2", MULTILINGUAL)
# About 500 tokens of English: the window of most models that OpenAI's format serves, and sharper than a whole page.
SPAN_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Unavailable:
    """There is no embedder, and recall goes by keywords: why, in a line fit for an operator."""

    reason: str


def connect_embedder(
    choice: Embeddings, options: EmbedderOptions, clock: Clock, entropy: Entropy
) -> Embedder | Unavailable:
    """The embedder that was chosen. Raises SettingsError naming the variable at fault."""
    check_options(choice, options)
    if choice is Embeddings.NONE:
        return Unavailable("EMBEDDINGS=none")
    if choice is Embeddings.LOCAL:
        return _local(options)
    if choice is Embeddings.BEDROCK:
        return _bedrock(options)
    return _openai(options, clock, entropy)


def _local(options: EmbedderOptions) -> Embedder | Unavailable:
    name = options.model or LOCAL_MODELS[0]
    if name not in LOCAL_MODELS:
        raise SettingsError(
            f"EMBED_MODEL must be one of {', '.join(LOCAL_MODELS)} with EMBEDDINGS=local, not {name!r}"
        )
    try:
        if name == MULTILINGUAL:
            from lodestore.adapters.e5_embedder import connect_multilingual

            return connect_multilingual()
        from lodestore.adapters.onnx_embedder import connect_local

        return connect_local()
    except EmbeddingFailed as failure:
        return Unavailable(f"the local model is not installed: {failure}")


def _bedrock(options: EmbedderOptions) -> Embedder:
    from lodestore.adapters.bedrock_embedder import BedrockEmbedder, make_client
    from lodestore.adapters.bedrock_models import MODELS, model_of

    model_id = options.model or DEFAULT_MODELS[Embeddings.BEDROCK]
    model = model_of(model_id)
    if model is None:
        known = ", ".join(model.name for model in MODELS)
        raise SettingsError(f"EMBED_MODEL must end in one of {known}, not {model_id!r}")
    dim = options.dim or model.dims[0]
    if dim not in model.dims:
        allowed = ", ".join(map(str, model.dims))
        raise SettingsError(f"EMBED_DIM must be one of {allowed} for {model.name}, not {dim}")
    span_bytes = options.span_bytes or SPAN_BYTES
    if span_bytes > model.span_bytes:
        raise SettingsError(
            f"EMBED_SPAN_BYTES is at most {model.span_bytes} for {model.name}, not {span_bytes}"
        )
    try:
        client = make_client()
    except EmbeddingFailed as failure:
        raise SettingsError(f"EMBEDDINGS=bedrock: {failure}; is AWS_REGION set?") from failure
    return BedrockEmbedder(client, model_id, model, dim, span_bytes)


def _openai(options: EmbedderOptions, clock: Clock, entropy: Entropy) -> Embedder:
    from lodestore.adapters.openai_embedder import OpenAIEmbedder, OpenAIModel
    from lodestore.adapters.openai_endpoint import Endpoint

    base = options.openai_base_url or OPENAI_BASE
    check_base(base, options.openai_api_key, "EMBEDDINGS=openai")
    name = options.model or DEFAULT_MODELS[Embeddings.OPENAI]
    dim = options.dim or OPENAI_DIMS.get(name)
    if dim is None:
        raise SettingsError(f"EMBED_DIM is needed: how many numbers a vector of {name} has is not known here")
    reduced = OPENAI_DIMS.get(name, dim) != dim
    model = OpenAIModel(
        name=name,
        dim=dim,
        span_bytes=options.span_bytes or SPAN_BYTES,
        ask_dim=reduced if options.ask_dim is None else options.ask_dim,
        # Every service sends lists; OpenAI's own sends a third of the bytes as base64.
        encoding="base64" if base == OPENAI_BASE else "float",
        query_prefix=options.query_prefix or "",
        passage_prefix=options.passage_prefix or "",
    )
    return OpenAIEmbedder(Endpoint(base, options.openai_api_key, clock, entropy), model)
