"""The embedding models of Amazon Bedrock that can be chosen, and what each wants to be asked and answers.

Owns: their names, dimensions, limits and JSON. Guarantees: passages and queries are told apart where a model does so.
Gives up: models that are not listed, and provisioned ones whose ARN does not name the model.

Source: Amazon Bedrock User Guide, "Amazon Titan Embeddings Text", "Cohere Embed v3", "Cohere Embed v4".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Purpose(StrEnum):
    """What a vector is for, in Cohere's words."""

    PASSAGE = "search_document"
    QUERY = "search_query"


Request = Callable[[Sequence[str], Purpose, int], dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BedrockModel:
    """One model. `name` is part of every id it can be called by; the first of `dims` is its own.

    batch         texts in one request
    span_bytes    UTF-8 bytes of one text that the model takes for certain
    request       the body for some texts, a purpose and a dimension
    vectors       a list of vectors, out of an answer; KeyError, TypeError or AttributeError where it has none
    """

    name: str
    dims: tuple[int, ...]
    batch: int
    span_bytes: int
    request: Request
    vectors: Callable[[Mapping[str, object]], object]


def model_of(model_id: str) -> BedrockModel | None:
    """The model of an id, an inference profile's id (`eu.cohere.embed-v4:0`) or an ARN that ends in one."""
    return next((model for model in MODELS if model_id.endswith(model.name)), None)


def _titan_request(texts: Sequence[str], _: Purpose, dim: int) -> dict[str, object]:
    return {"inputText": texts[0], "dimensions": dim, "normalize": True}


def _titan_vectors(answer: Mapping[str, object]) -> object:
    return [answer["embedding"]]


def _cohere_v3_request(texts: Sequence[str], purpose: Purpose, _: int) -> dict[str, object]:
    # 512 tokens are the model's window; a span of dense script can be longer, and loses its end.
    return {"texts": list(texts), "input_type": purpose, "truncate": "END", "embedding_types": ["float"]}


def _cohere_v4_request(texts: Sequence[str], purpose: Purpose, dim: int) -> dict[str, object]:
    return {
        "texts": list(texts),
        "input_type": purpose,
        "truncate": "NONE",
        "embedding_types": ["float"],
        "output_dimension": dim,
    }


def _cohere_vectors(answer: Mapping[str, object]) -> object:
    # A list where one kind of number was asked for, in some of the versions; else one list for each kind.
    found = answer["embeddings"]
    return found["float"] if isinstance(found, Mapping) else found


_COHERE_BATCH = 96
# No tokenizer makes more tokens of a text than it has bytes, and Titan takes 8,192.
_TITAN_BYTES = 8_000
# v3 refuses texts over 2,048 characters.
_COHERE_V3_BYTES = 2_000
_COHERE_V4_BYTES = 8_000

MODELS = (
    BedrockModel(
        name="amazon.titan-embed-text-v2:0",
        dims=(1024, 512, 256),
        batch=1,
        span_bytes=_TITAN_BYTES,
        request=_titan_request,
        vectors=_titan_vectors,
    ),
    *(
        BedrockModel(
            name=name,
            dims=(1024,),
            batch=_COHERE_BATCH,
            span_bytes=_COHERE_V3_BYTES,
            request=_cohere_v3_request,
            vectors=_cohere_vectors,
        )
        for name in ("cohere.embed-multilingual-v3", "cohere.embed-english-v3")
    ),
    BedrockModel(
        name="cohere.embed-v4:0",
        dims=(1536, 1024, 512, 256),
        batch=_COHERE_BATCH,
        span_bytes=_COHERE_V4_BYTES,
        request=_cohere_v4_request,
        vectors=_cohere_vectors,
    ),
)
