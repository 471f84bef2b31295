"""What the OpenAI-compatible embedder sends, and what it makes of each answer that such a service can give."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from lodestore.adapters import openai_endpoint
from lodestore.adapters.embedder_options import EmbedderOptions
from lodestore.adapters.openai_embedder import BATCH, OpenAIEmbedder, OpenAIModel
from lodestore.adapters.openai_endpoint import ATTEMPTS, Endpoint
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.ports.embedder import Embedder, EmbeddingFailed
from tests.embedders.kinds import openai, openai_base64
from tests.embedders.loopback_service import Answer, Service, json_answer, serving
from tests.embedders.openai_service import KEY, embeddings, refusal
from tests.stores.still_clock import StillClock

SMALL = EmbedderOptions(model="local-model", dim=4)
SECRET = "the vault's number is 4711"


def listed(*vectors: object, indexes: list[int] | None = None) -> Answer:
    """An answer with these vectors."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in zip(indexes or range(len(vectors)), vectors, strict=True)
    ]
    return json_answer({"object": "list", "data": data, "model": "m"})


BROKEN = [
    listed([0.0, 0.0, 0.0, 0.0]),
    listed([1.0, 2.0]),
    listed([1.0, 2.0, 3.0, None]),
    listed("not base64!"),
    listed("AAAA"),
    listed("AAAAAAAAAAAAAAAAAAAAAA=="),
    listed([1.0] * 4, [1.0] * 4),
    listed([1.0] * 4, indexes=[1]),
    listed(),
    json_answer({"data": [{"embedding": [1.0] * 4}]}),
    json_answer({"data": {"0": [1.0] * 4}}),
    json_answer({"object": "list"}),
    json_answer([[1.0] * 4]),
    Answer(body=b'{"data": [{"index": 0, "embedding": [NaN, 1, 1, 1]}]}'),
    Answer(body=b"<html>not the service</html>"),
    Answer(body=b"[" * 60_000),
    Answer(body=b" " * 200_000),
    Answer(body=b"\xff\xfe"),
]


@pytest.fixture
def small() -> Iterator[tuple[Embedder, Service]]:
    """A model of four numbers, and its service."""
    with openai(SMALL) as found:
        yield found


def test_the_request_is_openais(small: tuple[Embedder, Service]) -> None:
    embedder, service = small
    embedder.passages(["one", "two"])
    (seen,) = service.seen
    assert seen.path == "/v1/embeddings"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert seen.headers["Content-Type"] == "application/json"
    assert seen.json == {"model": "local-model", "input": ["one", "two"], "encoding_format": "float"}


def test_a_service_without_keys_is_sent_none() -> None:
    with serving(embeddings(4, key=None)) as service:
        endpoint = Endpoint(f"{service.endpoint}/v1/", None, StillClock(), SystemEntropy())
        OpenAIEmbedder(endpoint, OpenAIModel(name="m", dim=4, span_bytes=2_000)).query("x")
        assert service.seen[0].headers["Authorization"] is None
        assert service.seen[0].path == "/v1/embeddings"


def test_a_model_is_asked_for_fewer_numbers_only_where_it_can_give_them() -> None:
    with openai(EmbedderOptions(model="text-embedding-3-small", dim=256)) as (embedder, service):
        assert embedder.query("x").shape == (256,)
        assert service.seen[0].json["dimensions"] == 256
    with openai(EmbedderOptions(model="fixed", dim=256), reducible=False) as (embedder, service):
        assert embedder.query("x").shape == (256,)
    asked = EmbedderOptions(model="other-matryoshka", dim=128, ask_dim=True)
    with openai(asked) as (embedder, service):
        assert embedder.query("x").shape == (128,)
        assert service.seen[0].json["dimensions"] == 128


def test_base64_holds_the_same_numbers_as_a_list() -> None:
    with openai_base64(16) as (encoded, service):
        with openai(EmbedderOptions(model="m", dim=16)) as (plain, _):
            assert np.abs(encoded.query("tea") - plain.query("tea")).max() < 1e-6
        assert service.seen[0].json["encoding_format"] == "base64"


def test_a_service_that_ignores_the_encoding_is_understood(small: tuple[Embedder, Service]) -> None:
    embedder, service = small
    service.will(listed("AAAAQAAAAAAAAAAAAAAAAA=="))
    assert embedder.query("x").tolist() == [1, 0, 0, 0]


def test_prefixes_stand_before_passages_and_queries_and_in_the_name() -> None:
    options = EmbedderOptions(model="e5", dim=4, query_prefix="query: ", passage_prefix="passage: ")
    with openai(options) as (prefixed, service), openai(EmbedderOptions(model="e5", dim=4)) as (plain, _):
        prefixed.passages(["tea"])
        prefixed.query("tea?")
        assert [seen.json["input"] for seen in service.seen] == [["passage: tea"], ["query: tea?"]]
        assert prefixed.model.startswith(f"{plain.model}+")


def test_many_texts_go_in_batches_and_come_back_in_their_order(small: tuple[Embedder, Service]) -> None:
    embedder, service = small
    texts = [f"note number {number}" for number in range(2 * BATCH + 1)]
    rows = embedder.passages(texts)
    assert [len(json.loads(seen.body)["input"]) for seen in service.seen] == [BATCH, BATCH, 1]
    assert np.abs(rows[BATCH] - embedder.passages([texts[BATCH]])[0]).max() < 1e-6


def test_vectors_are_told_apart_by_their_index(small: tuple[Embedder, Service]) -> None:
    embedder, service = small
    service.will(listed([0, 2, 0, 0], [3, 0, 0, 0], indexes=[1, 0]))
    assert embedder.passages(["first", "second"]).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize("answer", BROKEN, ids=lambda answer: answer.body[:64].decode(errors="replace"))
def test_what_is_no_sound_vector_is_a_failure(small: tuple[Embedder, Service], answer: Answer) -> None:
    embedder, service = small
    service.will(answer)
    with pytest.raises(EmbeddingFailed):
        embedder.passages([SECRET])
    assert len(service.seen) == 1


AGAIN = [
    refusal(429, "rate_limit_exceeded", "slow down"),
    refusal(500, "server_error", "oops"),
    Answer(503),
    Answer(hang_up=True),
    Answer(body=b"{", length=100),
]


@pytest.mark.parametrize("answer", AGAIN, ids=["429", "500", "503", "lost", "broken off"])
def test_what_may_pass_is_tried_again(small: tuple[Embedder, Service], answer: Answer) -> None:
    embedder, service = small
    service.will(answer, answer)
    assert embedder.query("x").shape == (4,)
    assert len(service.seen) == ATTEMPTS == 3


@pytest.mark.promise("P-BOUNDED")
def test_attempts_come_to_an_end(small: tuple[Embedder, Service]) -> None:
    embedder, service = small
    service.will(*[refusal(429, "rate_limit_exceeded", SECRET)] * 10)
    with pytest.raises(EmbeddingFailed, match="429 rate_limit_exceeded") as failed:
        embedder.query(SECRET)
    assert len(service.seen) == ATTEMPTS
    assert SECRET not in str(failed.value)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
def test_a_refusal_is_not_repeated_and_holds_neither_text_nor_key(
    small: tuple[Embedder, Service], status: int
) -> None:
    embedder, service = small
    elsewhere = {"Location": f"{service.endpoint}/elsewhere"}
    service.will(refusal(status, f"{SECRET} {KEY}", f"{SECRET} {KEY}", **elsewhere))
    with pytest.raises(EmbeddingFailed, match=str(status)) as failed:
        embedder.query(SECRET)
    assert len(service.seen) == 1
    assert SECRET not in str(failed.value)
    assert KEY not in str(failed.value) + repr(embedder)


def waits_of(service: Service, *answers: Answer) -> float:
    """Seconds that a query waited, on a clock of the test."""
    clock = StillClock()
    endpoint = Endpoint(f"{service.endpoint}/v1", KEY, clock, SystemEntropy())
    service.will(*answers)
    OpenAIEmbedder(endpoint, OpenAIModel(name="m", dim=4, span_bytes=2_000)).query("x")
    return clock.elapsed()


@pytest.mark.parametrize("value", ["6", "Sun, 29 Nov 2026 12:00:06 GMT"])
def test_a_service_that_says_how_long_to_wait_is_obeyed(small: tuple[Embedder, Service], value: str) -> None:
    assert waits_of(small[1], refusal(429, "rate_limit", "", Retry_After=value)) == pytest.approx(
        6, abs=0.001
    )


@pytest.mark.parametrize("value", ["0", "-5", "soon", "", "Sun, 29 Nov 2020 12:00:06 GMT", "²"])
def test_a_senseless_wait_is_the_usual_one(small: tuple[Embedder, Service], value: str) -> None:
    limited = json_answer({}, 429)
    answer = Answer(429, limited.body, {"Retry-After": value.encode().decode("latin-1")})
    assert 0.25 <= waits_of(small[1], answer) <= 0.5


@pytest.mark.promise("P-BOUNDED")
def test_a_longer_wait_than_allowed_is_a_failure_at_once(small: tuple[Embedder, Service]) -> None:
    embedder, service = small
    service.will(refusal(429, "insufficient_quota", "", Retry_After="3600"))
    with pytest.raises(EmbeddingFailed, match="429 insufficient_quota"):
        embedder.query("x")
    assert len(service.seen) == 1


@pytest.mark.promise("P-BOUNDED")
def test_an_answer_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_endpoint, "READ_SECONDS", 0.1)
    with openai(SMALL) as (embedder, service):
        service.will(*[Answer(silent=True)] * ATTEMPTS)
        with pytest.raises(EmbeddingFailed, match="ReadTimeoutError"):
            embedder.query("x")
        assert len(service.seen) == ATTEMPTS


def test_a_service_that_is_not_there_is_a_failure() -> None:
    with openai(SMALL) as (embedder, _):
        pass
    with pytest.raises(EmbeddingFailed, match="NewConnectionError") as failed:
        embedder.query(SECRET)
    assert SECRET not in str(failed.value)
