"""The object store on Amazon S3, or on a server that speaks its protocol.

Owns: the port's operations as requests. Guarantees: those of the port, as far as the server keeps S3's; one
request for each conditional write, whatever happens to it; at most `max_bytes` of a body in memory; the
store's prefix shows in no key, in or out.
Gives up: telling apart, on servers other than S3, a `replace` of nothing from one of another object.
SeaweedFS answers both with 412, so both are `Lost` there: a reader of the object learns which.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import Literal

from botocore.exceptions import BotoCoreError, ClientError, IncompleteReadError
from botocore.parsers import ResponseParserError
from botocore.response import StreamingBody

from lodestore.adapters import s3_store_listing
from lodestore.adapters.object_keys import (
    check_page,
    check_version_prefix,
    folder_of,
    segments_of,
)
from lodestore.adapters.s3_store_answers import (
    FAILURES,
    answered_at,
    cause_of,
    is_missing,
    is_no_version,
    reading,
    status_of,
    write_outcome,
)
from lodestore.adapters.s3_store_client import READ_ATTEMPTS, S3Client, make_clients
from lodestore.adapters.store_failures import logged
from lodestore.ports.object_store import (
    Found,
    GetOutcome,
    Missing,
    NotModified,
    ObjectTooLarge,
    Page,
    StoreUnavailable,
    Unknown,
    Version,
    Won,
    WriteOutcome,
)

BROKEN = (BotoCoreError, ResponseParserError)

Encryption = Literal["AES256"] | tuple[Literal["aws:kms"], str] | None


def connect(bucket: str, prefix: str = "", encryption: Encryption = None, parallel: int = 32) -> S3Store:
    """A store in `bucket`, below `prefix` ("" or ending in `/`). Sends nothing. Raises ValueError for a prefix.

    encryption   sent with every write: "AES256", or ("aws:kms", key id); None leaves it to the bucket
    parallel     how many reads may be under way at once
    """
    reads, writes = make_clients(parallel)
    return S3Store(reads, writes, bucket, prefix, encryption)


class S3Store:
    """An ObjectStore in a bucket. Thread-safe."""

    def __init__(
        self,
        client_reads: S3Client,
        client_writes: S3Client,
        bucket: str,
        prefix: str = "",
        encryption: Encryption = None,
    ) -> None:
        folder_of(prefix)
        self._reads = client_reads
        self._writes = client_writes
        self._bucket = bucket
        self._prefix = prefix
        self._encryption = _encryption_headers(encryption)

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        arguments = self._object(key)
        if known_etag is not None:
            arguments["IfNoneMatch"] = known_etag
        try:
            return self._read(key, arguments, max_bytes)
        except ClientError as failure:
            if status_of(failure) == 304:
                return NotModified(answered_at(failure.response))
            if is_missing(failure):
                return Missing(answered_at(failure.response))
            raise StoreUnavailable(logged(cause_of(failure))) from failure

    def create(self, key: str, body: bytes) -> WriteOutcome:
        return self._write(key, body, IfNoneMatch="*")

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        return self._write(key, body, IfMatch=expected)

    def delete(self, key: str) -> None:
        with reading():
            self._reads.delete_object(**self._object(key))

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        size = check_page(delimiter, page_size)
        folder_of(prefix)
        arguments = self._below(prefix) | {"MaxKeys": size}
        if start_after:
            arguments["StartAfter"] = self._prefix + start_after
        if delimiter:
            arguments["Delimiter"] = delimiter
        return s3_store_listing.pages(self._reads, arguments, len(self._prefix))

    def versions(self, prefix: str) -> Iterator[Version]:
        check_version_prefix(prefix)
        return s3_store_listing.versions(self._reads, self._below(prefix), len(self._prefix))

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        try:
            return self._read(key, self._object(key) | {"VersionId": version_id}, max_bytes)
        except ClientError as failure:
            if is_no_version(failure):
                return Missing(answered_at(failure.response))
            raise StoreUnavailable(logged(cause_of(failure))) from failure

    def delete_version(self, key: str, version_id: str) -> None:
        try:
            self._reads.delete_object(**self._object(key), VersionId=version_id)
        except FAILURES as failure:
            if not (isinstance(failure, ClientError) and is_no_version(failure)):
                raise StoreUnavailable(logged(cause_of(failure))) from failure

    def _object(self, key: str) -> dict[str, object]:
        segments_of(self._prefix + key)
        return {"Bucket": self._bucket, "Key": self._prefix + key}

    def _below(self, prefix: str) -> dict[str, object]:
        return {"Bucket": self._bucket, "Prefix": self._prefix + prefix}

    def _write(self, key: str, body: bytes, **condition: str) -> WriteOutcome:
        arguments = self._object(key) | self._encryption | condition
        try:
            answer = self._writes.put_object(**arguments, Body=body)
        except FAILURES as failure:
            return write_outcome(failure, over="IfMatch" in condition)
        try:
            return Won(answer["ETag"], answered_at(answer))
        except (KeyError, StoreUnavailable):
            return Unknown("success without ETag or Date")

    def _read(self, key: str, arguments: dict[str, object], max_bytes: int | None) -> Found:
        """A body, whole. Raises ClientError, StoreUnavailable, ObjectTooLarge."""
        for _ in range(READ_ATTEMPTS):  # the SDK repeats requests, but no body that breaks off
            try:
                answer = self._reads.get_object(**arguments)
            except BROKEN as failure:
                raise StoreUnavailable(logged(cause_of(failure))) from failure
            with closing(answer["Body"]) as stream, suppress(*BROKEN):
                size: int = answer["ContentLength"]
                if max_bytes is not None and size > max_bytes:
                    raise ObjectTooLarge(key)
                body = _read_exactly(stream, size)
                modified: datetime = answer["LastModified"]
                return Found(body, answer["ETag"], modified.astimezone(UTC), answered_at(answer))
        raise StoreUnavailable(logged("GetObject: the body broke off each time"))


def _read_exactly(stream: StreamingBody, size: int) -> bytes:
    body = stream.read(size + 1)
    if len(body) != size:
        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=size)
    return body


def _encryption_headers(encryption: Encryption) -> dict[str, object]:
    if encryption is None:
        return {}
    if encryption == "AES256":
        return {"ServerSideEncryption": encryption}
    algorithm, key_id = encryption
    return {"ServerSideEncryption": algorithm, "SSEKMSKeyId": key_id}
