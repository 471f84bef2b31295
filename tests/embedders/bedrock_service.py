"""Bedrock's InvokeModel as the embedding models answer it, refusals included.

Source: Amazon Bedrock User Guide, "Amazon Titan Embeddings Text", "Cohere Embed v3", "Cohere Embed v4".
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from tests.embedders.loopback_service import Answer, Seen, json_answer, vector_of

TITAN = "amazon.titan-embed-text-v2:0"
COHERE_V3 = "cohere.embed-multilingual-v3"
COHERE_V4 = "cohere.embed-v4:0"
REQUEST_ID = "5f8d8c0e-6a51-4d8e-9d2b-0c4f1f0c9a11"


def refusal(status: int, kind: str, message: str) -> Answer:
    """An error as Bedrock sends it."""
    return json_answer(
        {"message": message}, status, x_amzn_ErrorType=f"{kind}:http://x/", x_amzn_RequestId=REQUEST_ID
    )


def invalid(message: str) -> Answer:
    """A request that the model refuses."""
    return refusal(
        400, "ValidationException", f"Malformed input request: {message}, please reformat your input"
    )


def invoke_model(request: Seen) -> Answer:
    """`POST /model/<id>/invoke`."""
    start, model_id, end = map(unquote, request.path.removeprefix("/").split("/"))
    if (start, end) != ("model", "invoke") or not request.headers["Authorization"].startswith(
        "AWS4-HMAC-SHA256"
    ):
        return refusal(
            403, "AccessDeniedException", "You don't have access to the model with the specified ID."
        )
    if model_id.endswith(TITAN):
        return _titan(request.json)
    if model_id.endswith(COHERE_V3):
        return _cohere(request.json, {"END", "START", "NONE"}, 1024, 2048)
    if model_id.endswith(COHERE_V4):
        return _cohere_v4(request.json)
    return refusal(400, "ValidationException", "The provided model identifier is invalid.")


def _titan(body: Mapping[str, object]) -> Answer:
    text = body.get("inputText")
    if not isinstance(text, str) or not 1 <= len(text) <= 50_000:
        return invalid(f"expected maxLength: 50000, actual: {text!r}")
    if not body.keys() <= {"inputText", "dimensions", "normalize", "embeddingTypes"}:
        return invalid("extraneous key")
    dim = body.get("dimensions", 1024)
    if not isinstance(dim, int) or dim not in (256, 512, 1024):
        return invalid(f"{dim} is not a valid enum value")
    vector = vector_of(text, dim)
    tokens = len(text.split())
    return json_answer(
        {"embedding": vector, "inputTextTokenCount": tokens, "embeddingsByType": {"float": vector}},
        x_amzn_RequestId=REQUEST_ID,
        X_Amzn_Bedrock_Input_Token_Count=str(tokens),
    )


def _cohere_v4(body: Mapping[str, object]) -> Answer:
    dim = body.get("output_dimension", 1536)
    if not isinstance(dim, int) or dim not in (256, 512, 1024, 1536):
        return invalid("output_dimension")
    rest = {name: value for name, value in body.items() if name not in ("output_dimension", "max_tokens")}
    return _cohere(rest, {"NONE", "LEFT", "RIGHT"}, dim, 500_000)


def _cohere(body: Mapping[str, object], truncates: set[str], dim: int, most: int) -> Answer:
    texts = body.get("texts")
    if not body.keys() <= {"texts", "input_type", "truncate", "embedding_types"}:
        return invalid("extraneous key")
    if body.get("input_type") not in ("search_document", "search_query", "classification", "clustering"):
        return invalid("#/input_type: not a valid enum value")
    if (
        not isinstance(texts, list)
        or not 1 <= len(texts) <= 96
        or body.get("truncate", "NONE") not in truncates
    ):
        return invalid("#/texts: expected maximum item count: 96")
    if any(len(text) > most for text in texts):
        return invalid(f"#/texts/0: expected maxLength: {most}")
    vectors = [vector_of(text, dim) for text in texts]
    by_type = body.get("embedding_types") is not None
    return json_answer(
        {
            "id": "0f6c",
            "response_type": "embeddings_by_type" if by_type else "embeddings_floats",
            "embeddings": {"float": vectors} if by_type else vectors,
            "texts": texts,
        },
        x_amzn_RequestId=REQUEST_ID,
    )
