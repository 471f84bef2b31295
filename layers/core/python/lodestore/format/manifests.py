"""The manifest as JSON.

Owns: `index/<tenant>/manifest.json`. Guarantees: what is malformed or of a newer schema raises InvalidManifest and is
never half read; dead rows are written as ranges, so that a manifest stays small.
Gives up: repair; a rebuild makes a new one from the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from lodestore.domain.manifest import Manifest, Retired, SegmentEntry
from lodestore.domain.moments import format_moment, parse_moment

SCHEMA = 1


class InvalidManifest(Exception):
    """The bytes are no manifest of this tenant and schema; the text says why."""


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as compact JSON. No two generations have the same bytes."""
    fields = {
        "schema": SCHEMA,
        "tenant": manifest.tenant,
        "generation": manifest.generation,
        "updated_at": format_moment(manifest.updated_at),
        "tokenizer": manifest.tokenizer,
        "model": manifest.model,
        "totals": {
            "documents": manifest.documents,
            "length": sum(entry.length for entry in manifest.segments),
        },
        "segments": [_entry_fields(entry) for entry in manifest.segments],
        "retired": [{"name": item.name, "at": format_moment(item.at)} for item in manifest.retired],
        "vectors_through": manifest.vectors_through,
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_manifest(body: bytes, tenant: str) -> Manifest:
    """The manifest of this tenant. Raises InvalidManifest."""
    try:
        fields = json.loads(body)
        if fields["schema"] != SCHEMA or fields["tenant"] != tenant:
            raise InvalidManifest("another schema or tenant")
        return Manifest(
            tenant=tenant,
            generation=_whole(fields["generation"]),
            updated_at=parse_moment(fields["updated_at"]),
            tokenizer=_whole(fields["tokenizer"]),
            model=_text_or_none(fields["model"]),
            segments=tuple(_entry(item) for item in fields["segments"]),
            retired=tuple(
                Retired(_text(item["name"]), parse_moment(item["at"])) for item in fields["retired"]
            ),
            vectors_through=_text_or_none(fields["vectors_through"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidManifest("not a manifest") from error


def _entry_fields(entry: SegmentEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "rows": entry.rows,
        "documents": entry.documents,
        "length": entry.length,
        "size": entry.size,
        "vectors": entry.vectors,
        "dead": list(_ranges(entry.dead)),
        "listed_at": None if entry.listed_at is None else format_moment(entry.listed_at),
    }


def _entry(fields: Mapping[str, Any]) -> SegmentEntry:
    rows = _whole(fields["rows"])
    return SegmentEntry(
        name=_text(fields["name"]),
        rows=rows,
        documents=_whole(fields["documents"]),
        length=_whole(fields["length"]),
        size=_whole(fields["size"]),
        vectors=_whole(fields["vectors"]),
        dead=_rows(fields["dead"], rows),
        listed_at=_moment_or_none(fields["listed_at"]),
    )


def _ranges(rows: Sequence[int]) -> Iterable[list[int]]:
    """[first, count] of each run of consecutive rows."""
    start = previous = None
    for row in rows:
        if start is not None and previous is not None and row == previous + 1:
            previous = row
            continue
        if start is not None and previous is not None:
            yield [start, previous - start + 1]
        start = previous = row
    if start is not None and previous is not None:
        yield [start, previous - start + 1]


def _rows(ranges: Sequence[Sequence[int]], rows: int) -> tuple[int, ...]:
    dead: list[int] = []
    for first, count in ranges:
        if not 0 <= first < rows or not 0 < count <= rows - first or (dead and first <= dead[-1]):
            raise ValueError("dead")
        dead.extend(range(first, first + count))
    return tuple(dead)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _moment_or_none(value: object) -> datetime | None:
    return None if value is None else parse_moment(_text(value))
