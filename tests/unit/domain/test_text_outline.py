"""A long memory's abstract and outline are its own words, in order, by rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.text import first_sentence, outline
from lodestore.domain.text_shortening import ELLIPSIS


@pytest.mark.parametrize(
    ("text", "abstract"),
    [
        ("The port is 8090. It was 8080 before.", "The port is 8090."),
        ("Is it open? Yes.", "Is it open?"),
        ("Stop! Now.", "Stop!"),
        ("公司年会定在十二月六日。地点待定。", "公司年会定在十二月六日。"),
        ("本当？はい。", "本当？"),
        ("यह पहला वाक्य है। यह दूसरा है।", "यह पहला वाक्य है।"),
        ("یہ پہلا جملہ ہے۔ یہ دوسرا ہے۔", "یہ پہلا جملہ ہے۔"),
        ("هل هذا صحيح؟ نعم.", "هل هذا صحيح؟"),
        ("ይህ ነው። ሌላ ነው።", "ይህ ነው።"),
        ("Dr. Smith met J. Doe, e.g. on Monday. Then he left.", "Dr. Smith met J. Doe, e.g. on Monday."),
        ("Version 3.14 is out at 9.30 a.m. today. Next.", "Version 3.14 is out at 9.30 a.m. today."),
        ('He said "go." Then left.', 'He said "go."'),
        ("# Deployment\nUse make.", "Deployment"),
        ("\n\n---\n- first item\n- second", "first item"),
        ("> quoted line\nmore", "quoted line"),
        ("no stop at all\nsecond line", "no stop at all"),
        ("", ""),
        ("…", "…"),
    ],
)
def test_the_abstract_is_the_first_sentence_or_line(text: str, abstract: str) -> None:
    assert first_sentence(text, 200) == abstract


def test_a_long_first_sentence_is_cut_to_the_budget() -> None:
    assert first_sentence("word " * 100, 20) == "word word word word" + ELLIPSIS


_NOTE = """\
Release plan
============

We ship on Friday. Nora signs off.
This line belongs to the paragraph above.

## Steps ##

- Build the wheel. Takes a minute.
  with a wrapped line
- Tag it
1. Publish. Then wait.

```python
raise SystemExit  # never shown
```

Afterwards we rest. For a week.
"""


def test_the_outline_has_headings_items_and_first_sentences() -> None:
    assert outline(_NOTE, 1000).split("\n") == [
        "Release plan",
        "We ship on Friday.",
        "## Steps ##",
        "- Build the wheel.",
        "- Tag it",
        "1. Publish.",
        f"```python {ELLIPSIS}",
        "Afterwards we rest.",
    ]


def test_an_outline_that_does_not_fit_says_so_in_its_last_line() -> None:
    shown = outline(_NOTE, 60)
    assert shown.split("\n") == ["Release plan", "We ship on Friday.", "## Steps ##", ELLIPSIS]


def test_an_outline_of_one_long_line_is_its_beginning() -> None:
    assert outline("word " * 100, 20) == "word word word wo" + ELLIPSIS


def test_an_outline_that_just_fits_is_whole() -> None:
    assert outline("One.\n\nTwo.", 9) == "One.\nTwo."


def test_a_fence_is_closed_by_its_own_kind_only() -> None:
    text = "~~~\n```\nhidden\n```\n~~~\nshown after. X"
    assert outline(text, 200).split("\n") == [f"~~~ {ELLIPSIS}", "shown after."]


_lines = st.sampled_from(
    ["# Head", "- item. more", "text. more", "", "```", "~~~~", "====", "---", "> q", "年。会", "…"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_lines | st.text(max_size=12), max_size=14).map("\n".join), st.integers(0, 120))
def test_an_outline_keeps_its_budget(text: str, budget: int) -> None:
    assert len(outline(text, budget).encode()) <= budget


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.integers(1, 60))
def test_an_abstract_keeps_its_budget_and_is_one_line_of_the_text(text: str, budget: int) -> None:
    shown = first_sentence(text, budget)
    assert len(shown) <= budget
    assert "\n" not in shown
    assert shown.removesuffix(ELLIPSIS) in text
