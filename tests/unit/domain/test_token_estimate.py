"""The estimate of tokens, held to a real vocabulary on texts that its weights were not made from.

XQuAD's even paragraphs made the weights (`benchmarks.fit_token_estimate`); its odd ones, other code and other JSON
judge them here.
"""

from __future__ import annotations

import pytest

from benchmarks.fit_token_estimate import PARAGRAPHS_CODE_JSON, held_out_texts, long_enough, tuning_texts
from benchmarks.locomo import MissingData
from lodestore.domain.token_estimate import estimate_tokens
from tests.clients.environments import NotInstallable
from tests.unit.domain.vocabulary import count_tokens

LEAST, MOST = 0.90, 1.35
TEXTS_LEAST = 20


@pytest.fixture(scope="module")
def held_out() -> dict[str, list[str]]:
    try:
        return held_out_texts()
    except MissingData:
        pytest.skip("the XQuAD paragraphs are not beside this checkout")


@pytest.mark.parametrize("kind", PARAGRAPHS_CODE_JSON)
def test_no_text_of_two_hundred_characters_is_estimated_10_percent_under_or_35_over(
    held_out: dict[str, list[str]], kind: str
) -> None:
    texts = long_enough(held_out[kind])
    assert len(texts) >= TEXTS_LEAST
    try:
        counts = count_tokens(texts)
    except NotInstallable:
        pytest.skip("the tokenizer of the estimate's check could not be installed from npm")
    ratios = sorted(estimate_tokens(text) / count for text, count in zip(texts, counts, strict=True))
    assert ratios[0] >= LEAST, ratios[:5]
    assert ratios[-1] <= MOST, ratios[-5:]


def test_no_text_that_judges_the_estimate_has_made_its_weights(held_out: dict[str, list[str]]) -> None:
    tuned = {text for texts in tuning_texts().values() for text in texts}
    assert not tuned & {text for texts in held_out.values() for text in texts}


@pytest.mark.parametrize("text", ["a", "है", "的", "б", "😀", "\n", "ไทย", "ⵣ", "م"])
def test_whatever_there_is_costs_at_least_one_token(text: str) -> None:
    assert estimate_tokens(text) >= 1


@pytest.mark.parametrize(
    "one", ["ab", "Ab", "AB", "б", "стр", "की", "是", "7", "-", "{}", "é", "あ", "한", "م", "😀", "\u2014"]
)
def test_a_long_run_of_anything_costs_in_step_with_its_length(one: str) -> None:
    assert estimate_tokens(one * 400) >= 40


def test_nothing_is_no_token_and_more_is_never_less() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("Nora leads") <= estimate_tokens("Nora leads the migration")
