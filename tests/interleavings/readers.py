"""What a reader was told, held against what it may have been told.

Owns: the judgement of answers of recall, list_memories and get_memory. Guarantees: an answer is right only where every
id's part of it is one of the allowed appearances. Gives up: order and scores of hits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from tests.interleavings.steps import StepAnswer
from tests.interleavings.truths import Appearance

Allowed = Collection[Appearance | None]


def flaws_of_answer(answer: StepAnswer, allowed: Mapping[str, Allowed]) -> list[str]:
    """What is wrong with a reader's answer, given the allowed appearances of each id."""
    told = answer.json
    if answer.raised:
        return [f"{answer.step.tool} raised {answer.raised}"]
    if answer.step.tool == "get_memory":
        return _flaws_of_get(answer, allowed)
    if answer.failed:
        return [f"a read failed: {told['error']}"]
    rows = told["hits"] if answer.step.tool == "recall" else told["memories"]
    shown = {row["id"]: row for row in rows}
    flaws = [f"{memory_id} is no memory of this scenario" for memory_id in shown.keys() - allowed.keys()]
    if answer.step.tool == "recall":
        freshness = told["freshness"]
        flaws += [f"the answer says {name}" for name in ("degraded", "tail_truncated") if freshness[name]]
    words = _words(str(answer.step.argument("query") or ""))
    for memory_id, appearances in allowed.items():
        flaws += _flaws_of_row(memory_id, shown.get(memory_id), appearances, words)
    return flaws


def _flaws_of_row(
    memory_id: str, row: Mapping[str, Any] | None, allowed: Allowed, words: set[str]
) -> list[str]:
    visible = [one for one in allowed if one is not None and not one.superseded]
    if row is None:
        must = len(visible) == len(allowed) and all(words <= _words(one.content) for one in visible)
        return (
            [f"{memory_id} is not shown, though it is there: {sorted(map(_short, allowed))}"] if must else []
        )
    seen = (row["content"], row["version"], tuple(row["tags"]))
    if seen in {(one.content, one.version, one.tags) for one in visible}:
        return []
    return [f"{memory_id} is shown as {seen}; allowed: {sorted(map(_short, allowed))}"]


def _flaws_of_get(answer: StepAnswer, allowed: Mapping[str, Allowed]) -> list[str]:
    memory_id = str(answer.step.argument("id"))
    told, appearances = answer.json, allowed[memory_id]
    if answer.failed:
        fine = told["error"] == "not_found" and None in appearances
        return [] if fine else [f"get_memory says {told['error']} of {memory_id}"]
    memory = told["memory"]
    seen = (memory["content"], memory["version"], tuple(memory["tags"]))
    fine = seen in {(one.content, one.version, one.tags) for one in appearances if one is not None}
    return (
        []
        if fine
        else [f"get_memory shows {memory_id} as {seen}; allowed: {sorted(map(_short, appearances))}"]
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _short(one: Appearance | None) -> str:
    return "nothing" if one is None else f"{one.content!r} v{one.version}{' superseded' * one.superseded}"
