"""Count deltas and snapshots as JSON.

Owns: the objects under `counts/`. Guarantees: what is malformed raises InvalidCounts, and is never half read.
Gives up: repair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lodestore.domain.counters import Delta, Note, Snapshot, Tallies, Tally
from lodestore.domain.use_levels import Levels, UseLevels

SCHEMA = 1
# The last millisecond of the year 9999.
_LAST_MOMENT = 253_402_300_799_999
# More than any memory is ever recalled; sums of them stay whole in a float.
COUNT_MOST = 2**40


class InvalidCounts(Exception):
    """The bytes are no counts of this schema."""


def encode_delta(delta: Delta) -> bytes:
    """One flush as compact JSON."""
    fields = {
        "schema": SCHEMA,
        "instance": delta.instance,
        "sequence": delta.sequence,
        "counts": _tally_fields(delta.tallies),
        "notes": _note_fields(delta.notes),
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def decode_delta(body: bytes, instance: str, sequence: int) -> Delta:
    """The delta at the key of this instance and sequence. Raises InvalidCounts."""
    try:
        fields = _object(body)
        if fields["instance"] != instance or fields["sequence"] != sequence:
            raise ValueError("disagrees with its key")
        return Delta(instance, sequence, _tallies(fields["counts"]), _notes(fields))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidCounts("delta") from error


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Folded counts as compact JSON."""
    fields: dict[str, object] = {
        "schema": SCHEMA,
        "counts": _tally_fields(snapshot.tallies),
        "folded": dict(snapshot.folded),
    }
    if snapshot.notes:
        fields["notes"] = _note_fields(snapshot.notes)
    if snapshot.levels:
        fields["levels"] = {m: _level_fields(levels) for m, levels in sorted(snapshot.levels.items())}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def decode_snapshot(body: bytes) -> Snapshot:
    """The folded counts. Raises InvalidCounts."""
    try:
        fields = _object(body)
        folded = {_text(instance): _whole(last) for instance, last in fields["folded"].items()}
        return Snapshot(_tallies(fields["counts"]), folded, _notes(fields), _levels(fields.get("levels", {})))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidCounts("snapshot") from error


def _object(body: bytes) -> dict[str, Any]:
    fields = json.loads(body)
    if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
        raise ValueError("schema")
    return fields


def _note_fields(notes: tuple[Note, ...]) -> list[dict[str, object]]:
    return [{"id": note.memory_id, "useful": note.useful, "note": note.text} for note in notes]


def _notes(fields: Mapping[str, Any]) -> tuple[Note, ...]:
    return tuple(Note(_text(n["id"]), bool(n["useful"]), _text(n["note"])) for n in fields.get("notes", []))


def _tally_fields(tallies: Tallies) -> dict[str, list[int]]:
    return {memory_id: [t.recalls, t.useful, t.not_useful] for memory_id, t in sorted(tallies.items())}


def _tallies(fields: Mapping[str, object]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for memory_id, counts in fields.items():
        if not isinstance(counts, list) or len(counts) != len(Tally.__slots__):
            raise ValueError("counts")
        tallies[_text(memory_id)] = Tally(*(_whole(count) for count in counts))
    return tallies


def _level_fields(levels: UseLevels) -> list[int]:
    return [levels.recalls, levels.useful, levels.not_useful, levels.last_used]


def _levels(fields: Mapping[str, object]) -> Levels:
    found: dict[str, UseLevels] = {}
    for memory_id, moments in fields.items():
        if not isinstance(moments, list) or len(moments) != len(UseLevels.__slots__):
            raise ValueError("levels")
        recalls, useful, not_useful, last_used = (_moment(moment) for moment in moments)
        found[memory_id] = UseLevels(
            recalls=recalls, useful=useful, not_useful=not_useful, last_used=last_used
        )
    return found


def _moment(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LAST_MOMENT:
        raise ValueError("moment")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= COUNT_MOST:
        raise ValueError("count")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    # A lone surrogate can be written in JSON, and no snapshot could be written that holds it.
    value.encode()
    return value
