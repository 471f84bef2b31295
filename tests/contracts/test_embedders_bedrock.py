"""What the Bedrock embedder sends, and what it makes of each answer that Bedrock can give."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from lodestore.adapters import bedrock_embedder
from lodestore.adapters.embedders import Unavailable
from lodestore.ports.embedder import Embedder, EmbeddingFailed
from lodestore.settings import Embeddings
from tests.embedders.bedrock_service import COHERE_V3, COHERE_V4, TITAN, refusal
from tests.embedders.kinds import bedrock, connect
from tests.embedders.loopback_service import Answer, Service, json_answer

SECRET = "the vault's number is 4711"
BROKEN = [
    json_answer({"message": "no vectors"}),
    json_answer({"embedding": [0.0] * 1024}),
    json_answer({"embedding": [1.0] * 512}),
    json_answer({"embedding": ["1"] * 1024}),
    json_answer({"embedding": None}),
    json_answer([1.0] * 1024),
    Answer(body=b'{"embedding": [' + b"NaN, " * 1023 + b"1]}"),
    Answer(body=b'{"embedding": [' + b"1e999, " * 1023 + b"1]}"),
    Answer(body=b"<html>not Bedrock</html>"),
    Answer(body=b"[" * 100_000),
    Answer(body=b" " * 1_000_000),
]


@pytest.fixture
def titan(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Embedder, Service]]:
    """Titan at its smallest, and the service; the SDK's waits between attempts take no time."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    with bedrock(TITAN) as found:
        yield found


def body_of(service: Service, number: int = -1) -> dict[str, object]:
    return service.seen[number].json


def test_titan_is_asked_one_text_at_a_time_for_normalised_vectors() -> None:
    with bedrock(TITAN, 256) as (embedder, service):
        rows = embedder.passages(["one", "two", "three"])
        bodies = [seen.json for seen in service.seen]
    assert sorted(str(body["inputText"]) for body in bodies) == ["one", "three", "two"]
    assert all(body["dimensions"] == 256 and body["normalize"] is True for body in bodies)
    assert rows.shape == (3, 256)
    assert embedder.model == "bedrock/amazon.titan-embed-text-v2:0/256"


@pytest.mark.parametrize("model_id", [COHERE_V3, f"eu.{COHERE_V4}"])
def test_cohere_is_told_passages_from_queries(model_id: str) -> None:
    with bedrock(model_id) as (embedder, service):
        embedder.passages(["one", "two"])
        embedder.query("which?")
        passages, query = (body_of(service, number) for number in (0, 1))
    assert (passages["input_type"], passages["texts"]) == ("search_document", ["one", "two"])
    assert (query["input_type"], query["texts"]) == ("search_query", ["which?"])
    assert passages["embedding_types"] == ["float"]


def test_only_cohere_v4_is_asked_for_a_dimension() -> None:
    with bedrock(COHERE_V4, 512) as (embedder, service):
        assert embedder.query("x").shape == (512,)
        assert body_of(service)["output_dimension"] == 512
    with bedrock(COHERE_V3) as (embedder, service):
        assert embedder.query("x").shape == (1024,)
        assert "output_dimension" not in body_of(service)


def test_both_forms_of_coheres_answer_are_read() -> None:
    with bedrock(COHERE_V3) as (embedder, service):
        service.will(
            json_answer({"embeddings": [[3.0, 4.0] + [0.0] * 1022], "response_type": "embeddings_floats"})
        )
        assert embedder.passages(["x"])[0, :2] == pytest.approx([0.6, 0.8])


def test_many_texts_go_in_batches_and_come_back_in_their_order() -> None:
    texts = [f"note number {number}" for number in range(100)]
    with bedrock(COHERE_V3) as (embedder, service):
        rows = embedder.passages(texts)
        sizes = sorted(len(json.loads(seen.body)["texts"]) for seen in service.seen)
        last = embedder.passages(texts[-1:])[0]
    assert sizes == [4, 96]
    assert np.abs(rows[-1] - last).max() < 1e-6


def test_an_inference_profile_gives_the_same_vectors_under_the_same_name() -> None:
    arn = f"arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.{COHERE_V4}"
    with bedrock(arn) as (through_arn, _), bedrock(COHERE_V4) as (plain, _):
        assert through_arn.model == plain.model
        assert np.abs(through_arn.query("x") - plain.query("x")).max() < 1e-6


def test_throttling_and_server_errors_are_tried_again(titan: tuple[Embedder, Service]) -> None:
    embedder, service = titan
    service.will(refusal(429, "ThrottlingException", "Too many requests"), Answer(hang_up=True))
    assert embedder.query("x").shape == (1024,)
    assert len(service.seen) == 3


@pytest.mark.promise("P-BOUNDED")
def test_attempts_come_to_an_end(titan: tuple[Embedder, Service]) -> None:
    embedder, service = titan
    service.will(*[refusal(503, "ServiceUnavailableException", "busy")] * 10)
    with pytest.raises(EmbeddingFailed, match="ServiceUnavailableException 503"):
        embedder.query("x")
    assert len(service.seen) == bedrock_embedder.ATTEMPTS


@pytest.mark.promise("P-BOUNDED")
def test_an_answer_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    monkeypatch.setattr(bedrock_embedder, "READ_SECONDS", 0.1)
    with bedrock(TITAN) as (embedder, service):
        service.will(*[Answer(silent=True)] * bedrock_embedder.ATTEMPTS)
        with pytest.raises(EmbeddingFailed, match="ReadTimeoutError"):
            embedder.query("x")


def test_a_refusal_is_not_repeated_and_holds_nothing_of_the_text(titan: tuple[Embedder, Service]) -> None:
    embedder, service = titan
    service.will(refusal(400, "ValidationException", f"Malformed input request: {SECRET}"))
    with pytest.raises(EmbeddingFailed, match="InvokeModel ValidationException 400") as failed:
        embedder.passages([SECRET])
    assert len(service.seen) == 1
    assert SECRET not in str(failed.value)
    assert failed.value.__suppress_context__


@pytest.mark.parametrize("answer", BROKEN, ids=lambda answer: answer.body[:24].decode())
def test_what_is_no_sound_vector_is_a_failure(titan: tuple[Embedder, Service], answer: Answer) -> None:
    embedder, service = titan
    service.will(answer)
    with pytest.raises(EmbeddingFailed):
        embedder.passages([SECRET])


def test_a_body_that_breaks_off_is_a_failure(titan: tuple[Embedder, Service]) -> None:
    embedder, service = titan
    service.will(Answer(body=b'{"embedding": [1.0', length=4_000))
    with pytest.raises(EmbeddingFailed):
        embedder.passages(["x"])


def test_one_text_of_many_that_fails_fails_the_call(titan: tuple[Embedder, Service]) -> None:
    embedder, service = titan
    service.will(refusal(403, "AccessDeniedException", "no access"))
    with pytest.raises(EmbeddingFailed, match="AccessDeniedException"):
        embedder.passages([f"text {number}" for number in range(20)])


def test_without_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with bedrock(TITAN) as (_, service):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
            monkeypatch.setenv(name, "none")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        embedder = connect(Embeddings.BEDROCK)
        assert not isinstance(embedder, Unavailable)
        with pytest.raises(EmbeddingFailed, match="NoCredentialsError"):
            embedder.query("x")
        assert service.seen == []
