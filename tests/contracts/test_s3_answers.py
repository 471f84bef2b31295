"""What the S3 store makes of each answer that S3 can give, on a real connection."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lodestore.adapters import s3_store_client
from lodestore.adapters.s3_store import Encryption, S3Store, connect
from lodestore.ports.object_store import (
    Contended,
    Found,
    Gone,
    Lost,
    Missing,
    NotModified,
    ObjectTooLarge,
    StoreUnavailable,
    Unknown,
    Won,
)
from tests.stores.scripted_s3 import ETAG, Answer, ScriptedS3, scripted_s3

KEY = "memories/acme/note-7.json"
REFUSALS = [
    Answer(403, "AccessDenied"),
    Answer(404, "NoSuchBucket"),
    Answer(400, "InvalidRequest"),
    Answer(403, "RequestTimeTooSkewed"),
    Answer(400, "ExpiredToken"),
    Answer(301, "PermanentRedirect"),
]
UNDECIDED = [
    Answer(500, "InternalError"),
    Answer(503, "SlowDown"),
    Answer(503, "ServiceUnavailable"),
    Answer(502, body=b"<html>not S3</html>"),
    Answer(504),
    Answer(400, "RequestTimeout"),
    Answer(429, "TooManyRequests"),
    Answer(hang_up=True),
    Answer(headers={"ETag": ""}),
    Answer(headers={"Date": ""}),
    Answer(headers={"Date": "yesterday"}),
]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedS3]:
    """A server with a script, to which the SDK's environment leads."""
    with scripted_s3() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.endpoint)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
        yield server


@pytest.fixture
def store(script: ScriptedS3) -> S3Store:
    assert script.seen == []
    return connect("state", "team/")


def shown(answer: Answer) -> str:
    return (
        f"{answer.status}-{answer.code or ('hang-up' if answer.hang_up else dict(answer.headers) or 'plain')}"
    )


@pytest.mark.case("B19")
def test_each_word_of_a_conditional_write_is_a_value(script: ScriptedS3, store: S3Store) -> None:
    script.will(Answer(), Answer(412, "PreconditionFailed"), Answer(409, "ConditionalRequestConflict"))
    script.will(Answer(404, "NoSuchKey"))
    won = store.create(KEY, b"1")
    assert isinstance(won, Won)
    assert won.etag == ETAG
    assert store.create(KEY, b"1") == Lost()
    assert store.replace(KEY, b"2", expected=ETAG) == Contended()
    assert store.replace(KEY, b"2", expected=ETAG) == Gone()


def test_the_condition_and_the_whole_key_go_over_the_wire(script: ScriptedS3, store: S3Store) -> None:
    script.will(Answer(), Answer())
    store.create(KEY, b"new")
    store.replace(KEY, b"newer", expected=ETAG)
    create, replace = script.seen
    assert (create.method, create.path, create.body) == ("PUT", f"/state/team/{KEY}", b"new")
    assert (create.headers["If-None-Match"], create.headers["If-Match"]) == ("*", None)
    assert (replace.headers["If-None-Match"], replace.headers["If-Match"]) == (None, ETAG)


@pytest.mark.case("B80")
@pytest.mark.parametrize("answer", UNDECIDED, ids=shown)
def test_a_write_whose_end_is_open_is_unknown_and_sent_once(
    script: ScriptedS3, store: S3Store, answer: Answer
) -> None:
    script.will(answer, answer)
    assert isinstance(store.create(KEY, b"1"), Unknown)
    assert isinstance(store.replace(KEY, b"1", expected=ETAG), Unknown)
    assert len(script.seen) == 2


@pytest.mark.case("B80")
def test_a_write_without_an_answer_in_time_is_unknown(
    script: ScriptedS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_store_client, "READ_SECONDS", 0.2)
    script.will(Answer(silent=True))
    outcome = connect("state").create(KEY, b"1")
    assert outcome == Unknown("ReadTimeoutError")
    assert len(script.seen) == 1


@pytest.mark.promise("P-SILENT-NEVER")
@pytest.mark.parametrize("answer", REFUSALS, ids=shown)
def test_a_write_that_was_refused_says_so_and_wrote_nothing(
    script: ScriptedS3, store: S3Store, answer: Answer
) -> None:
    script.will(answer, answer)
    with pytest.raises(StoreUnavailable, match="nothing was written.*" + answer.code) as refused:
        store.create(KEY, b"1")
    with pytest.raises(StoreUnavailable, match=answer.code):
        store.replace(KEY, b"1", expected=ETAG)
    assert "secret detail" not in str(refused.value)


def test_a_create_that_finds_no_key_is_no_answer_that_s3_gives(script: ScriptedS3, store: S3Store) -> None:
    script.will(Answer(404, "NoSuchKey"))
    with pytest.raises(StoreUnavailable):
        store.create(KEY, b"1")


def test_without_credentials_nothing_is_sent(script: ScriptedS3, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    store = connect("state")
    with pytest.raises(StoreUnavailable, match="nothing was sent: NoCredentialsError"):
        store.create(KEY, b"1")
    with pytest.raises(StoreUnavailable, match="NoCredentialsError"):
        store.get(KEY)
    assert script.seen == []


def test_a_read_is_repeated_until_it_is_answered(script: ScriptedS3, store: S3Store) -> None:
    script.will(Answer(503, "SlowDown"), Answer(hang_up=True), Answer(body=b"1"))
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"1"


@pytest.mark.promise("P-BOUNDED")
def test_a_read_that_is_never_answered_ends_after_its_attempts(script: ScriptedS3, store: S3Store) -> None:
    with pytest.raises(StoreUnavailable, match="GetObject EndOfScript 500"):
        store.get(KEY)
    assert len(script.seen) == s3_store_client.READ_ATTEMPTS


def test_a_body_that_breaks_off_is_read_again(script: ScriptedS3, store: S3Store) -> None:
    script.will(Answer(body=b"half", length=8), Answer(body=b"the whole"))
    found = store.get(KEY)
    assert isinstance(found, Found)
    assert found.body == b"the whole"
    script.will(*[Answer(body=b"half", length=8)] * s3_store_client.READ_ATTEMPTS)
    with pytest.raises(StoreUnavailable, match="broke off"):
        store.get(KEY)


def test_reads_tell_what_is_not_there_from_what_may_not_be_read(script: ScriptedS3, store: S3Store) -> None:
    script.will(
        Answer(404, "NoSuchKey"), Answer(304), Answer(404, "NoSuchBucket"), Answer(403, "AccessDenied")
    )
    assert isinstance(store.get(KEY), Missing)
    assert isinstance(store.get(KEY, known_etag=ETAG), NotModified)
    assert script.seen[1].headers["If-None-Match"] == ETAG
    for code in ("NoSuchBucket", "AccessDenied"):
        with pytest.raises(StoreUnavailable, match=code):
            store.get(KEY)


@pytest.mark.promise("P-BOUNDED")
def test_a_body_over_the_bound_is_not_read(script: ScriptedS3, store: S3Store) -> None:
    script.will(Answer(body=b"12345"), Answer(body=b"1234"))
    with pytest.raises(ObjectTooLarge):
        store.get(KEY, max_bytes=4)
    assert isinstance(store.get(KEY, max_bytes=4), Found)


def test_listings_and_deletes_that_fail_raise(script: ScriptedS3, store: S3Store) -> None:
    script.will(*[Answer(403, "AccessDenied")] * 4)
    for request in (
        lambda: list(store.list("memories/")),
        lambda: list(store.versions("memories/")),
        lambda: store.delete(KEY),
        lambda: store.delete_version(KEY, "v"),
    ):
        with pytest.raises(StoreUnavailable, match="AccessDenied"):
            request()


@pytest.mark.promise("P-BOUNDED")
def test_a_listing_that_does_not_go_on_ends(script: ScriptedS3, store: S3Store) -> None:
    same = b"<R><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></R>"
    script.will(Answer(body=same), Answer(body=same))
    with pytest.raises(StoreUnavailable, match="does not go on"):
        list(store.list("memories/"))
    assert len(script.seen) == 2
    script.will(*[Answer(body=b"<R><Contents>")] * s3_store_client.READ_ATTEMPTS)
    with pytest.raises(StoreUnavailable):
        list(store.list("memories/"))


@pytest.mark.parametrize(
    ("encryption", "algorithm", "key_id"),
    [
        (None, None, None),
        ("AES256", "AES256", None),
        (("aws:kms", "alias/memory"), "aws:kms", "alias/memory"),
    ],
)
def test_the_encryption_of_the_settings_goes_with_every_write(
    script: ScriptedS3, encryption: Encryption, algorithm: str | None, key_id: str | None
) -> None:
    store = connect("state", encryption=encryption)
    script.will(Answer(), Answer(), Answer(body=b"1"))
    store.create(KEY, b"1")
    store.replace(KEY, b"1", expected=ETAG)
    store.get(KEY)
    for request in script.seen[:2]:
        assert request.headers["x-amz-server-side-encryption"] == algorithm
        assert request.headers["x-amz-server-side-encryption-aws-kms-key-id"] == key_id
    assert script.seen[2].headers["x-amz-server-side-encryption"] is None


def test_connections_are_kept_for_the_next_requests(script: ScriptedS3, store: S3Store) -> None:
    script.will(*[Answer(body=b"1")] * 10, *[Answer(404, "NoSuchKey")] * 10, *[Answer()] * 10)
    for _ in range(20):
        store.get(KEY)
    for number in range(10):
        store.create(f"{KEY}-{number}", b"1")
    assert script.connections == 2
