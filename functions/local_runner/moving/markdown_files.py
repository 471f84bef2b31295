"""Markdown files of a folder: which, and what they say.

Owns: the way through a folder that may be hostile. Guarantees: no link is followed, no special file is opened, none
leaves the folder; a file that is too large or no UTF-8 is a flaw with its path. By path, so the order is always one.
Gives up: hidden folders other than `.claude`.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from lodestore.domain.limits import IMPORT_FILES, IMPORT_MARKDOWN_BYTES
from lodestore.services.import_runs import Flaw

CLAUDE = ".claude"
_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class MarkdownFile:
    """A file by its path below the folder, and its text or why it has none."""

    place: str
    text: str | Flaw


class TooManyFiles(Exception):
    """The folder holds more than an import takes."""


def markdown_paths(source: Path) -> list[str]:
    """The paths of Markdown files below a folder, sorted; of a file, its name alone. Raises TooManyFiles, OSError."""
    if not source.is_dir():
        return [source.name]
    found: list[str] = []
    for folder, folders, files in os.walk(source, onerror=_raise, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith(".") or name == CLAUDE)
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        found += [
            (here / name).relative_to(source).as_posix()
            for name in (*links, *files)
            if name in links or name.endswith(_SUFFIX)
        ]
        if len(found) > IMPORT_FILES:
            raise TooManyFiles(f"more than {IMPORT_FILES:,} Markdown files; import its folders one by one")
    return sorted(found)


def read_markdown(source: Path, place: str) -> MarkdownFile:
    """The file at a path that `markdown_paths` gave."""
    # A link that was named itself is meant.
    path = source / place if source.is_dir() else source.resolve()
    shown = place.encode("utf-8", "backslashreplace").decode()
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return MarkdownFile(shown, Flaw("not a file; links are not followed"))
        # Whoever puts a link in its place meanwhile gets an error.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            body = stream.read(IMPORT_MARKDOWN_BYTES + 1)
    except OSError as error:
        return MarkdownFile(shown, Flaw(f"can't be read: {error.strerror}"))
    if len(body) > IMPORT_MARKDOWN_BYTES:
        return MarkdownFile(shown, Flaw(f"larger than {IMPORT_MARKDOWN_BYTES:,} bytes"))
    try:
        return MarkdownFile(shown, body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return MarkdownFile(shown, Flaw("not UTF-8"))


def _raise(error: OSError) -> None:
    raise error
