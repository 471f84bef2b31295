"""Where a long text is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.domain.limits import CONTENT_BYTES
from lodestore.retrieval.spans import MOST_SPANS, Unit, byte_units, split

LEAST_WINDOW = 700
TEXTS = st.text(st.characters(codec="utf-8"), max_size=2_000)


def cut(text: str, window: int, most: int = MOST_SPANS) -> list[str]:
    return [text[start:end] for start, end in split(text, byte_units(text), window, most)]


def test_a_text_within_the_window_is_one_span() -> None:
    assert cut("One sentence. Another one.", 26) == ["One sentence. Another one."]


def test_the_empty_text_is_one_span() -> None:
    assert split("", byte_units(""), 10) == ((0, 0),)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("It rained all day. We stayed in.", ["It rained all day. ", "We stayed in."]),
        ("He asked: why not? Nobody knew.", ["He asked: why not? ", "Nobody knew."]),
        ('She said "it is late." They left.', ['She said "it is late." ', "They left."]),
        ("First line of two\nsecond line here", ["First line of two\n", "second line here"]),
        ("version 3.14 is out at last ok", ["version 3.14 is out at ", "last ok"]),
        ("会议在十二月。年会另议", ["会议在十二月。", "年会另议"]),
    ],
)
def test_a_cut_falls_at_a_sentences_end(text: str, spans: list[str]) -> None:
    assert cut(text, 25) == spans


def test_a_sentence_that_ends_early_in_the_window_does_not_end_the_span() -> None:
    assert cut("Yes. We will go to the market tomorrow", 24) == ["Yes. We will go to the ", "market tomorrow"]


def test_words_are_not_cut() -> None:
    words = "alpha beta gamma delta epsilon zeta eta theta".split()
    spans = cut(" ".join(words), 12)
    assert " ".join(spans).split() == words


def test_a_word_longer_than_the_window_is_cut_where_its_parts_meet() -> None:
    assert {len(span) for span in cut("x" * 320, 70)} == {64}


def test_units_of_a_tokenizer_are_kept_whole_even_beyond_the_window() -> None:
    units = [Unit(0, 3, 5), Unit(4, 9, 500), Unit(10, 12, 5)]
    assert split("one giant me", units, 50) == ((0, 4), (4, 10), (10, 12))


@pytest.mark.promise("P-BOUNDED")
def test_what_lies_behind_the_last_span_is_given_up() -> None:
    text = "word " * 100
    spans = split(text, byte_units(text), 10, most=4)
    assert spans == ((0, 10), (10, 20), (20, 30), (30, 40))


@pytest.mark.parametrize(
    "sentence",
    [
        "Yes. ",
        "The key rotates every Friday. ",
        "Да. ",
        "会。",
        "เขาอยู่ที่กรุงเทพมหานครเมืองฟ้าอมร ",
        "x" * 99,
        "नमस्ते दुनिया। ",
    ],
)
@pytest.mark.parametrize("window", [LEAST_WINDOW - 100, 2_000, 8_000])
def test_the_longest_content_is_never_given_up_in_part(sentence: str, window: int) -> None:
    text = (sentence * CONTENT_BYTES).encode()[:CONTENT_BYTES].decode(errors="ignore")
    spans = cut(text, window)
    assert "".join(spans) == text
    assert len(spans) <= MOST_SPANS
    assert max(len(span.encode()) for span in spans) <= window


@given(TEXTS, st.integers(130, 400), st.integers(1, 8))
def test_spans_follow_each_other_within_the_window(text: str, window: int, most: int) -> None:
    spans = split(text, byte_units(text), window, most)
    assert 1 <= len(spans) <= most
    assert spans[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert all(len(text[start:end].encode()) <= window for start, end in spans)
    assert spans[-1][1] == len(text) or len(spans) == most


@given(TEXTS)
def test_units_hold_every_character_once(text: str) -> None:
    units = byte_units(text)
    assert "".join(text[unit.start : unit.end] for unit in units) == text
    assert sum(unit.size for unit in units) == len(text.encode())
