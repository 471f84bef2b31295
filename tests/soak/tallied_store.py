"""Stores around real ones: one counts what is asked and answered, one answers as if hours had passed.

Owns: `TalliedStore`, `LaterStore`. Guarantees: nothing but the count, or the store's clock, differs.
Gives up: counting the pages of a listing one by one; a listing is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from lodestore.ports.object_store import Found, GetOutcome, Missing, ObjectStore, Page, Version, WriteOutcome

Dated = TypeVar("Dated")


class TalliedStore:
    """An ObjectStore around another. `tally`: requests by operation and outcome."""

    def __init__(self, inner: ObjectStore, tally: Counter[str]) -> None:
        self._inner = inner
        self._tally = tally

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        self._tally["get"] += 1
        return self._inner.get(key, known_etag=known_etag, max_bytes=max_bytes)

    def create(self, key: str, body: bytes) -> WriteOutcome:
        return self._told("create", self._inner.create(key, body))

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        return self._told("replace", self._inner.replace(key, body, expected=expected))

    def delete(self, key: str) -> None:
        self._tally["delete"] += 1
        self._inner.delete(key)

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        self._tally["list"] += 1
        return self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page_size=page_size)

    def versions(self, prefix: str) -> Iterator[Version]:
        self._tally["versions"] += 1
        return self._inner.versions(prefix)

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        self._tally["get_version"] += 1
        return self._inner.get_version(key, version_id, max_bytes=max_bytes)

    def delete_version(self, key: str, version_id: str) -> None:
        self._tally["delete_version"] += 1
        self._inner.delete_version(key, version_id)

    def _told(self, operation: str, outcome: WriteOutcome) -> WriteOutcome:
        self._tally[f"{operation} {type(outcome).__name__.lower()}"] += 1
        return outcome


class LaterStore(TalliedStore):
    """A store whose clock is `hours` ahead: what lies there has lain there for so long."""

    def __init__(self, inner: ObjectStore, hours: float = 0.0) -> None:
        super().__init__(inner, Counter())
        self.hours = hours

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        return self._later(super().get(key, known_etag=known_etag, max_bytes=max_bytes))

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        for page in super().list(prefix, start_after=start_after, delimiter=delimiter, page_size=page_size):
            yield self._later(page)

    def _later(self, dated: Dated) -> Dated:
        at = getattr(dated, "at", None)
        return dated if at is None else replace(dated, at=at + timedelta(hours=self.hours))  # type: ignore[type-var]
