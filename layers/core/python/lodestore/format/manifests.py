"""The manifest as JSON.

Owns: `index/<tenant>/manifest.json`. Guarantees: what is malformed, of a newer schema or larger than any index is
raises InvalidManifest and is never half read. Segments are columns, and dead rows ranges or a bitmap, so that a
manifest stays small: it is written with every indexed memory.
Gives up: repair; a rebuild makes a new one from the truth.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from lodestore.domain.manifest import EngineUse, Manifest, Retired, SegmentEntry
from lodestore.domain.moments import format_moment, parse_moment
from lodestore.format.dead_rows import decode_dead, encode_dead

SCHEMA = 1
# Rows of all segments together, dead ones included; what says more is no manifest of ours.
ROWS_MOST = 16_777_216
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class InvalidManifest(Exception):
    """The bytes are no manifest of this tenant and schema; the text says why."""


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as compact JSON. No two generations have the same bytes."""
    entries = manifest.segments
    fields = {
        "schema": SCHEMA,
        "tenant": manifest.tenant,
        "generation": manifest.generation,
        "updated_at": format_moment(manifest.updated_at),
        "tokenizer": manifest.tokenizer,
        "model": manifest.model,
        "totals": {"documents": manifest.documents, "length": sum(entry.length for entry in entries)},
        "segments": {
            "name": [entry.name for entry in entries],
            **{column: [getattr(entry, column) for entry in entries] for column in _WHOLE},
            "dead": [encode_dead(entry.dead) for entry in entries],
            "listed_at": [_milliseconds(entry.listed_at) for entry in entries],
            "in_engine": [int(entry.in_engine) for entry in entries],
        },
        "retired": _retired_fields(manifest.retired),
        "rebuilt": manifest.rebuilt,
        "engine": None if manifest.engine is None else _engine_fields(manifest.engine),
        "engine_left": _retired_fields(manifest.engine_left),
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
            segments=_entries(fields["segments"]),
            retired=_retired(fields["retired"]),
            rebuilt=_text_or_none(fields["rebuilt"]),
            engine=_engine(fields.get("engine")),
            engine_left=_retired(fields["engine_left"]) if "engine_left" in fields else (),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidManifest("not a manifest") from error


_WHOLE = ("rows", "documents", "length", "size", "vectors")
_Value = TypeVar("_Value")


def _entries(fields: Mapping[str, Any]) -> tuple[SegmentEntry, ...]:
    names = _column(fields, "name", _text)
    columns = [_column(fields, name, _whole) for name in _WHOLE]
    if len(set(names)) != len(names) or sum(columns[_WHOLE.index("rows")]) > ROWS_MOST:
        raise ValueError("names or rows")
    dead, listed = fields["dead"], _column(fields, "listed_at", _moment_or_none)
    # A manifest from before the engine has no such column.
    marks = _column(fields, "in_engine", _whole) if "in_engine" in fields else [0] * len(names)
    return tuple(
        _entry(name, dict(zip(_WHOLE, numbers, strict=True)), encoded, listed_at, in_engine=bool(mark))
        for name, numbers, encoded, listed_at, mark in zip(
            names, zip(*columns, strict=True), dead, listed, marks, strict=True
        )
    )


def _entry(
    name: str, numbers: Mapping[str, int], encoded: object, listed_at: datetime | None, *, in_engine: bool
) -> SegmentEntry:
    dead = decode_dead(encoded, numbers["rows"])
    return SegmentEntry(name=name, **numbers, dead=dead, listed_at=listed_at, in_engine=in_engine)


def _retired_fields(items: Sequence[Retired]) -> dict[str, object]:
    return {"name": [item.name for item in items], "at": [_milliseconds(item.at) for item in items]}


def _retired(fields: Mapping[str, Any]) -> tuple[Retired, ...]:
    names, times = _column(fields, "name", _text), _column(fields, "at", _moment_or_none)
    return tuple(Retired(name, at) for name, at in zip(names, times, strict=True))


def _engine_fields(use: EngineUse) -> dict[str, object]:
    return {"index": use.index, "begun": use.begun, "text": int(use.text)}


def _engine(fields: Any) -> EngineUse | None:
    if fields is None:
        return None
    return EngineUse(_text(fields["index"]), _text(fields["begun"]), bool(_whole(fields["text"])))


def _column(fields: Mapping[str, Any], name: str, read: Callable[[object], _Value]) -> Sequence[_Value]:
    values = fields[name]
    if not isinstance(values, list):
        raise ValueError(name)
    return [read(value) for value in values]


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


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round((moment - _EPOCH) / _MILLISECOND)


def _moment_or_none(value: object) -> datetime | None:
    try:
        return None if value is None else _EPOCH + _whole(value) * _MILLISECOND
    except OverflowError as error:
        raise ValueError("time") from error
