"""Listings of an S3 bucket, page by page until the last.

Owns: ListObjectsV2 and ListObjectVersions, and the way from their answers to the port's values.
Guarantees: every page is read (B41); a store that repeats a page's token is an error, not an endless loop.
Names come back decoded, and without the store's own prefix.
Gives up: the order of versions and delete markers of one key within one second. S3 lists them apart, and
its times are whole seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from lodestore.adapters.s3_store_answers import answered_at, reading
from lodestore.adapters.s3_store_client import Response, S3Client
from lodestore.ports.object_store import Entry, Page, StoreUnavailable, Version


def pages(client: S3Client, arguments: dict[str, object], skip: int) -> Iterator[Page]:
    """All pages of a ListObjectsV2 with these arguments; keys without their first `skip` characters."""
    for answer in _answers(client, arguments):
        entries = (
            Entry(found["Key"][skip:], found["ETag"], found["Size"], _utc(found))
            for found in answer.get("Contents", ())
        )
        groups = (found["Prefix"][skip:] for found in answer.get("CommonPrefixes", ()))
        yield Page(tuple(entries), tuple(groups), answered_at(answer))


def versions(client: S3Client, arguments: dict[str, object], skip: int) -> Iterator[Version]:
    """All versions of a ListObjectVersions with these arguments, by key, newest first."""
    markers: dict[str, object] = {}
    last: tuple[str, str] | None = None
    while True:
        with reading():
            answer = client.list_object_versions(**arguments, **markers)
        found = (_version(entry, skip, deleted=False) for entry in answer.get("Versions", ()))
        deleted = (_version(entry, skip, deleted=True) for entry in answer.get("DeleteMarkers", ()))
        newest_first = sorted(chain(found, deleted), key=lambda v: (v.latest, v.last_modified), reverse=True)
        for version in sorted(newest_first, key=lambda version: version.key):
            if (version.key, version.version_id) != last:  # some servers begin a page with it again
                yield version
            last = (version.key, version.version_id)
        if not answer.get("IsTruncated"):
            return
        following = {
            "KeyMarker": answer.get("NextKeyMarker", ""),
            "VersionIdMarker": answer.get("NextVersionIdMarker", ""),
        }
        markers = _advanced(markers, {name: value for name, value in following.items() if value})


def _answers(client: S3Client, arguments: dict[str, object]) -> Iterator[Response]:
    token: dict[str, object] = {}
    while True:
        with reading():
            answer = client.list_objects_v2(**arguments, **token)
        yield answer
        if not answer.get("IsTruncated"):
            return
        token = _advanced(token, {"ContinuationToken": answer.get("NextContinuationToken", "")})


def _advanced(before: dict[str, object], after: dict[str, object]) -> dict[str, object]:
    if not any(after.values()) or after == before:
        raise StoreUnavailable("a truncated listing does not go on")
    return after


def _utc(found: dict[str, Any]) -> datetime:
    modified: datetime = found["LastModified"]
    return modified.astimezone(UTC)


def _version(found: dict[str, Any], skip: int, *, deleted: bool) -> Version:
    return Version(
        found["Key"][skip:],
        found["VersionId"],
        _utc(found),
        latest=bool(found["IsLatest"]),
        deleted=deleted,
    )
