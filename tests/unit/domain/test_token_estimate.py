"""The estimate of tokens, held to a real vocabulary.

`token_texts/` holds our own texts in many scripts, and `counts.json` how many tokens of o200k each is, by npm
gpt-tokenizer 4.0.0: `python -m tests.unit.domain.count_token_texts`. XQuAD's paragraphs and questions, code and JSON
judge where they and npm are there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.locomo import MissingData
from benchmarks.token_pieces import CHARACTERS_LEAST, KINDS, filter_of_the_vocabulary, judging_texts, ratios
from lodestore.domain import token_pieces
from lodestore.domain.token_estimate import estimate_tokens
from tests.clients.environments import NotInstallable
from tests.unit.domain.count_token_texts import COUNTS, counts, texts

LEAST, MOST = 0.90, 1.35
TEXTS_LEAST = 20
NO_NPM = "the tokenizer of the estimate's check could not be installed from npm"


@pytest.fixture(scope="module")
def judging() -> dict[str, list[str]]:
    try:
        return judging_texts()
    except MissingData:
        pytest.skip("the XQuAD paragraphs are not beside this checkout")


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_of_two_hundred_characters_is_estimated_10_percent_under_or_35_over(
    judging: dict[str, list[str]], kind: str
) -> None:
    if kind != "zh questions":  # few lists of questions in Chinese are so long
        assert len(judging[kind]) >= TEXTS_LEAST
    try:
        found = ratios(judging[kind])
    except NotInstallable:
        pytest.skip(NO_NPM)
    assert found[0] >= LEAST, found[:5]
    assert found[-1] <= MOST, found[-5:]


@pytest.mark.parametrize("name", sorted(texts()))
def test_a_text_of_ours_in_each_script_is_estimated_within_the_bounds(name: str) -> None:
    text, counted = texts()[name], json.loads(COUNTS.read_text(encoding="utf-8"))[name]
    assert len(text) >= CHARACTERS_LEAST
    assert LEAST * counted <= estimate_tokens(text) <= MOST * counted


def test_the_counts_that_are_kept_are_those_of_the_vocabulary() -> None:
    try:
        counted = counts()
    except NotInstallable:
        pytest.skip(NO_NPM)
    assert json.loads(COUNTS.read_text(encoding="utf-8")) == counted


def test_the_filter_that_is_kept_is_made_of_the_vocabulary() -> None:
    try:
        made = filter_of_the_vocabulary()
    except NotInstallable:
        pytest.skip(NO_NPM)
    assert token_pieces.read() == made


def test_a_filter_that_is_not_whole_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = tmp_path / "token_pieces.bin"
    cut.write_bytes(token_pieces.FILE.read_bytes()[:-1])
    monkeypatch.setattr(token_pieces, "FILE", cut)
    with pytest.raises(ValueError, match="524,288 bytes, not 524,287"):
        token_pieces.read.__wrapped__()


@pytest.mark.parametrize("text", ["a", "है", "的", "б", "😀", "\n", "ไทย", "ⵣ", "م", "\x00", "\ud800"])
def test_whatever_there_is_costs_at_least_one_token(text: str) -> None:
    assert estimate_tokens(text) >= 1


@pytest.mark.parametrize(
    "one",
    [
        "ab",
        "Ab",
        "AB",
        "б",
        "стр",
        "की",
        "是",
        "7",
        "-",
        "{}",
        "é",
        "あ",
        "한",
        "م",
        "😀",
        "\u2014",
        "\u0301",
    ],
)
def test_a_long_run_of_anything_costs_in_step_with_its_length(one: str) -> None:
    assert estimate_tokens(one * 400) >= 40


def test_nothing_is_no_token_and_more_is_never_less() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("Nora leads") <= estimate_tokens("Nora leads the migration")
