"""What holds of the terms of any text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lodestore.retrieval import scripts
from lodestore.retrieval.folding import normalize
from lodestore.retrieval.segmentation import pieces
from lodestore.retrieval.tokenizer import index_terms, query_terms
from lodestore.retrieval.words import MAX_TERM_LENGTH

# Characters with rules of their own come often; any other may come, lone surrogates included.
SPECIAL = "aZé9_-./\\:@#+&=?%~$,'’ \n\u0301\u200d\u200c\ufe0f\U0001f468\U0001f3fd\U0001f1e9е й中カ한ไมमके်្"
TEXT = st.text(st.sampled_from(SPECIAL) | st.characters(codec=None), max_size=200)
UNTIMED = settings(deadline=None)
NAMED = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@UNTIMED
@given(TEXT)
@example("\ud83d")
@example("\ufdfa" * 50)
@example("1,000,000,0000")
@example("C++++##")
@example("ŉŉ")
def test_no_text_raises_and_no_term_is_empty_or_longer_than_its_bound(text: str) -> None:
    terms = index_terms(text)
    asked = [form for term in query_terms(text) for form in term.forms]
    assert all(0 < len(term) <= 3 * MAX_TERM_LENGTH for term in terms + asked)


@UNTIMED
@given(NAMED)
@example("\u0344\u0308e\u0301")
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert index_terms(composed) == index_terms(decomposed)
    assert query_terms(composed) == query_terms(decomposed)


@UNTIMED
@given(st.lists(TEXT, max_size=8))
@example(["running", "zapatos", "Häuser", "и", "не"])
def test_any_word_of_a_text_finds_it(words: list[str]) -> None:
    indexed = set(index_terms(" ".join(words)))
    for word in words:
        for term in query_terms(word):
            assert indexed & set(term.forms), term


@UNTIMED
@given(TEXT, TEXT)
def test_every_term_of_a_query_can_be_found(text: str, other: str) -> None:
    indexed = set(index_terms(f"{text}\n{other}"))
    assert all(indexed & set(term.forms) for term in query_terms(f"{text}\n{other}"))


@UNTIMED
@given(TEXT)
def test_terms_are_the_same_each_time(text: str) -> None:
    assert index_terms(text) == index_terms(text)
    assert query_terms(text) == query_terms(text)


@UNTIMED
@given(TEXT)
def test_every_letter_and_number_lies_in_a_piece(text: str) -> None:
    normal = normalize(text)
    covered = "".join(piece.text for piece in pieces(normal))
    wanted = (
        c for c in normal if unicodedata.category(c)[0] in "LN" and scripts.roles(c) != scripts.APOSTROPHE
    )
    assert not [c for c in wanted if c not in covered]


HOSTILE = {
    "marks": "a" + "\u0301" * 8_000 + "\u0316" * 7_900,
    "one word": "a" * 32_000,
    "expanding": "\ufdfa" * 10_666,
    "path": "a/b." * 8_000,
    "signs": "C++" * 10_666,
    "apostrophes": "a'" * 16_000,
    "dots": ".a" * 16_000,
    "thousands": "1,111" + ",111" * 7_990 + "x",
    "humps": "aB" * 16_000,
    "joined emoji": "\U0001f468\u200d" * 4_500,
    "connectors": "_-" * 16_000,
    "Thai marks": "ก" + "\u0e48" * 10_000,
    "Han": "中" * 10_666,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_of_full_size_ends_in_as_many_terms_as_it_has_characters(name: str) -> None:
    text = normalize(HOSTILE[name])
    assert len(index_terms(HOSTILE[name])) <= 2 * len(text)
    assert len(query_terms(HOSTILE[name][:2_000])) <= 2 * len(text)
