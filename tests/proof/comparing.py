"""One answer of the service against what the model expects of it.

Owns: the comparison of each tool's answer. Guarantees: every field that the model knows is compared; of a recall, what
is required of it: hits are what the model allows, and everything that has all words of the query is among them.
Gives up: the order of hits, beyond descending scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.proof.model import Json

STATED = "id content type category tags importance pinned scope created_at expires_at version".split()
REMEMBERED = (*STATED, "supersedes", "redacted", "status", "changed_since")
IN_A_HIT = (*STATED, "source", "metadata", "updated_at", "valid_from", "superseded_by", "changed_since")
IN_A_ROW = (*IN_A_HIT, "status")
IN_FULL = (*IN_A_ROW, "supersedes", "tenant", "conversation")


def plain(value: object) -> object:
    """As the service shows it: times as text, sets in order."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
    return sorted(value) if isinstance(value, set) else value


def assert_same(
    answer: Mapping[str, object], expected: Mapping[str, object], names: Iterable[str] | None = None
) -> None:
    """Every expected field (of these names) is in the answer with its value, and none is there beside them."""
    wrong = []
    for name in expected if names is None else names:
        shown = answer.get(name, "nothing")
        wanted = plain(expected[name]) if name in expected else "nothing"
        if name == "superseded_by" and isinstance(shown, list):
            shown = sorted(shown)
        if shown != wanted:
            wrong.append(f"{name}: answered {shown!r}, expected {wanted!r}")
    assert not wrong, "; ".join(wrong) + f" in {answer}"


def assert_rows(rows: list[Json], expected: list[Json]) -> None:
    """The same memories in the same order, each as expected."""
    assert [row["id"] for row in rows] == [row["id"] for row in expected]
    for row, wanted in zip(rows, expected, strict=True):
        assert_same(row, wanted, IN_A_ROW)


def assert_recalled(answer: Json, allowed: Mapping[str, Json], words: list[str], *, complete: bool) -> None:
    """Hits are allowed and match; with `complete`, all that have every word are there."""
    hits: list[dict[str, Any]] = answer["hits"]
    shown = [hit["id"] for hit in hits]
    similar = [other for hit in hits for other in hit["similar"]]
    assert answer["count"] == len(hits) == len(set(shown))
    assert not set(shown) & set(similar)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    for memory_id in (*shown, *similar):
        assert memory_id in allowed, f"{memory_id} may not be shown: {answer}"
        text = _searched(allowed[memory_id])
        assert any(word in text for word in words), f"{text!r} has none of {words}"
    for hit in hits:
        assert_same(hit, allowed[hit["id"]], IN_A_HIT)
    if complete:
        matching = {i for i, row in allowed.items() if all(word in _searched(row) for word in words)}
        missing = matching - {*shown, *similar}
        assert not missing, f"{sorted(missing)} have all of {words} and are not among the hits"


def _searched(row: Mapping[str, Any]) -> str:
    """The text by which a memory is found: of what it says now, whatever it said at the time that is asked for."""
    row = row.get("now", row)
    return " ".join([row["content"], row["source"] or "", row["category"] or "", *row["tags"]]).lower()
