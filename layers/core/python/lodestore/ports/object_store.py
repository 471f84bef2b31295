"""The object store port: what S3 promises, as values.

Owns: the operations and the outcomes of conditional requests. Each answer that S3 gives to a conditional
write is a value, so that a caller must look at all of them; a store that can't be reached for a read raises, and
so does one that refuses a write for a reason of its own (no permission, a full disk): then nothing was written.
Guarantees (every adapter, held by `tests/contracts`): strongly consistent reads and listings; of any number of
`create`s of one key at once exactly one is won; a `replace` is won only over exactly the ETag it names; no two
bodies written to a key by `create` or `replace` with different content share an ETag.
Gives up: retries. A conditional request is sent once; the caller decides what an answer means. The order of
folders: a listing is in key order among the keys of one folder (prefix up to `/`); of several folders some stores
take `acme-corp/` after `acme/` though `-` sorts before `/`. Lodestore's keys have a fixed depth and each listing that
needs an order is of one folder.

Keys are 1 to 1,024 characters: `/`-separated segments of `A-Z a-z 0-9 - . _ ~`, 1 to 200 each, none `.` or `..`; no
key is a folder of another. Other strings are a ValueError before any request. All times are UTC.
Source of the outcomes: S3 API reference, PutObject, conditional writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class StoreUnavailable(Exception):
    """No usable answer to a read, a listing or a delete after the adapter's bounded retries, or a write refused.

    A refused write (`create`, `replace`) wrote nothing; where that is not sure the answer is `Unknown`. A failed
    delete may have happened. The text is for the log only.
    """


class ObjectTooLarge(Exception):
    """An object is larger than the reader's bound; nothing of it was kept in memory."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object as it stood at one moment. `at` is the store's own clock when it answered (HTTP `Date`)."""

    body: bytes
    etag: str
    last_modified: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class NotModified:
    """The object still has the ETag that the reader holds (304)."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no object at this key (404)."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Won:
    """The write took effect, durably, and was answered; `etag` is that of the body written."""

    etag: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Lost:
    """Another object is there, or not the expected one (412). This request wrote nothing."""


@dataclass(frozen=True, slots=True)
class Contended:
    """Another request on the key was under way (409). This request wrote nothing; send it again after a pause."""


@dataclass(frozen=True, slots=True)
class Gone:
    """`replace` found no object at all (404 on If-Match). This request wrote nothing.

    Some servers (SeaweedFS) say 412 here too, so after `Lost` as well the object may be missing.
    """


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer, or a 5xx: the write may have happened, may yet happen, or never. `cause` is for the log only."""

    cause: str


GetOutcome = Found | NotModified | Missing
WriteOutcome = Won | Lost | Contended | Gone | Unknown


@dataclass(frozen=True, slots=True)
class Entry:
    """One object in a listing."""

    key: str
    etag: str
    size: int
    last_modified: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing in key order; `prefixes` are the groups that `delimiter` made; `at` as in `Found`."""

    entries: tuple[Entry, ...]
    prefixes: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Version:
    """One kept version of a key, newest first; `deleted` marks a delete marker."""

    key: str
    version_id: str
    last_modified: datetime
    latest: bool
    deleted: bool


class ObjectStore(Protocol):
    """A bucket, or a prefix of one. Thread-safe."""

    def get(self, key: str, *, known_etag: str | None = None, max_bytes: int | None = None) -> GetOutcome:
        """The object, or `NotModified` where `known_etag` still holds. Raises StoreUnavailable, ObjectTooLarge."""
        ...

    def create(self, key: str, body: bytes) -> WriteOutcome:
        """Write only where nothing is (If-None-Match: *). Never `Gone`. Raises StoreUnavailable."""
        ...

    def replace(self, key: str, body: bytes, *, expected: str) -> WriteOutcome:
        """Write only over the object whose ETag is `expected` (If-Match). Raises StoreUnavailable."""
        ...

    def delete(self, key: str) -> None:
        """Remove the object (in a versioned store: hide it; versions stay). No object is no error."""
        ...

    def list(
        self, prefix: str, *, start_after: str = "", delimiter: str = "", page_size: int = 1000
    ) -> Iterator[Page]:
        """All pages below `prefix`, which ends in `/` or is empty, from the first key above `start_after` on.

        `start_after` is a whole key below the prefix, there or not; `delimiter` is "" or "/"; a page holds
        `page_size` entries and prefixes at most, 1,000 in any case. At least one page comes, empty or not.
        Raises StoreUnavailable, at whichever page.
        """
        ...

    def versions(self, prefix: str) -> Iterator[Version]:
        """Every kept version of every key that starts with `prefix`, by key, newest first; latest included.

        `prefix` may end anywhere in a key. A store without versioning shows the current objects only. On S3
        the order of a version and a delete marker of one second is open. Raises StoreUnavailable.
        """
        ...

    def get_version(self, key: str, version_id: str, *, max_bytes: int | None = None) -> Found | Missing:
        """The body of one version; a delete marker has none. Raises StoreUnavailable, ObjectTooLarge."""
        ...

    def delete_version(self, key: str, version_id: str) -> None:
        """Remove one version for good; no such version is no error. Without the latest, the one before counts.

        Raises StoreUnavailable.
        """
        ...
