"""OpenAI's `POST /v1/embeddings` as the service answers it, refusals included.

Source: OpenAI API reference, "Create embeddings".
"""

from __future__ import annotations

import base64
from functools import partial

import numpy as np

from tests.embedders.loopback_service import Answer, Respond, Seen, json_answer, vector_of

KEY = "sk-test-0123456789"


def refusal(status: int, kind: str, message: str, **headers: str) -> Answer:
    """An error as OpenAI sends it."""
    return json_answer(
        {"error": {"message": message, "type": kind, "param": None, "code": None}}, status, **headers
    )


def embeddings(dim: int, *, reducible: bool = True, key: str | None = KEY) -> Respond:
    """A service of one model of `dim` numbers; `reducible`: whether it takes `dimensions`."""
    return partial(_embeddings, own_dim=dim, reducible=reducible, key=key)


def _embeddings(request: Seen, *, own_dim: int, reducible: bool, key: str | None) -> Answer:
    if request.path != "/v1/embeddings":
        return refusal(404, "invalid_request_error", f"Invalid URL (POST {request.path})")
    if key is not None and request.headers["Authorization"] != f"Bearer {key}":
        return refusal(401, "invalid_request_error", "Incorrect API key provided")
    body = request.json
    texts = body.get("input")
    if not isinstance(texts, list) or not 1 <= len(texts) <= 2048 or not all(texts):
        return refusal(400, "invalid_request_error", f"'$.input' is invalid: {texts}")
    if "dimensions" in body and not reducible:
        return refusal(400, "BadRequestError", "Model does not support matryoshka representation")
    dim = body.get("dimensions", own_dim)
    assert isinstance(dim, int)
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": _shown(vector_of(text, dim), body["encoding_format"]),
        }
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    return json_answer({"object": "list", "data": data, "model": body["model"], "usage": usage})


def _shown(vector: list[float], encoding: object) -> object:
    if encoding != "base64":
        return vector
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
