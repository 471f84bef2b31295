"""How a query is put tells what kind of memory it asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.memory import MemoryType
from lodestore.retrieval.query_intent import intended
from lodestore.retrieval.segment import TYPES


def _types(query: str) -> set[str]:
    return {str(kind) for kind, strength in zip(TYPES, intended(query), strict=True) if strength}


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("How do I deploy to staging?", {MemoryType.INSTRUCTION}),
        ("which command clears the cache", {MemoryType.INSTRUCTION}),
        ("How many nurses work in Kassel?", set()),
        ("Does Marek want HTML or JSON?", {MemoryType.PREFERENCE}),
        ("Who owns the gateway?", {MemoryType.FACT}),
        ("¿Quién traduce la app?", {MemoryType.FACT}),
        ("What broke last Tuesday?", {MemoryType.EVENT, MemoryType.OBSERVATION}),
        ("postgres version", set()),
        ("", set()),
    ],
)
def test_a_query_asks_for_types_by_its_phrases(query: str, types: set[str]) -> None:
    assert _types(query) == types


@given(st.text())
def test_any_text_gives_a_strength_from_0_to_1_for_each_type(query: str) -> None:
    strengths = intended(query)
    assert strengths.shape == (len(TYPES),)
    assert ((strengths >= 0) & (strengths <= 1)).all()
