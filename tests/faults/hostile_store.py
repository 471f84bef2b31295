"""A store that fails where a test says so, around a real one, and writes down every request.

Owns: `FaultyStore`: faults by rule, and the request log. Without rules it only counts: `CountingStore`.
Guarantees: a rule that asks for what S3 can't show (a create that is `Gone`, a read that is `Lost`) is an
error of the test. Rules are asked one request at a time, in the order in which requests start, so that a
single-threaded test is deterministic. After a crash nothing more is sent until `revive`: the process is dead.
Gives up: faults inside the inner store (a torn file, a lost lock): those are tests of the adapter.

    store = FaultyStore(inner, on(Fault.UNKNOWN_AFTER, "create", "memories/*"))
    ...
    assert store.count("create", "memories/*") == 2
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from lodestore.ports.object_store import (
    Contended,
    Found,
    GetOutcome,
    Gone,
    Lost,
    Missing,
    ObjectStore,
    Page,
    StoreUnavailable,
    Unknown,
    Version,
    WriteOutcome,
)
from tests.faults.rules import (
    Action,
    Crash,
    Fault,
    Operation,
    Request,
    Rule,
    at,
    meet,
    on,
    possible_faults,
    seeded,
)

__all__ = [
    "Action",
    "CountingStore",
    "Crash",
    "Fault",
    "FaultyStore",
    "Operation",
    "Request",
    "Rule",
    "at",
    "meet",
    "on",
    "possible_faults",
    "seeded",
]

Answer = TypeVar("Answer")

VERSIONS_A_REQUEST = 1000


def _already_read(page: Page) -> Page:
    return page


class FaultyStore:
    """An ObjectStore around another. Rules are asked in order; the first that names something decides."""

    def __init__(self, inner: ObjectStore, *rules: Rule) -> None:
        self.inner = inner
        self._rules = list(rules)
        self._requests: list[Request] = []
        self._late: list[Callable[[], object]] = []
        self._dead = False
        self._lock = threading.Lock()

    # What a test asks for.

    def inject(self, *rules: Rule) -> None:
        """More rules, asked after those that are there."""
        with self._lock:
            self._rules.extend(rules)

    def heal(self) -> None:
        """Drop all rules."""
        with self._lock:
            self._rules.clear()

    def revive(self) -> None:
        """A new process after a crash. Rules stay."""
        with self._lock:
            self._dead = False

    def land_late(self) -> int:
        """Send every write that UNKNOWN_LATE holds back, oldest first; the number of them."""
        with self._lock:
            late, self._late = self._late, []
        for write in late:
            write()
        return len(late)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, in the order of starting."""
        with self._lock:
            return tuple(self._requests)

    def count(self, operation: Operation | None = None, key: str = "*") -> int:
        """How many requests match; each page of a listing counts."""
        return sum(request.matches(operation, key) for request in self.requests)

    def reset(self) -> None:
        """Begin a new log; numbers start at 1 again."""
        with self._lock:
            self._requests.clear()

    # The port.

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        return self._send("get", key, lambda: self.inner.get(key, known_etag=known_etag, max_bytes=max_bytes))

    def create(self, key: str, body: bytes) -> WriteOutcome:
        return self._write("create", key, body, lambda: self.inner.create(key, body))

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        return self._write("replace", key, body, lambda: self.inner.replace(key, body, expected=expected))

    def delete(self, key: str) -> None:
        self._send("delete", key, lambda: self.inner.delete(key))

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        pages = self.inner.list(prefix, start_after=start_after, delimiter=delimiter, page_size=page_size)
        return self._pages(prefix, pages)

    def versions(self, prefix: str) -> Iterator[Version]:
        return self._versions(prefix, self.inner.versions(prefix))

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        effect = partial(self.inner.get_version, key, version_id, max_bytes=max_bytes)
        return self._send("get_version", key, effect)

    def delete_version(self, key: str, version_id: str) -> None:
        self._send("delete_version", key, lambda: self.inner.delete_version(key, version_id))

    # How a request is met.

    def _pages(self, prefix: str, pages: Iterator[Page]) -> Iterator[Page]:
        yield self._send("list", prefix, partial(next, pages))
        for page in pages:
            yield self._send("list", prefix, partial(_already_read, page))

    def _versions(self, prefix: str, versions: Iterator[Version]) -> Iterator[Version]:
        count = 0
        while True:
            if count % VERSIONS_A_REQUEST == 0:
                version = self._send("versions", prefix, lambda: next(versions, None))
            else:
                version = next(versions, None)
            if version is None:
                return
            count += 1
            yield version

    def _begin(self, operation: Operation, key: str, sent: int) -> tuple[Request, Fault | Action | None]:
        with self._lock:
            if self._dead:
                raise Crash(f"{operation} {key}: the process is dead")
            request = Request(len(self._requests) + 1, operation, key, sent)
            self._requests.append(request)
            step = next((found for rule in self._rules if (found := rule(request)) is not None), None)
        if isinstance(step, Fault) and step not in possible_faults(operation):
            raise ValueError(f"{operation} can't be met with {step.name}")
        return request, step

    def _end(self, request: Request, answer: object) -> None:
        received = len(answer.body) if isinstance(answer, Found) else 0
        ended = replace(request, answer=type(answer).__name__, received=received)
        with self._lock:
            here = request.number - 1
            if here < len(self._requests) and self._requests[here] is request:
                self._requests[here] = ended

    def _crash(self, request: Request) -> Crash:
        with self._lock:
            self._dead = True
        crash = Crash(f"{request.operation} {request.key}")
        self._end(request, crash)
        return crash

    def _send(self, operation: Operation, key: str, effect: Callable[[], Answer]) -> Answer:
        request, step = self._begin(operation, key, 0)
        return self._meet(request, step, effect)

    def _write(
        self, operation: Operation, key: str, body: bytes, effect: Callable[[], WriteOutcome]
    ) -> WriteOutcome:
        request, step = self._begin(operation, key, len(body))
        try:
            outcome = self._instead(step, effect)
        except Exception as failure:
            self._end(request, failure)
            raise
        if outcome is None:
            return self._meet(request, step, effect)
        self._end(request, outcome)
        return outcome

    def _instead(
        self, step: Fault | Action | None, effect: Callable[[], WriteOutcome]
    ) -> WriteOutcome | None:
        match step:
            case Fault.LOST:
                return Lost()
            case Fault.CONTENDED:
                return Contended()
            case Fault.GONE:
                return Gone()
            case Fault.UNKNOWN_AFTER:
                effect()
            case Fault.UNKNOWN_LATE:
                with self._lock:
                    self._late.append(effect)
            case Fault.UNKNOWN_BEFORE:
                pass
            case _:
                return None
        return Unknown(step.value)

    def _meet(self, request: Request, step: Fault | Action | None, effect: Callable[[], Answer]) -> Answer:
        if step is Fault.CRASH_BEFORE:
            raise self._crash(request)
        try:
            if step is Fault.UNAVAILABLE:
                raise StoreUnavailable(step.value)
            if callable(step):
                step(request)
            answer = effect()
            if step is Fault.UNAVAILABLE_AFTER:
                raise StoreUnavailable(step.value)
        except Exception as failure:
            self._end(request, failure)
            raise
        if step is Fault.CRASH_AFTER:
            raise self._crash(request)
        self._end(request, answer)
        return answer


CountingStore = FaultyStore
