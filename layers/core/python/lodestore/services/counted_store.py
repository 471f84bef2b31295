"""A store that counts what is asked of it.

Owns: the tally of requests and bytes that reports show. Guarantees: every answer is the inner store's own. A page of a
listing is a request; of versions, 1,000 count as one.
Gives up: telling apart who asked: a report counts what its process sent while it ran.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

from lodestore.domain.sleep_report import Traffic
from lodestore.ports.object_store import Found, GetOutcome, Missing, ObjectStore, Page, Version, WriteOutcome

_VERSIONS_PAGE = 1_000


class RequestCounts:
    """What all counted stores of a process were asked. Thread-safe."""

    def __init__(self) -> None:
        self._requests: Counter[str] = Counter()
        self._read = 0
        self._written = 0
        self._lock = threading.Lock()

    def add(self, operation: str, *, read: int = 0, written: int = 0) -> None:
        """Count one request."""
        with self._lock:
            self._requests[operation] += 1
            self._read += read
            self._written += written

    def traffic(self) -> Traffic:
        """All that was counted so far."""
        with self._lock:
            return Traffic(dict(self._requests), self._read, self._written)


class CountedStore:
    """An object store that counts."""

    def __init__(self, inner: ObjectStore, counts: RequestCounts) -> None:
        self._inner = inner
        self._counts = counts

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        """As the inner store."""
        outcome = self._inner.get(key, known_etag=known_etag, max_bytes=max_bytes)
        self._counts.add("get", read=len(outcome.body) if isinstance(outcome, Found) else 0)
        return outcome

    def create(self, key: str, body: bytes) -> WriteOutcome:
        """As the inner store."""
        self._counts.add("create", written=len(body))
        return self._inner.create(key, body)

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        """As the inner store."""
        self._counts.add("replace", written=len(body))
        return self._inner.replace(key, body, expected=expected)

    def delete(self, key: str) -> None:
        """As the inner store."""
        self._counts.add("delete")
        self._inner.delete(key)

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        """As the inner store."""
        for page in self._inner.list(
            prefix, start_after=start_after, delimiter=delimiter, page_size=page_size
        ):
            self._counts.add("list")
            yield page

    def versions(self, prefix: str) -> Iterator[Version]:
        """As the inner store."""
        self._counts.add("versions")
        for number, version in enumerate(self._inner.versions(prefix), start=1):
            if number % _VERSIONS_PAGE == 0:
                self._counts.add("versions")
            yield version

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        """As the inner store."""
        outcome = self._inner.get_version(key, version_id, max_bytes=max_bytes)
        self._counts.add("get_version", read=len(outcome.body) if isinstance(outcome, Found) else 0)
        return outcome

    def delete_version(self, key: str, version_id: str) -> None:
        """As the inner store."""
        self._counts.add("delete_version")
        self._inner.delete_version(key, version_id)
