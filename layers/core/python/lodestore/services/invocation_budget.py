"""The time that an invocation has left, and a store that begins no request which could outlast it.

Owns: `InvocationBudget` and `BudgetedStore`. Guarantees: within a budget no request begins unless the longest that it
can take fits in what is left, so that the answer, which says whether the write is known to have happened, is always
sent; a request that is not begun is a StoreUnavailable: nothing of it was written. Without a budget all is let through.
Gives up: several invocations at once in one process with different budgets: Lambda hands a process one at a time, and
on one machine there is no budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lodestore.ports.clock import Clock
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

# The longest that the SDK is let try, and a second or two for the answer; a test holds them against the client.
READ_SECONDS: Final = 38.0
WRITE_SECONDS: Final = 14.0


class InvocationBudget:
    """What is left of the invocation under way."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: float | None = None

    def begin(self, seconds: float | None) -> None:
        """An invocation begins that ends in so many seconds; None: nothing ends it."""
        self._until = None if seconds is None else self._clock.elapsed() + seconds

    def require(self, seconds: float) -> None:
        """That so many seconds are left. Raises StoreUnavailable."""
        if self._until is not None and self._until - self._clock.elapsed() < seconds:
            raise StoreUnavailable("the invocation has no time for another request")


class BudgetedStore:
    """An object store that asks the budget before each request, and before each page of a listing."""

    def __init__(self, inner: ObjectStore, budget: InvocationBudget) -> None:
        self._inner = inner
        self._budget = budget

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        """As the inner store."""
        self._budget.require(READ_SECONDS)
        return self._inner.get(key, known_etag=known_etag, max_bytes=max_bytes)

    def create(self, key: str, body: bytes) -> WriteOutcome:
        """As the inner store."""
        self._budget.require(WRITE_SECONDS)
        return self._inner.create(key, body)

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        """As the inner store."""
        self._budget.require(WRITE_SECONDS)
        return self._inner.replace(key, body, expected=expected)

    def delete(self, key: str) -> None:
        """As the inner store."""
        self._budget.require(READ_SECONDS)
        self._inner.delete(key)

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        """As the inner store."""
        pages = self._inner.list(prefix, start_after=start_after, delimiter=delimiter, page_size=page_size)
        return self._while_there_is_time(pages)

    def versions(self, prefix: str) -> Iterator[Version]:
        """As the inner store."""
        self._budget.require(READ_SECONDS)
        return self._inner.versions(prefix)

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        """As the inner store."""
        self._budget.require(READ_SECONDS)
        return self._inner.get_version(key, version_id, max_bytes=max_bytes)

    def delete_version(self, key: str, version_id: str) -> None:
        """As the inner store."""
        self._budget.require(READ_SECONDS)
        self._inner.delete_version(key, version_id)

    def _while_there_is_time(self, pages: Iterator[Page]) -> Iterator[Page]:
        while True:
            self._budget.require(READ_SECONDS)
            page = next(pages, None)
            if page is None:
                return
            yield page
