"""Where an import comes from: which format it is, and its entries.

Owns: the names of formats and how one is told from a file. Guarantees: what can't be told is refused and never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from local_runner.moving.own_lines import own_entries
from lodestore.services.import_runs import Entry


class Format(StrEnum):
    """What a file or folder is."""

    LODESTORE = "lodestore"


class NoSource(Exception):
    """There is nothing to import there, or it can't be told what it is; the text says which, in one line."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder, and what it is."""

    path: Path
    format: Format


def find_source(place: str, named: str) -> Source:
    """The source at `place`; `named`: its format, "" to tell it. Raises NoSource."""
    path = Path(place)
    if not path.exists():
        raise NoSource(f"FROM: there is no file or folder {place!r}")
    return Source(path, Format(named) if named else Format.LODESTORE)


def entries_of(source: Source, tenant: str) -> Iterator[Entry]:
    """The source's entries. Raises OSError."""
    with source.path.open("rb") as stream:
        yield from _read(stream, tenant)


def _read(stream: BinaryIO, tenant: str) -> Iterator[Entry]:
    yield from own_entries(stream, tenant)
