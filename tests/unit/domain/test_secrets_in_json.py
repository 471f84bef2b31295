"""Structured data is searched in its values, in its keys and by the names of its keys."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.secrets_in_json import MAX_DEPTH, Redaction, redact_json
from tests.unit.domain.ordinary_texts import ORDINARY
from tests.unit.domain.secret_samples import SAMPLES

_KEY = "AKIA" + "0000EXAMPLE00000"
_PASSWORD = "hunter2" + "!X9"
_MARKED = "[redacted:aws_access_key_id]"

_texts = st.sampled_from(
    [sample.text for sample in SAMPLES] + list(ORDINARY) + ["", "x", _PASSWORD, "let" + "mein"]
)
_keys = st.sampled_from(["password", "note", "apiKey", "db.secret", _KEY, "token_limit", "pin", _PASSWORD])
_leaves = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | _texts
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.case("B27")
def test_secrets_in_metadata_and_tags_go_wherever_they_stand() -> None:
    value = {"note": f"use key {_KEY}", "keys": [_KEY, "plain"], _KEY: 1, "deep": {"deeper": [{"at": _KEY}]}}
    shown, redactions = redact_json(value)
    assert shown == {
        "note": f"use key {_MARKED}",
        "keys": [_MARKED, "plain"],
        _MARKED: 1,
        "deep": {"deeper": [{"at": _MARKED}]},
    }
    places = ["note", "keys[0]", _MARKED, "deep.deeper[0].at"]
    assert redactions == tuple(Redaction(place, "aws_access_key_id") for place in places)


def test_a_key_that_names_a_secret_makes_its_value_one() -> None:
    shown, redactions = redact_json(
        {"password": _PASSWORD, "db": {"passwd": "let" + "mein"}, "passwords": ["x1"], "pwd": 44_881_207}
    )
    assert shown == {
        "password": "[redacted:password]",
        "db": {"passwd": "[redacted:password]"},
        "passwords": ["x1"],
        "pwd": "[redacted:password]",
    }
    assert [redaction.path for redaction in redactions] == ["password", "db.passwd", "pwd"]


@pytest.mark.parametrize(
    "value",
    [
        {"password": {"type": "string", "minLength": 12}},
        {"password": "${DB_PASSWORD}", "token": None, "secret": False, "max_tokens": 4_096_000},
        {"password": "ask Nora", "token_limit": "4096abcd", "api_key_id": "1234abcd", "key": "user_id"},
        {"passwordPolicy": "min12chars", "tags": ["password", "token"], "nextPageToken": "abc123def456"},
        ["plain", 1, 2.5, None, True, []],
        "a sentence about the password policy",
    ],
)
def test_structured_data_that_only_talks_of_secrets_stays(value: object) -> None:
    assert redact_json(value) == (value, ())


def test_two_keys_that_become_one_keep_both_values() -> None:
    other = "AKIA" + "1111EXAMPLE11111"
    shown, _ = redact_json({_KEY: 1, other: 2, f"{_MARKED} 2": 3})
    assert isinstance(shown, dict)
    assert sorted(shown.values()) == [1, 2, 3]
    assert not [key for key in shown if "EXAMPLE" in key]


@pytest.mark.promise("P-BOUNDED")
def test_nesting_beyond_the_limit_is_refused_by_name() -> None:
    value: object = "x"
    for _ in range(MAX_DEPTH + 1):
        value = [value]
    with pytest.raises(ValueError, match=f"deeper than {MAX_DEPTH} levels"):
        redact_json(value)


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="keys are text, not int"):
        redact_json({1: "x"})


@settings(max_examples=200, deadline=None)
@given(_json)
def test_a_second_walk_changes_nothing_and_the_answer_is_json(value: object) -> None:
    shown, _ = redact_json(value)
    assert redact_json(shown) == (shown, ())
    assert json.loads(json.dumps(shown)) == shown


@settings(max_examples=100, deadline=None)
@given(_json)
def test_no_sample_survives_in_structured_data(value: object) -> None:
    shown, _ = redact_json({"note": value, "extra": [sample.text for sample in SAMPLES]})
    stored = json.dumps(shown, ensure_ascii=False)
    assert _KEY not in stored
    # Some are a secret only by the name beside them, and stand in an ordinary text, too, which stays.
    told = [sample for sample in SAMPLES if not any(sample.secret in text for text in ORDINARY)]
    assert not [sample.kind for sample in told if len(sample.secret) >= 20 and sample.secret in stored]
