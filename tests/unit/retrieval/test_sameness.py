"""What says the same and what does not, without a model."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.retrieval.sameness import Sameness, judge, read
from lodestore.retrieval.verbatim import exact_form
from tests.unit.retrieval.twin_pairs import duplicates, twins

SENTENCES = st.sampled_from([pair.one for pair in twins()])


def verdict(one: str, other: str) -> Sameness:
    return judge(read(one), read(other))


@pytest.mark.case("B75")
@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_of_three_hundred_twins_in_eight_languages_none_is_taken_for_the_same() -> None:
    pairs = twins()
    assert len(pairs) >= 300
    assert len({pair.language for pair in pairs}) == 8
    assert [pair for pair in pairs if pair.one == pair.other] == []
    assert [pair for pair in pairs if verdict(pair.one, pair.other) is Sameness.SAME] == []


def test_of_sixty_true_duplicates_more_than_half_are_merged_and_most_others_are_shown_to_a_person() -> None:
    found = Counter(verdict(pair.one, pair.other) for pair in duplicates())
    assert found.total() == 60
    assert found[Sameness.SAME] / found.total() >= 0.55
    assert (found[Sameness.SAME] + found[Sameness.WORDING]) / found.total() >= 0.8


@pytest.mark.case("B75")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("favourite colour is purple", "favourite colour is cyan"),
        ("port 8090", "port 8091"),
        ("it is allowed", "it is not allowed"),
        ("The area is 5 m².", "The area is 5 m2."),
        ("The half is ½ of it.", "The half is 1⁄2 of it."),
        ("Run cd .. in the folder", "Run cd in the folder"),
        ("Call save! on the record", "Call save on the record"),
        ("It is written in Go", "It is written in go"),
        ("The password is 'a  b'", "The password is 'a b'"),
        ("The code is `a\tb`", "The code is `a b`"),
        ("if a:\n  b\n  is c", "if a: b is c"),
        ("No, deploy it", "No deploy it"),
        ("US rules are for us", "us rules are for us"),
        ("The name is Müller", "The name is Muller"),
        ("Le prix est a 5", "Le prix est à 5"),
        ("یک کتاب است می‌روم", "یک کتاب است میروم"),
        ("The hook is\nif x:\n    a()\nb()", "The hook is\nif x:\n    a()\n    b()"),
        ("our compose file:\nservices:\n  web:\n  db:", "our compose file:\nservices:\n  web:\n    db:"),
        ("Call it with sh -c 'echo $HOME' on the host", 'Call it with sh -c "echo $HOME" on the host'),
        ("Run docker build . Then push the image", "Run docker build. Then push the image"),
        ("To see what is new use git log main..", "To see what is new use git log main"),
        ('The 5" pipe has the label "a  b" on it', 'The 5" pipe has the label "a b" on it'),
        ("The door phrase is ab  cd", "The door phrase is ab cd"),
        ("The range is [1, 2] in the docs", "The range is (1, 2] in the docs"),
        ("The path is /srv/a.", "The path is /srv/a"),
        ("The flag is –x in the shell", "The flag is -x in the shell"),
        ("", "x"),
    ],
)
def test_what_may_be_another_value_is_never_the_same(one: str, other: str) -> None:
    assert verdict(one, other) is not Sameness.SAME


def test_in_a_language_that_is_not_known_only_the_same_text_is_the_same() -> None:
    assert verdict("Nora leads QA", "nora leads QA.") is Sameness.DIFFERENT
    assert verdict("Nora leads QA ", "Nora leads QA") is Sameness.SAME
    assert verdict("Nora leads  QA", "Nora leads QA") is Sameness.DIFFERENT
    assert verdict("年会は十二月です。", "年会は十二月です") is Sameness.DIFFERENT
    assert verdict("年会は１２月です。", "年会は12月です。") is Sameness.SAME
    assert verdict("the office Офис Γραφείο", "The office Офис Γραφείο.") is Sameness.DIFFERENT


def test_a_text_of_nothing_but_a_drawn_out_letter_line_gets_a_verdict() -> None:
    assert verdict("\u0640", "\u0640") is Sameness.SAME


def test_no_chain_of_near_ones_joins_two_that_differ() -> None:
    chain = [
        "The office is in Oslo",
        "the office is in Oslo.",
        "Note: the office is in Oslo",
        "the office is in oslo",
    ]
    forms = [read(text).same_form for text in chain]
    assert len(set(forms)) == 2
    for one, other in permutations(chain, 2):
        assert (verdict(one, other) is Sameness.SAME) == (read(one).same_form == read(other).same_form)


@given(text=SENTENCES, at=st.integers(0, 200), sign=st.sampled_from("0123456789abXß年é-?\"'"))
def test_one_more_sign_inside_a_statement_makes_it_another(text: str, at: int, sign: str) -> None:
    inside = 1 + at % (len(text) - 2)
    other = text[:inside] + sign + text[inside:]
    assert verdict(text, other) is not Sameness.SAME or exact_form(text) == exact_form(other)


@given(one=st.text(max_size=80), other=st.text(max_size=80))
def test_any_text_gets_a_verdict_and_the_order_makes_no_difference(one: str, other: str) -> None:
    assert verdict(one, other) is verdict(other, one)
    assert verdict(one, one) is Sameness.SAME
