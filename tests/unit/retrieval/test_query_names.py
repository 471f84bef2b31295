"""Whom a query names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.retrieval.hashing import hash64
from lodestore.retrieval.query_names import LONGEST_NAME, MOST_WORDS, named


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("What did Caroline say?", "Caroline"),
        ("what did caroline say", "Caroline"),
        ("What is Caroline's job?", "Caroline"),
        ("Who is James’ friend?", "James"),
        ("ask Ada de Vries about it", "Ada de Vries"),
        ("logs of ci-bot", "ci-bot"),
        ("王小明 说了什么", "王小明"),
    ],
)
def test_a_source_is_met_where_the_query_says_it(query: str, source: str) -> None:
    assert hash64(source) in named(query).tolist()


def test_another_name_is_not_met() -> None:
    assert hash64("Melanie") not in named("What did Caroline say?").tolist()


@given(st.text(max_size=2_000))
def test_any_text_gives_few_hashes_in_order(query: str) -> None:
    found = named(query).tolist()
    assert found == sorted(set(found))
    assert len(found) <= 3 * LONGEST_NAME * MOST_WORDS
