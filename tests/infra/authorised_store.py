"""A store that lets through what a function's synthesised role allows, as S3 would.

Owns: which IAM actions a request of the port needs. Guarantees: a denied request is written down and refused with
StoreUnavailable, before the inner store sees it. Gives up: bucket policies and KMS.

Source: "Actions, resources, and condition keys for Amazon S3"; "Conditional writes" (a replace needs s3:GetObject too).
"""

from __future__ import annotations

from collections.abc import Iterator

from lodestore.ports.object_store import (
    Found,
    GetOutcome,
    Missing,
    ObjectStore,
    Page,
    StoreUnavailable,
    Version,
    WriteOutcome,
)
from tests.infra.iam_evaluator import Policy


class AuthorisedStore:
    """An ObjectStore around another. `place`: `state` or `index`, as the policy's evaluator names the buckets."""

    def __init__(self, inner: ObjectStore, policy: Policy, place: str, denied: list[str]) -> None:
        self._inner = inner
        self._policy = policy
        self._place = place
        self.denied = denied

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        self._ask(key, "GetObject")
        return self._inner.get(key, known_etag=known_etag, max_bytes=max_bytes)

    def create(self, key: str, body: bytes) -> WriteOutcome:
        self._ask(key, "PutObject")
        return self._inner.create(key, body)

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        self._ask(key, "PutObject", "GetObject")
        return self._inner.replace(key, body, expected=expected)

    def delete(self, key: str) -> None:
        self._ask(key, "DeleteObject")
        self._inner.delete(key)

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        self._ask("", "ListBucket")
        return self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page_size=page_size)

    def versions(self, prefix: str) -> Iterator[Version]:
        self._ask("", "ListBucketVersions")
        return self._inner.versions(prefix)

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        self._ask(key, "GetObjectVersion")
        return self._inner.get_version(key, version_id, max_bytes=max_bytes)

    def delete_version(self, key: str, version_id: str) -> None:
        self._ask(key, "DeleteObjectVersion")
        self._inner.delete_version(key, version_id)

    def _ask(self, key: str, *actions: str) -> None:
        resource = f"{self._place}/{key}" if key else self._place
        for action in actions:
            if not self._policy.allows(f"s3:{action}", resource):
                self.denied.append(f"{action} {resource}")
                raise StoreUnavailable(f"AccessDenied {action}")
