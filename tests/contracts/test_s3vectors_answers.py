"""What the S3 Vectors adapter sends, how often, and what it makes of each answer the service can give."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError
from botocore.session import get_session

from lodestore.adapters import s3vectors_index, s3vectors_requests
from lodestore.adapters.s3vectors_client import make_clients
from lodestore.adapters.s3vectors_index import S3VectorsIndex
from lodestore.adapters.s3vectors_requests import Unfit, key_batches, put_batches
from lodestore.errors import SettingsError
from lodestore.ports.vector_index import Busy, Done, NewVector, NoIndex, Refused
from tests.services.world import FakeClock, SeededEntropy

MODEL = get_session().get_service_model("s3vectors")
VECTOR = np.array([1, 0, 0], np.float32)
# Each error of the model, and what a query that gets it comes to. The second says whether it is asked again.
MEANINGS: Mapping[str, tuple[type, bool]] = {
    "ValidationException": (Refused, False),
    "AccessDeniedException": (Refused, False),
    "NotFoundException": (NoIndex, False),
    "KmsInvalidKeyUsageException": (Refused, False),
    "KmsInvalidStateException": (Refused, False),
    "KmsNotFoundException": (Refused, False),
    "KmsDisabledException": (Refused, False),
    "TooManyRequestsException": (Busy, True),
    "ServiceUnavailableException": (Busy, True),
    "InternalServerException": (Busy, True),
    "RequestTimeoutException": (Busy, True),
    "ServiceQuotaExceededException": (Busy, False),
}


def error_of(name: str, operation: str = "QueryVectors") -> ClientError:
    status = MODEL.shape_for(name).metadata.get("error", {}).get("httpStatusCode", 400)
    response: Any = {
        "Error": {"Code": name, "Message": "the vault's number"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, operation)


class Scripted:
    """A client that raises or answers in turn, the last for ever, and keeps what it was sent."""

    def __init__(
        self, *answers: Exception | dict[str, Any], before: Callable[[], None] | None = None
    ) -> None:
        self.answers = list(answers)
        self.before = before or (lambda: None)
        self.sent: list[dict[str, Any]] = []

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        def call(**arguments: Any) -> dict[str, Any]:
            self.before()
            self.sent.append(arguments)
            answer = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def adapter(client: Any, clock: FakeClock | None = None) -> S3VectorsIndex:
    return S3VectorsIndex(client, client, "bucket", clock or FakeClock(), SeededEntropy(1))


def errors_of(*operations: str) -> set[str]:
    return {shape.name for operation in operations for shape in MODEL.operation_model(operation).error_shapes}


def test_every_error_of_the_model_has_a_meaning() -> None:
    used = ("QueryVectors", "PutVectors", "DeleteVectors", "ListVectors", "GetIndex", "DeleteIndex")
    assert errors_of(*used) == set(MEANINGS)
    assert errors_of("CreateIndex") <= {*MEANINGS, "ConflictException"}


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("name", MEANINGS)
def test_an_error_is_asked_again_only_where_that_helps(name: str) -> None:
    kind, again = MEANINGS[name]
    client = Scripted(error_of(name))
    answer = adapter(client).query("m1", VECTOR, limit=5, admit=None)
    assert isinstance(answer, kind)
    assert "vault" not in repr(answer)
    assert (len(client.sent) > 1) is again
    assert len(client.sent) <= s3vectors_index.ATTEMPTS


@pytest.mark.parametrize("name", [name for name, (_, again) in MEANINGS.items() if again])
def test_what_passes_is_answered_after_a_pause(name: str) -> None:
    client = Scripted(error_of(name), error_of(name), {"vectors": []})
    clock = FakeClock()
    assert adapter(client, clock).put("m1", [NewVector("k", VECTOR)]) == Done()
    assert len(client.sent) == 3
    assert clock.elapsed() > 0


def test_pauses_have_chance_in_them() -> None:
    waited = set()
    for seed in range(5):
        clock = FakeClock()
        client: Any = Scripted(error_of("TooManyRequestsException"))
        S3VectorsIndex(client, client, "bucket", clock, SeededEntropy(seed)).list("m1")
        waited.add(clock.elapsed())
    assert len(waited) == 5


@pytest.mark.promise("P-BOUNDED")
def test_a_query_ends_within_its_deadline_however_slow_each_answer_is() -> None:
    clock = FakeClock()

    client = Scripted(ReadTimeoutError(endpoint_url="here"), before=lambda: clock.pause(2))
    assert isinstance(adapter(client, clock).query("m1", VECTOR, limit=5, admit=None), Busy)
    assert len(client.sent) == 2
    assert clock.elapsed() <= s3vectors_index.QUERY_SECONDS + 2


def test_a_request_that_can_not_be_sent_is_refused_at_once() -> None:
    client = Scripted(NoCredentialsError())
    assert isinstance(adapter(client).query("m1", VECTOR, limit=5, admit=None), Refused)
    assert len(client.sent) == 1


def test_a_bucket_that_is_not_there_makes_no_index() -> None:
    assert isinstance(adapter(Scripted(error_of("NotFoundException"))).create("m1", 3, text=False), Refused)


def test_a_service_that_pages_for_ever_is_not_followed_for_ever() -> None:
    client = Scripted({"vectors": [], "nextToken": "again"})
    adapter(client).query("m1", VECTOR, limit=5, admit=None)
    assert len(client.sent) <= 100


def test_a_batch_that_fails_ends_the_put_and_says_so() -> None:
    client = Scripted({}, error_of("ServiceUnavailableException", "PutVectors"))
    many = [NewVector(f"k{n}", VECTOR) for n in range(1_200)]
    assert isinstance(adapter(client).put("m1", many), Busy)
    assert [len(sent["vectors"]) for sent in client.sent][:2] == [500, 500]


@pytest.mark.case("B67")
@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize("dim", [3, 384, 4_096])
def test_a_request_stays_within_the_services_sizes(dim: int) -> None:
    numbers = np.full(dim, -1 / 3, np.float32)
    text = '年\n"' * 20_000
    attributes = {"tags": tuple(f"{n:016x}" for n in range(32))}
    many = [NewVector(f"{'k' * 128}~{n}", numbers, attributes, text) for n in range(700)]
    batches = list(put_batches(many))
    assert [entry["key"] for batch in batches for entry in batch] == [vector.key for vector in many]
    for batch in batches[:: max(1, len(batches) // 4)]:
        assert len(batch) <= s3vectors_requests.PUT_MOST
        # As botocore writes it: in ASCII.
        assert len(json.dumps({"vectors": batch})) <= s3vectors_requests.REQUEST_BYTES
    metadata = batches[0][0]["metadata"]
    sizes = len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())
    assert sizes <= s3vectors_requests.METADATA_BYTES


@pytest.mark.parametrize(
    "unfit",
    [
        NewVector("", VECTOR),
        NewVector("k" * 1_025, VECTOR),
        NewVector("k", np.zeros(3, np.float32)),
        NewVector("k", np.ones(4_097, np.float32)),
        NewVector("k", VECTOR, {"tags": tuple("x" * 100 for _ in range(21))}),
        NewVector("k", VECTOR, {f"k{n}": n for n in range(50)}),
    ],
)
def test_what_the_service_would_refuse_is_never_sent(unfit: NewVector) -> None:
    with pytest.raises(Unfit):
        list(put_batches([NewVector("good", VECTOR), unfit]))
    client = Scripted({})
    assert isinstance(adapter(client).put("m1", [NewVector("good", VECTOR), unfit]), Refused)
    assert not client.sent


def test_keys_are_deleted_once_each_and_500_at_a_time() -> None:
    batches = list(key_batches(f"k{n % 900}" for n in range(2_000)))
    assert [len(batch) for batch in batches] == [500, 400]


def test_a_bucket_without_a_region_is_a_settings_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(SettingsError, match="VECTOR_BUCKET: no region is known"):
        make_clients()
