"""An object store in memory, as a pure function: contents and a request in, an answer and contents out.

Owns: `Contents` (an immutable bucket), `Request`, `answered` (what S3 answers, and what the bucket then holds), and
`RequestStore`, the port over anything that answers requests. `MemoryStore` answers them itself.
Guarantees: the contract of every other store (`tests/contracts`); S3's clock in whole seconds; nothing but the
contents, the request and the time decides an answer, so that an explorer may ask about any state in any order.
Gives up: being fast with many objects; it is made for tens of them.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from lodestore.adapters import object_keys
from lodestore.ports.clock import Clock
from lodestore.ports.object_store import (
    Contended,
    Entry,
    Found,
    GetOutcome,
    Gone,
    Lost,
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
from tests.faults.rules import Operation


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One version of a key; `body` None is a delete marker."""

    version_id: str
    body: bytes | None
    last_modified: datetime

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.body or b"", usedforsecurity=False).hexdigest()}"'


@dataclass(frozen=True, slots=True)
class _Kept:
    """All versions of one key, newest first, and how many it ever had: a version's id is never used again."""

    versions: tuple[StoredVersion, ...]
    ever: int

    @property
    def current(self) -> StoredVersion | None:
        newest = self.versions[0] if self.versions else None
        return newest if newest is not None and newest.body is not None else None


_NOTHING = _Kept((), 0)


@dataclass(frozen=True, slots=True)
class Contents:
    """A bucket at one moment; never changed in place. Equal contents answer alike."""

    versioned: bool
    kept: Mapping[str, _Kept] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(frozenset(self.kept.items()))

    def current(self) -> dict[str, StoredVersion]:
        """Key to object, in key order."""
        return {
            key: kept.current for key, kept in sorted(self.kept.items(), key=_key) if kept.current is not None
        }

    def at(self, key: str) -> _Kept:
        return self.kept.get(key, _NOTHING)

    def with_key(self, key: str, kept: _Kept) -> Contents:
        others = {name: item for name, item in self.kept.items() if name != key}
        return replace(self, kept=others | {key: kept} if kept.ever else others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it is sent; a page of a listing is one, and so is a whole listing of versions.

    expected   the ETag of an If-Match, or of an If-None-Match on a GET
    """

    operation: Operation
    key: str
    body: bytes = b""
    expected: str | None = None
    max_bytes: int | None = None
    start_after: str = ""
    delimiter: str = ""
    page_size: int = 1000
    version_id: str = ""

    @property
    def writes(self) -> bool:
        return self.operation in ("create", "replace", "delete", "delete_version")


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The object is over the reader's bound."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The store did not answer a read, or refused a write."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """A page, and whether more follow."""

    page: Page
    more: bool


@dataclass(frozen=True, slots=True)
class VersionsAnswer:
    """All versions below a prefix."""

    versions: tuple[Version, ...]


Answer = GetOutcome | WriteOutcome | TooLarge | Refused | PageAnswer | VersionsAnswer | None


def answered(contents: Contents, request: Request, now: datetime) -> tuple[Answer, Contents]:
    """S3's answer to the request, and the bucket after it. Source: S3 API reference, conditional requests."""
    at = now.replace(microsecond=0)
    kept = contents.at(request.key)
    match request.operation:
        case "get":
            return _read(kept.current, request, at), contents
        case "create" | "replace":
            return _written(contents, kept, request, at)
        case "delete":
            return None, _deleted(contents, kept, request.key, at)
        case "list":
            return _listed(contents, request, at), contents
        case "versions":
            return VersionsAnswer(_versions(contents, request.key)), contents
        case "get_version":
            version = next((v for v in kept.versions if v.version_id == request.version_id), None)
            alive = version if version is not None and version.body is not None else None
            return _read(alive, request, at), contents
        case "delete_version":
            left = tuple(v for v in kept.versions if v.version_id != request.version_id)
            return None, contents.with_key(request.key, _Kept(left, kept.ever))


def _read(version: StoredVersion | None, request: Request, at: datetime) -> Answer:
    if version is None or version.body is None:
        return Missing(at)
    if request.expected == version.etag:
        return NotModified(at)
    if request.max_bytes is not None and len(version.body) > request.max_bytes:
        return TooLarge()
    return Found(version.body, version.etag, version.last_modified, at)


def _written(contents: Contents, kept: _Kept, request: Request, at: datetime) -> tuple[Answer, Contents]:
    current = kept.current
    if request.operation == "create" and current is not None:
        return Lost(), contents
    if request.operation == "replace" and current is None:
        return Gone(), contents
    if request.operation == "replace" and current is not None and current.etag != request.expected:
        return Lost(), contents
    version = StoredVersion(f"v{kept.ever + 1:08}", request.body, at)
    older = kept.versions if contents.versioned else ()
    return Won(version.etag, at), contents.with_key(request.key, _Kept((version, *older), kept.ever + 1))


def _deleted(contents: Contents, kept: _Kept, key: str, at: datetime) -> Contents:
    if not contents.versioned:
        return contents.with_key(key, _NOTHING)
    marker = StoredVersion(f"v{kept.ever + 1:08}", None, at)
    return contents.with_key(key, _Kept((marker, *kept.versions), kept.ever + 1))


def _listed(contents: Contents, request: Request, at: datetime) -> PageAnswer:
    prefix, entries, groups = request.key, list[Entry](), list[str]()
    for key, version in contents.current().items():
        if not key.startswith(prefix) or key <= request.start_after:
            continue
        head, slash, _ = key.removeprefix(prefix).partition(request.delimiter or "\0")
        group = f"{prefix}{head}/" if slash else ""
        if group and (group in groups or request.start_after == group):
            continue
        if len(entries) + len(groups) == request.page_size:
            return PageAnswer(Page(tuple(entries), tuple(groups), at), more=True)
        if group:
            groups.append(group)
        else:
            entries.append(Entry(key, version.etag, len(version.body or b""), version.last_modified))
    return PageAnswer(Page(tuple(entries), tuple(groups), at), more=False)


def _versions(contents: Contents, prefix: str) -> tuple[Version, ...]:
    return tuple(
        Version(key, version.version_id, version.last_modified, number == 0, version.body is None)
        for key, kept in sorted(contents.kept.items(), key=_key)
        if key.startswith(prefix)
        for number, version in enumerate(kept.versions)
    )


def _key(item: tuple[str, object]) -> str:
    return item[0]


class RequestStore:
    """The port: each call is a request, sent by `send`, which also bears what comes of it."""

    def __init__(self, send: Callable[[Request], Answer]) -> None:
        self._send = send

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        object_keys.segments_of(key)
        answer = self._sent(Request(operation="get", key=key, expected=known_etag, max_bytes=max_bytes))
        assert isinstance(answer, Found | NotModified | Missing)
        return answer

    def create(self, key: str, body: bytes) -> WriteOutcome:
        object_keys.segments_of(key)
        return _outcome(self._sent(Request(operation="create", key=key, body=body)))

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        object_keys.segments_of(key)
        return _outcome(self._sent(Request(operation="replace", key=key, body=body, expected=expected)))

    def delete(self, key: str) -> None:
        object_keys.segments_of(key)
        self._sent(Request(operation="delete", key=key))

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        object_keys.folder_of(prefix)
        size = object_keys.check_page(delimiter, page_size)
        return self._pages(
            Request(
                operation="list", key=prefix, start_after=start_after, delimiter=delimiter, page_size=size
            )
        )

    def versions(self, prefix: str) -> Iterator[Version]:
        object_keys.check_version_prefix(prefix)
        answer = self._sent(Request(operation="versions", key=prefix))
        assert isinstance(answer, VersionsAnswer)
        return iter(answer.versions)

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        object_keys.segments_of(key)
        request = Request(operation="get_version", key=key, version_id=version_id, max_bytes=max_bytes)
        answer = self._sent(request)
        assert isinstance(answer, Found | Missing)
        return answer

    def delete_version(self, key: str, version_id: str) -> None:
        object_keys.segments_of(key)
        self._sent(Request(operation="delete_version", key=key, version_id=version_id))

    def _pages(self, request: Request) -> Iterator[Page]:
        while True:
            answer = self._sent(request)
            assert isinstance(answer, PageAnswer)
            yield answer.page
            if not answer.more:
                return
            last = [entry.key for entry in answer.page.entries[-1:]] + list(answer.page.prefixes[-1:])
            request = replace(request, start_after=max(last))

    def _sent(self, request: Request) -> Answer:
        answer = self._send(request)
        if isinstance(answer, TooLarge):
            raise ObjectTooLarge(request.key)
        if isinstance(answer, Refused):
            raise StoreUnavailable(request.key)
        return answer


def _outcome(answer: Answer) -> WriteOutcome:
    assert isinstance(answer, Won | Lost | Contended | Gone | Unknown)
    return answer


class MemoryStore(RequestStore):
    """A bucket of one's own. Thread-safe."""

    def __init__(self, clock: Clock, contents: Contents) -> None:
        super().__init__(self._answer)
        self._clock = clock
        self._lock = threading.Lock()
        self.contents = contents

    def _answer(self, request: Request) -> Answer:
        with self._lock:
            answer, self.contents = answered(self.contents, request, self._clock.now())
        return answer
