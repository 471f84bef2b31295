"""Memory files of Claude Code as statements.

Owns: CLAUDE.md and CLAUDE.local.md wherever they lie, `.claude/rules`, and folders with a MEMORY.md: its topic files,
each with frontmatter (name, description, type: user, feedback, project or reference). Guarantees: a topic file is one
statement, of the other files each item and each stretch of prose, with the headings above it; what the index says only
to point at a topic file is not said twice. Other Markdown of a folder is passed over, and counted.
Gives up: `@path` imports. They are not followed, and said.

Source: code.claude.com/docs, "How Claude remembers your project".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from local_runner.moving.frontmatter import Document, split_frontmatter
from local_runner.moving.markdown_blocks import Block, blocks
from local_runner.moving.markdown_files import CLAUDE, markdown_paths, read_markdown
from local_runner.moving.provenance import stated
from lodestore.services.import_runs import Entry, Flaw

NAME = "claude-code"
INSTRUCTIONS = frozenset({"CLAUDE.md", "CLAUDE.local.md"})
INDEX = "MEMORY.md"
_TYPES = {"user": "preference", "feedback": "instruction", "project": "fact", "reference": "fact"}
_POINTER = re.compile(r"\[[^\]]*\]\(([^)\s]+\.md)\)[^\n]*")
_IMPORTS = re.compile(r"@\S+(\s+@\S+)*\s*")
_FENCE = "```"

Note = Callable[[str], None]


def memory_entries(source: Path, note: Note) -> Iterator[Entry]:
    """The statements of a memory file, or of a folder. `note` is told what is passed over.

    Raises TooManyFiles, OSError.
    """
    every = markdown_paths(source)
    known = frozenset(every)
    indexed = [PurePosixPath(place).parent for place in every if PurePosixPath(place).name == INDEX]
    passed = 0
    for place in every:
        path = PurePosixPath(place)
        instructs = path.name in INSTRUCTIONS or _is_rule(path)
        if not source.is_dir() or instructs or any(path.is_relative_to(folder) for folder in indexed):
            yield from _file(source, place, known, note, kind="instruction" if instructs else None)
        else:
            passed += 1
    if passed:
        note(f"{passed:,} other Markdown files are passed over")


def _is_rule(path: PurePosixPath) -> bool:
    return (CLAUDE, "rules") in zip(path.parts, path.parts[1:], strict=False)


def _file(
    source: Path, place: str, known: frozenset[str], note: Note, *, kind: str | None
) -> Iterator[Entry]:
    file = read_markdown(source, place)
    document = file.text if isinstance(file.text, Flaw) else split_frontmatter(file.text)
    if isinstance(document, Flaw):
        yield Entry(file.place, document)
        return
    if kind is None and (document.text("name") or document.text("description")):
        yield Entry(file.place, _topic(document, file.place))
        return
    for block in blocks(document.body):
        where = f"{file.place}:{document.line + block.line}"
        text = _without_imports(block.text)
        if text != block.text:
            note(f"{where}: what is imported with @ is not followed")
        if text and not _points(block, place, known):
            said = ": ".join(filter(None, [" > ".join(block.path), text]))
            yield Entry(where, stated(said, origin=NAME, source=file.place, type=kind))


def _without_imports(text: str) -> str:
    """The text without paragraphs that only import; in code, `@` means something else."""
    if _FENCE in text:
        return text
    return "\n\n".join(part for part in text.split("\n\n") if not _IMPORTS.fullmatch(part))


def _points(block: Block, place: str, known: frozenset[str]) -> bool:
    """Whether it is a line of an index whose topic file is imported itself."""
    path = PurePosixPath(place)
    pointer = _POINTER.fullmatch(block.text) if block.item and path.name == INDEX else None
    return pointer is not None and (path.parent / pointer[1]).as_posix() in known


def _topic(document: Document, place: str) -> Mapping[str, object] | Flaw:
    nested = document.fields.get("metadata")
    kind = document.text("type") or (nested.get("type") if isinstance(nested, dict) else None)
    kind = kind if isinstance(kind, str) else None
    description, body = document.text("description") or "", document.body.strip()
    content = body if description in body else f"{description}\n\n{body}".strip()
    if not content:
        return Flaw("the file says nothing")
    return stated(
        content,
        origin=NAME,
        metadata={"name": document.text("name"), "memory_type": kind},
        source=place,
        type=_TYPES.get(kind or ""),
        category=kind,
    )
