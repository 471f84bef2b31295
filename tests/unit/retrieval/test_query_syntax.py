"""The syntax of a query: what is taken for it, and what stays plain text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.memory import MemoryType
from lodestore.retrieval.query_syntax import MOST_PARTS, Said, take_apart

DAY = datetime(2026, 3, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("deploy -staging", Said(text="deploy", excluded=("staging",))),
        ("deploy tag:ops", Said(text="deploy", tags=("ops",), filters=("tag:ops",))),
        ('deploy TAG:"two words"', Said(text="deploy", tags=("two words",), filters=('TAG:"two words"',))),
        (
            "type:Decision rollout",
            Said(text="rollout", types=(MemoryType.DECISION,), filters=("type:Decision",)),
        ),
        ("rollout after:2026-03-09", Said(text="rollout", since=DAY, filters=("after:2026-03-09",))),
        (
            "before:2026-03-09T00:00:00Z rollout",
            Said(text="rollout", until=DAY, filters=("before:2026-03-09T00:00:00Z",)),
        ),
        ('the "blue cart" port', Said(text='the "blue cart" port', phrases=("blue cart",))),
        ("tag:ops", Said(text="ops", tags=("ops",), filters=("tag:ops",))),
    ],
)
def test_what_people_try_is_understood(query: str, asked: Said) -> None:
    assert take_apart(query) == asked


@pytest.mark.parametrize(
    "query",
    [
        "-staging",
        "git log -p --force",
        "tar -xvf notes --force",
        "well-known follow-up",
        "minus -5 degrees",
        "type:banana split",
        "before:yesterday",
        "http://example.com/tag:x",
        "meta:tag:x",
        'a lone " quote',
        '"" empty',
        "tag: spaced",
        "AND OR NOT (x*) ^~",
    ],
)
def test_anything_else_is_plain_text(query: str) -> None:
    assert take_apart(query) == Said(text=query)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(
                ['"', "-", "tag:", "type:fact", "after:2026-01-01", "before:", "-word", "“", "”"]
            ),
        )
    ).map(" ".join)
)
def test_no_text_raises_and_words_stay_wherever_there_are_any(query: str) -> None:
    asked = take_apart(query)
    if any(character.isalnum() for character in query):
        assert any(character.isalnum() for character in asked.text)


def test_no_more_parts_are_read_than_the_limit() -> None:
    query = "x " + " ".join(f"tag:t{number} " for number in range(MOST_PARTS + 5))
    asked = take_apart(query)
    assert len(asked.tags) == MOST_PARTS
    assert f"tag:t{MOST_PARTS}" in asked.text
