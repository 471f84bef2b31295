"""What is true of each id over time, and what a reader may be told.

Owns: `Standing` (what one record says of its id, and of those that it supersedes), the windows of standings that are
still allowed, the rules that every single commit has to keep. Guarantees: nothing here is the code under test; records
are read as plain JSON.
Gives up: several ids at one moment. Each is judged for itself, as the design promises it, and that one supersedes
another is known from when the one that says so is known.

A window of an id is the sequence of its standings from the last commit that a caller was told of up to now. A reader
that starts now may be told any of these, or of those that are committed until it answers; nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lodestore.format import keys
from tests.interleavings.steps import TENANT
from tests.stores.memory_store import Contents

RECENT = 16
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Appearance:
    """A memory as a caller sees it; None in its place: there is none to see."""

    content: str
    version: int
    tags: tuple[str, ...]
    superseded: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands at an id's key: what it shows by itself, and whom it supersedes, stub or not."""

    revision: str
    shows: Appearance | None
    supersedes: tuple[str, ...] = ()


# Of one id, oldest first.
Window = tuple[Standing, ...]


def records_of(state: Contents) -> dict[str, Record]:
    """Every record of the tenant, by id."""
    found: dict[str, Record] = {}
    for key, version in state.current().items():
        name = keys.parse_memory(key)
        if name is not None and name.tenant == TENANT:
            found[name.id] = json.loads(version.body or b"")
    return found


def is_stub(record: Record) -> bool:
    """Whether the record is that of a forgotten memory."""
    return bool(record["status"] == "forgotten")


def standing(records: Mapping[str, Record], memory_id: str) -> Standing:
    """What stands at the id's key."""
    record = records.get(memory_id)
    if record is None:
        return Standing("", None)
    shows = None
    if not is_stub(record):
        noted = bool(record["superseded_by"])
        shows = Appearance(record["content"], record["version"], tuple(record["tags"]), noted)
    return Standing(record["revision"], shows, tuple(record["supersedes"]))


def windows_of(records: Mapping[str, Record], ids: Iterable[str]) -> tuple[Window, ...]:
    """Windows of one standing each: all that is stored was answered."""
    return tuple((standing(records, memory_id),) for memory_id in ids)


def told(windows: tuple[Window, ...], revisions: Iterable[str]) -> tuple[Window, ...]:
    """The windows once a caller was told of these commits: what stood before them is allowed no more."""
    labels = set(revisions)
    narrowed = []
    for window in windows:
        known = [at for at, one in enumerate(window) if one.revision in labels]
        narrowed.append(window[max(known, default=0) :])
    return tuple(narrowed)


def allowed(ids: Iterable[str], standings: Iterable[Iterable[Standing]]) -> dict[str, set[Appearance | None]]:
    """What a reader may be told of each id, where these standings of each are allowed."""
    by_id = dict(zip(ids, map(tuple, standings), strict=True))
    return {memory_id: set(_shown(memory_id, by_id)) for memory_id in by_id}


def _shown(memory_id: str, by_id: Mapping[str, tuple[Standing, ...]]) -> Iterable[Appearance | None]:
    may = any(memory_id in one.supersedes for standings in by_id.values() for one in standings)
    must = any(all(memory_id in one.supersedes for one in standings) for standings in by_id.values())
    for one in by_id[memory_id]:
        if one.shows is None or may:
            yield one.shows and replace(one.shows, superseded=True)
        if not must:
            yield one.shows


def flaws_of_commit(before: Mapping[str, Record], after: Mapping[str, Record], memory_id: str) -> list[str]:
    """What a commit does that none may: the rules of revisions, versions and forgetting."""
    old, new = before.get(memory_id), after[memory_id]
    flaws = []
    line = (list(old["recent"]) if old is not None else []) + [new["revision"]]
    if new["recent"] != line[-RECENT:]:
        flaws.append("lost update: a commit does not continue the record that it replaced")
    if old is not None and new["revision"] <= old["revision"]:
        flaws.append("a revision is not above the one before")
    if not is_stub(new) and new["version"] not in _versions(old, new):
        flaws.append(f"version {new['version']} follows {old and old.get('version')}")
    if old is not None and is_stub(old) and not is_stub(new):
        key = new.get("idempotency")
        if key is not None and key == old.get("idempotency"):
            flaws.append("a retry brought a forgotten memory back")
    return flaws


def _versions(old: Record | None, new: Record) -> set[int]:
    if old is None or is_stub(old):
        return {1}
    # A note of being superseded changes nothing of what the memory says.
    noted = old["superseded_by"] != new["superseded_by"]
    return {old["version"] + 1} | ({old["version"]} if noted else set())
