"""A memory as Markdown, for people.

Owns: what an export for reading looks like. Guarantees: a content stands in a fence that is longer than any within it,
so it can't pass for a heading or for another memory. Gives up: the way back; JSON Lines are for that.

Source: CommonMark 0.31, section 4.5 (fenced code blocks).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from lodestore.domain.memory import Memory, Record
from lodestore.domain.moments import format_moment
from lodestore.format.transfer_lines import TransferLine

_LEAST_FENCE = 3
_DAY = 10


def markdown_of(line: TransferLine) -> str:
    """The memory, or what is left of a forgotten one, as a section of its own."""
    parts = [f"## {line.record.id}\n\n", *_facts(line.record)]
    if isinstance(line.record, Memory):
        parts.append(_fenced(line.record.content))
        parts += [
            f"Version {older.version}, {_day(older.updated_at)}:\n\n{_fenced(older.content)}"
            for older in line.versions
        ]
    return "".join(parts)


def _facts(record: Record) -> list[str]:
    if not isinstance(record, Memory):
        return [f"Forgotten {_day(record.forgotten_at)} by {_inline(record.forgotten_by)}.\n\n"]
    said = {
        "type": str(record.type),
        "category": record.category,
        "tags": ", ".join(record.tags),
        "source": record.source,
        "importance": f"{record.importance:g}",
        "pinned": "yes" if record.pinned else None,
        "created": _day(record.created_at),
        "updated": _day(record.updated_at) if record.version > 1 else None,
        "valid from": _day(record.valid_from),
        "expires": _day(record.expires_at),
        "only in conversation": record.conversation if record.scope == "conversation" else None,
        "supersedes": ", ".join(record.supersedes),
        "superseded by": ", ".join(record.superseded_by),
    }
    return [*_list(said), "\n"]


def _list(said: Mapping[str, str | None]) -> list[str]:
    return [f"- {name}: {_inline(value)}\n" for name, value in said.items() if value]


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else format_moment(moment)[:_DAY]


def _inline(text: str) -> str:
    """The text as code, in one line."""
    text = " ".join(text.split())
    ticks = "`" * (1 + _longest("`", text))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _fenced(content: str) -> str:
    fence = "~" * max(_LEAST_FENCE, 1 + _longest("~", content))
    return f"{fence}\n{content}\n{fence}\n\n"


def _longest(mark: str, text: str) -> int:
    return max((len(run) for run in re.findall(f"{mark}+", text)), default=0)
