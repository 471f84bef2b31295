"""Ways to type the same word become one; what tells words apart stays."""

from __future__ import annotations

import unicodedata

import pytest

from lodestore.retrieval.folding import MAX_MARKS_IN_A_ROW, fold, normalize

PILE = "a" + "\u0301" * 4_000 + "\u0316" * 4_000


@pytest.mark.parametrize(
    ("typed", "folded"),
    [
        ("Jörg MÜLLER", "jorg muller"), ("Straße", "strasse"), ("ﬁle", "file"), ("Łódź", "lodz"), ("Ørsted", "orsted"),
        ("İstanbul", "istanbul"), ("ısı", "isi"), ("Ærø", "aero"), ("đường", "duong"), ("ΆΛΦΑ", "αλφα"),
        ("Σίσυφος", "σισυφοσ"), ("ёлка", "елка"), ("Йод", "йод"), ("ўсё", "ўсе"), ("їжак", "іжак"),
        ("مَدْرَسَة", "مدرسة"), ("أحمد", "احمد"), ("ســلام", "سلام"), ("کتاب", "كتاب"), ("שָׁלוֹם", "שלום"),
        ("हिंदी", "हिंदी"), ("हिँदी", "हिंदी"), ("ज़रूरत", "जरूरत"), ("१२३", "123"), ("٣٤", "34"), ("น้ำ", "น้ํา"),
        ("ﾊﾟﾝ", "パン"), ("が", "が"), ("ガ", "ガ"), ("한국", "한국"), ("Ｆｕｌｌ", "full"), ("x²", "x2"),
    ],
)  # fmt: skip
def test_a_word_has_one_form(typed: str, folded: str) -> None:
    assert fold(normalize(typed)) == folded
    assert fold(normalize(unicodedata.normalize("NFD", typed))) == folded


@pytest.mark.parametrize(
    ("one", "other"), [("के", "की"), ("мой", "мои"), ("か", "が"), ("กา", "ก่า"), ("কি", "কী")]
)
def test_marks_that_carry_a_letter_tell_words_apart(one: str, other: str) -> None:
    assert fold(normalize(one)) != fold(normalize(other))


def test_marks_piled_on_one_letter_are_parted_before_they_are_sorted() -> None:
    parted = normalize(PILE)
    longest = max(len(run) for run in parted.replace("a", "\u034f").replace("á", "\u034f").split("\u034f"))
    assert longest <= MAX_MARKS_IN_A_ROW
    assert fold(parted) == "a"


def test_as_many_marks_as_any_language_needs_are_left_alone() -> None:
    text = "o\u0302\u0301\u0323" * 50
    assert normalize(text) == unicodedata.normalize("NFKC", text)
