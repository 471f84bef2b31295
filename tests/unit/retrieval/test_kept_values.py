"""The guard over what a model writes: no twin passes, in any of eight languages, and honest rewordings do."""

from __future__ import annotations

import pytest

from lodestore.retrieval.kept_values import invented, may_be_reworded, same_values, stands_for
from tests.unit.retrieval.twin_pairs import twins

REWORDED = [
    (
        "The team moved the release to Friday.",
        "The team has moved the release to Friday.",
        "The release was shifted to Friday by the team.",
    ),
    (
        "Meetings about the budget are held in the blue room.",
        "Meetings about the budget are held in the blue room.",
        "For the budget there are meetings, and the blue room is where they are.",
    ),
]
CHANGED = [
    "The team moved the release to Monday.",
    "The team moved the release.",
    "The team did not move the release to Friday.",
    "The team moved the release to Friday at 10.",
    "All of the team moved the release to Friday.",
    "The team of Nora moved the release to Friday.",
    "The team moved the release to Friday and deleted the backup.",
    "The team must move the release to Friday.",
    "Das Team hat das Release auf Friday verschoben.",
    "团队将发布移至星期五",
    "",
]


@pytest.mark.case("B75")
@pytest.mark.promise("P-REVERSIBLE-SLEEP")
def test_of_three_hundred_twins_in_eight_languages_no_model_can_join_one() -> None:
    pairs = twins()
    assert len(pairs) >= 300
    assert [pair for pair in pairs if may_be_reworded(pair.one, pair.other)] == []
    assert [pair for pair in pairs if stands_for(pair.one, pair.one, pair.other)] == []
    assert [pair for pair in pairs if stands_for(pair.other, pair.one, pair.other)] == []


@pytest.mark.parametrize(("text", "one", "other"), REWORDED)
def test_a_text_in_the_words_of_both_with_every_value_stands_for_both(
    text: str, one: str, other: str
) -> None:
    assert stands_for(text, one, other)
    assert stands_for(text, other, one)
    assert stands_for(one, one, other)


@pytest.mark.parametrize("text", CHANGED)
def test_a_text_that_drops_changes_or_adds_something_stands_for_neither(text: str) -> None:
    _, one, other = REWORDED[0]
    assert not stands_for(text, one, other)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("The parts were built and tested.", False),
        ("Nora built part 7 of the release.", False),
        ("Nora built part 8 of the release.", True),
        ("Tom built part 7 of the release.", True),
        ("Nora never built part 7 of the release.", True),
        ('Nora built "part 7" of the release.', True),
        ("The work is done at https://example.com now.", True),
        ("在发布中构建了第7部分", True),
        ("", True),
    ],
)
def test_a_summary_may_leave_out_but_not_add(text: str, held: bool) -> None:
    assert invented(text, ["Nora built part 7 of the release.", "And it was tested by the team."]) is held


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The server has twenty users in the office", "The server has thirty users in the office"),
        ("The road is five miles from the office", "The road is five kilometres from the office"),
        ("The price is five dollars a month", "The price is five euros a month"),
        ("The fourth build is the one to use", "The fifth build is the one to use"),
        ("It is a > b in the test", "It is a < b in the test"),
        ("The job is run at noon in the office", "The job is run at midnight in the office"),
        ("The meeting is weekly in the office", "The meeting is daily in the office"),
        ("The team has hardly any time", "The team has any time"),
        ("Der Server hat zwanzig Nutzer in der Stadt", "Der Server hat dreißig Nutzer in der Stadt"),
        ("Le serveur a vingt places dans la salle", "Le serveur a trente places dans la salle"),
    ],
)
def test_a_number_or_a_time_in_words_and_the_unit_after_it_are_values(one: str, other: str) -> None:
    assert not same_values((one, other))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Bob fixed the server in the office.", "Alice fixed the server in the office."),
        (
            "The server was down for twenty minutes in the night",
            "The server was down for a while in the night",
        ),
        ("Nora paid 7 and Ivo paid 5 for the tea", "Nora paid 5 and Ivo paid 7 for the tea"),
        ("The deploy was done", "The deploy was not done"),
    ],
)
def test_a_summary_invents_no_value_swaps_none_and_drops_no_negation(text: str, source: str) -> None:
    assert invented(text, [source])
