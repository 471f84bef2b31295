"""Which statements say different things of the same, and which only look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.retrieval.contradictions import contradict, topic_of
from lodestore.retrieval.sameness import Sameness, judge, read


@pytest.mark.case("B73", "B75")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 8090", "The port is 8091"),
        ("My favourite colour is purple", "my favourite colour is cyan."),
        ("The office is in Oslo.", "The office is in Bergen."),
        ("The meeting is on Monday", "The meeting is on Tuesday"),
        ("The lead of the team is Nora", "The lead of the team is Ben"),
        ("Nora's phone is 4471", "Nora's phone is 4417"),
        ("Deploying on Friday is allowed", "Deploying on Friday is not allowed"),
        ("I like Thai food", "I no longer like Thai food"),
        ("We use tabs in the repo", "We do not use tabs in the repo"),
        ("Das Budget beträgt 5.000 Euro", "Das Budget beträgt 50.000 Euro"),
        ("Le code est 4471", "Le code est 4417"),
        ("El puerto es 8090", "El puerto es 8091"),
        ("Офис находится в Осло", "Офис не находится в Осло"),
    ],
)
def test_another_value_of_the_same_contradicts_and_is_never_the_same(one: str, other: str) -> None:
    assert contradict(topic_of(one), topic_of(other))
    assert contradict(topic_of(other), topic_of(one))
    assert judge(read(one), read(other)) is Sameness.DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 8090", "the port is 8090."),
        ("Room 12 is red", "Room 13 is red"),
        ("Nora is a doctor", "Nora is a mother"),
        ("The build is slow", "The build is red"),
        ("The user likes sushi", "The user likes pizza"),
        ("The meeting is at 9:15", "The meeting is at the office"),
        ("The deploy of v2 is on Monday", "The deploy of v3 is on Tuesday"),
        ("The budget is 5 euros", "The budget is 4 weeks late"),
        ("The office is in Oslo", "The office was in Bergen"),
        ("Anna reports to Ben", "Ben reports to Anna"),
        ("It is not not so", "It is so"),
        ("办公室在奥斯陆", "办公室在卑尔根"),
        ("", "The port is 8090"),
    ],
)
def test_what_may_both_be_true_does_not_contradict(one: str, other: str) -> None:
    assert not contradict(topic_of(one), topic_of(other))


@given(one=st.text(max_size=60), other=st.text(max_size=60))
def test_any_text_is_judged_and_none_contradicts_itself(one: str, other: str) -> None:
    assert contradict(topic_of(one), topic_of(other)) == contradict(topic_of(other), topic_of(one))
    assert not contradict(topic_of(one), topic_of(one))
