"""Of two rows of one id, in a rebuilt index and in what was added meanwhile, one goes on counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lodestore.domain.manifest import SegmentEntry
from lodestore.domain.memory import Record
from lodestore.domain.revision import next_revision
from lodestore.services.doubled_rows import doubled_rows
from lodestore.services.index_view import ListedSegment, live_rows
from lodestore.services.rows import row_of, segment_of
from tests.unit.retrieval.random_records import MEMORY, START

OLD, NEW = MEMORY, replace(MEMORY, revision=next_revision(START, MEMORY.revision, bytes(10)))


def listed(name: str, *rows: tuple[Record, str], dead: Sequence[int] = ()) -> ListedSegment:
    segment = segment_of([row_of(record, etag, model=None) for record, etag in rows], model=None)
    entry = SegmentEntry(
        name=name, rows=len(rows), documents=len(rows), length=len(rows), size=1, vectors=0, dead=tuple(dead)
    )
    return ListedSegment(entry, segment, live_rows(entry))


@pytest.mark.parametrize(
    ("rebuilt", "kept", "loser"),
    [
        ((OLD, "a"), (NEW, "b"), "rebuilt"),
        ((NEW, "b"), (OLD, "a"), "kept"),
        ((NEW, "b"), (NEW, "b"), "kept"),
        ((NEW, "b"), (NEW, "c"), "rebuilt"),
    ],
)
def test_the_higher_revision_stays_then_the_rebuilt_row_unless_another_object_was_read_later(
    rebuilt: tuple[Record, str], kept: tuple[Record, str], loser: str
) -> None:
    other = replace(MEMORY, id="another")
    dead = doubled_rows([listed("rebuilt", rebuilt, (other, "o"))], [listed("kept", kept)])
    assert list(dead) == [loser]
    assert (dead[loser].documents, dead[loser].length, len(dead[loser].rows)) == (1, 1, 1)


def test_a_row_that_is_dead_already_takes_nobodys_place() -> None:
    assert not doubled_rows([listed("rebuilt", (OLD, "a"))], [listed("kept", (NEW, "b"), dead=[0])])


def test_where_one_side_has_nothing_no_row_is_doubled() -> None:
    one = [listed("one", (OLD, "a"))]
    assert not doubled_rows(one, [])
    assert not doubled_rows([], one)
