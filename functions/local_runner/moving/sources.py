"""Where an import comes from: which format it is, and its entries.

Owns: the names of formats and how one is told from a file. Guarantees: what can't be told is refused and never guessed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from local_runner.moving.basic_memory import note_entries
from local_runner.moving.claude_code import INDEX, INSTRUCTIONS, memory_entries
from local_runner.moving.frontmatter import Document, split_frontmatter
from local_runner.moving.json_lines import parse_json
from local_runner.moving.markdown_files import TooManyFiles, markdown_paths, read_markdown
from local_runner.moving.mcp_memory import graph_entries
from local_runner.moving.mem0 import LISTS, mem0_entries
from local_runner.moving.own_lines import own_entries
from lodestore.services.import_runs import Entry, Flaw

STANDARD_INPUT = "-"
_LOOKED_AT = 65_536
_NOTES_LOOKED_AT = 20


class Format(StrEnum):
    """What a file or folder is."""

    LODESTORE = "lodestore"
    MCP_MEMORY = "mcp-memory"
    MEM0 = "mem0"
    BASIC_MEMORY = "basic-memory"
    CLAUDE_CODE = "claude-code"


_OF_FOLDERS = (Format.BASIC_MEMORY, Format.CLAUDE_CODE)


class NoSource(Exception):
    """There is nothing to import there, or it can't be told what it is; the text says which, in one line."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder, and what it is. `path` None: standard input."""

    path: Path | None
    format: Format


def find_source(place: str, named: Format | None) -> Source:
    """The source at `place`; `named`: what it is, None to tell it. Raises NoSource, OSError."""
    if place == STANDARD_INPUT:
        if named in _OF_FOLDERS:
            raise NoSource(f"FROM: {named} is read from a file or folder, not from standard input")
        return Source(None, named or Format.LODESTORE)
    path = Path(place)
    if not path.exists():
        raise NoSource(f"FROM: there is no file or folder {place!r}")
    if path.is_dir() and named is not None and named not in _OF_FOLDERS:
        raise NoSource(f"FROM: {named} is a file, and {place!r} a folder")
    found = named or _told(path)
    if found is None:
        raise NoSource(
            f"FROM: what {place!r} is can't be told; say FORMAT={'|'.join(Format)}"
            " (basic-memory reads any folder of Markdown notes)"
        )
    return Source(path, found)


def entries_of(source: Source, tenant: str, note: Callable[[str], None]) -> Iterator[Entry]:
    """The source's entries; `note` is told what is passed over. Raises NoSource, OSError."""
    try:
        if source.path is not None and source.format in _OF_FOLDERS:
            is_notes = source.format is Format.BASIC_MEMORY
            yield from note_entries(source.path) if is_notes else memory_entries(source.path, note)
            return
    except TooManyFiles as why:
        raise NoSource(f"FROM: {why}") from None
    with sys.stdin.buffer if source.path is None else source.path.open("rb") as stream:
        if source.format is Format.MCP_MEMORY:
            yield from graph_entries(stream)
        elif source.format is Format.MEM0:
            yield from mem0_entries(stream)
        else:
            yield from own_entries(stream, tenant)


def _told(path: Path) -> Format | None:
    if path.is_dir() or path.suffix == ".md":
        return _told_from_markdown(path)
    with path.open("rb") as stream:
        head = stream.read(_LOOKED_AT)
    if not head.strip():
        return Format.LODESTORE
    first = parse_json(head.lstrip(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0])
    if isinstance(first, dict):
        if "schema" in first:
            return Format.LODESTORE
        if first.get("type") in ("entity", "relation"):
            return Format.MCP_MEMORY
    start = head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1]
    is_mem0 = start == b"[" or any(f'"{name}"'.encode() in head for name in LISTS)
    if start in (b"[", b"{") and is_mem0:
        return Format.MEM0
    # A line of ours is longer than what is looked at where it brings many vectors.
    return Format.LODESTORE if head.startswith(b'{"schema":') else None


def _told_from_markdown(path: Path) -> Format | None:
    try:
        places = markdown_paths(path)
    except TooManyFiles as why:
        raise NoSource(f"FROM: {why}") from None
    if any(PurePosixPath(place).name in (INDEX, *INSTRUCTIONS) for place in places):
        return Format.CLAUDE_CODE
    for place in places[:_NOTES_LOOKED_AT]:
        text = read_markdown(path, place).text
        document = text if isinstance(text, Flaw) else split_frontmatter(text)
        if isinstance(document, Document) and {"title", "permalink"} <= set(document.fields):
            return Format.BASIC_MEMORY
    return None
