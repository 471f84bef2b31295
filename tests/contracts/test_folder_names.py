"""File names of keys: reversible, and different on every file system."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lodestore.adapters.folder_store_names import name_of, segment_of
from lodestore.adapters.object_keys import MAX_SEGMENT, SEGMENT, is_segment

segments = st.from_regex(SEGMENT, fullmatch=True).filter(is_segment)
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file
DEVICES = "CON PRN AUX NUL".split() + [f"{device}{digit}" for device in ("COM", "LPT") for digit in range(10)]


@given(segments)
@example("CON")
@example("con.json")
@example("A.")
@example("..a")
@example("A" * MAX_SEGMENT)
@example("aB" * (MAX_SEGMENT // 2))
def test_a_name_leads_back_to_its_segment(segment: str) -> None:
    assert segment_of(name_of(segment)) == segment


@given(segments, segments)
def test_two_segments_never_share_a_name_in_any_case_or_unicode_form(one: str, other: str) -> None:
    def seen_by_the_strictest(segment: str) -> str:
        return unicodedata.normalize("NFKD", name_of(segment)).casefold()

    assert (seen_by_the_strictest(one) == seen_by_the_strictest(other)) == (one == other)


@given(segments)
@example("Z" * MAX_SEGMENT)
@example("a" * (MAX_SEGMENT - 1) + ".")
def test_a_name_is_legal_everywhere(segment: str) -> None:
    name = name_of(segment)
    assert len(name.encode()) <= 255
    assert re.fullmatch(r"[a-z0-9._~^-]+", name)
    assert not name.startswith(".")
    assert not name.endswith(".")
    assert name.partition(".")[0].upper() not in DEVICES


@given(st.text(max_size=30) | st.from_regex(r"[A-Za-z0-9._~^-]{1,30}", fullmatch=True))
@example("con")
@example("acme^0")
@example("acme^g0")
@example("Acme")
@example("acme^")
@example(".")
@example("..")
@example("é")
@example("\N{KELVIN SIGN}")
def test_a_name_that_no_segment_has_leads_to_none(name: str) -> None:
    segment = segment_of(name)
    assert segment is None or name_of(segment) == name


@pytest.mark.parametrize(
    ("segment", "name"),
    [
        ("note-7.json", "note-7.json"),
        ("Acme", "acme^g"),
        ("CON.json", "con^s.json"),
        ("con.json", "con^.json"),
        (".x", "^.x"),
        ("acme.", "acme.^"),
        ("01JZ8Q4M~MyId", "01jz8q4m~myid^6l8"),
    ],
)
def test_names_stay_as_they_are_documented(segment: str, name: str) -> None:
    assert name_of(segment) == name


def test_a_marker_of_the_longest_id_in_capitals_fits() -> None:
    assert len(name_of("7" + "Z" * 25 + "~" + "Q" * 128)) <= 255
